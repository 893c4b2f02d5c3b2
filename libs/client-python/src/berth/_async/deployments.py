"""Deployments: versions of agents that are built from repositories or taken from images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from .. import types
from .._call import Deadline
from .._options import CallOptions, Options
from .._requests import Maybe, route
from .._values import OMITTED, members
from ..errors import ServiceConnectionError
from ._io import sleep
from ._pages import AsyncPages
from ._resource import AsyncResource

if TYPE_CHECKING:
    from typing_extensions import Unpack

_BUILD_SECONDS = 1_800.0
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 5.0


class AsyncDeployments(AsyncResource):
    """`berth.deployments`"""

    async def create(
        self,
        *,
        agent_id: str,
        source: Literal["github", "git", "image"],
        repo_url: Maybe[str] = OMITTED,
        branch: Maybe[str] = OMITTED,
        ref: Maybe[str] = OMITTED,
        path: Maybe[str] = OMITTED,
        build: Maybe[str] = OMITTED,
        start: Maybe[str] = OMITTED,
        port: Maybe[int] = OMITTED,
        token_env: Maybe[str] = OMITTED,
        token_user: Maybe[str] = OMITTED,
        image: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.AcceptedDeployment:
        """Deploys a repository or an image to an agent: `POST /api/deploy`.

        Returns `{"deploymentId", "agent"}` at once; `wait` waits for the end.

        Args:
            agent_id: The agent.
            source: `github`, `git` (any host that the operator allows) or `image`.
            repo_url: Of a repository, an https URL without user and password.
            branch: By default the one that the HEAD of the repository names.
            ref: A branch, a tag or a full commit.
            path: A folder of the repository.
            build: The command that builds, instead of what the repository says.
            start: The command that starts the program, likewise.
            port: Where the program listens.
            token_env: The secret variable of the agent that is the password of the clone.
            token_user: The user for that password, by default what the host expects.
            image: The reference of a container image.
        """
        json = members(
            agent_id=agent_id,
            source=source,
            repo_url=repo_url,
            branch=branch,
            ref=ref,
            path=path,
            build=build,
            start=start,
            port=port,
            token_env=token_env,
            token_user=token_user,
            image=image,
        )
        accepted: types.AcceptedDeployment = await self._send("POST", "/api/deploy", options, json=json)
        return accepted

    def list(
        self,
        agent_id: str,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.Deployment]:
        """Lists the deployments of an agent, newest first: `GET /api/agents/{agent_id}/deployments`.

        Args:
            agent_id: The agent.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        path = route("/api/agents/{}/deployments", agent_id)
        return self._list(path, options, cursor=cursor, limit=limit)

    async def get(
        self, agent_id: str, deployment_id: str, **options: Unpack[CallOptions]
    ) -> types.Deployment:
        """Returns a deployment: `GET /api/agents/{agent_id}/deployments/{deployment_id}`."""
        path = route("/api/agents/{}/deployments/{}", agent_id, deployment_id)
        deployment: types.Deployment = await self._get(path, options)
        return deployment

    async def wait(
        self, agent_id: str, deployment_id: str, **options: Unpack[CallOptions]
    ) -> types.Deployment:
        """Waits until a deployment is `succeeded` or `failed`, and returns it.

        `request_timeout` bounds the wait, by default 30 minutes.

        Raises:
            ServiceConnectionError: `timeout`: it is neither by then.
        """
        path = route("/api/agents/{}/deployments/{}", agent_id, deployment_id)
        allowed = Options(options).timeout or _BUILD_SECONDS
        deadline = Deadline(allowed)
        pause = _FIRST_PAUSE
        while True:
            deployment = cast(types.Deployment, await self._send_until(deadline, "GET", path, options))
            if deployment["status"] in ("succeeded", "failed"):
                return deployment
            if pause >= deadline.remaining():
                raise ServiceConnectionError(
                    f"The deployment is still {deployment['status']} after {allowed:g} s.",
                    code="timeout",
                )
            await sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    async def redeploy(
        self, agent_id: str, deployment_id: str, **options: Unpack[CallOptions]
    ) -> types.AcceptedDeployment:
        """Deploys the same commit or image again.

        `POST /api/agents/{agent_id}/deployments/{deployment_id}/redeploy`. Returns
        `{"deploymentId", "agent"}`.
        """
        path = route("/api/agents/{}/deployments/{}/redeploy", agent_id, deployment_id)
        accepted: types.AcceptedDeployment = await self._send("POST", path, options)
        return accepted
