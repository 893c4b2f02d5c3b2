"""End users: the people whom the owner of the account serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from .. import types
from .._options import CallOptions
from .._requests import Maybe, route
from .._values import OMITTED, members
from ._pages import AsyncPages
from ._resource import AsyncResource
from .agents import Env

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ONE = "/api/v1/end-users/{}"
_DEFAULTS = "/api/v1/end-user-defaults"
TokenScopes = Sequence[Literal["chat", "files", "console", "logs", "app"]]


class AsyncEndUsers(AsyncResource):
    """`berth.end_users`. `external_id` is the id by which the caller knows a person."""

    async def put(
        self,
        external_id: str,
        *,
        display_name: Maybe[str] = OMITTED,
        metadata: Maybe[Mapping[str, str | float | bool | None]] = OMITTED,
        tags: Maybe[Sequence[str]] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.EndUser:
        """Creates or changes an end user: `PUT /api/v1/end-users/{external_id}`.

        What is left out stays, None clears it.

        Args:
            external_id: 1 to 128 letters, digits and `_ @ . : + -`.
            display_name: Up to 256 characters.
            metadata: Replaces the whole: at most 50 members and 16 KiB.
            tags: Replaces all: at most 8.
        """
        json = members(display_name=display_name, metadata=metadata, tags=tags)
        user: types.EndUser = await self._send("PUT", route(_ONE, external_id), options, json=json)
        return user

    def list(
        self,
        *,
        status: Literal["active", "suspended"] | None = None,
        tag: str | None = None,
        external_id_prefix: str | None = None,
        last_active_before: str | datetime | None = None,
        last_active_after: str | datetime | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.EndUser]:
        """Lists end users, newest first: `GET /api/v1/end-users`.

        Args:
            status: Only those of this status.
            tag: Only those with this tag.
            external_id_prefix: Only those whose external id begins so.
            last_active_before: Only those last active before this moment, ISO 8601 or a datetime.
            last_active_after: Only those active after it.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        return self._list(
            "/api/v1/end-users",
            options,
            status=status,
            tag=tag,
            externalIdPrefix=external_id_prefix,
            lastActiveBefore=last_active_before,
            lastActiveAfter=last_active_after,
            cursor=cursor,
            limit=limit,
        )

    async def get(self, external_id: str, **options: Unpack[CallOptions]) -> types.EndUserDetail:
        """Returns an end user with agents and spend: `GET /api/v1/end-users/{external_id}`."""
        user: types.EndUserDetail = await self._get(route(_ONE, external_id), options)
        return user

    async def delete(self, external_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an end user with all agents: `DELETE /api/v1/end-users/{external_id}`."""
        await self._do("DELETE", route(_ONE, external_id), options)

    async def suspend(self, external_id: str, **options: Unpack[CallOptions]) -> types.EndUser:
        """Suspends an end user: `POST /api/v1/end-users/{external_id}/suspend`.

        The agents go to sleep, and nothing wakes them until `resume`.
        """
        path = route(f"{_ONE}/suspend", external_id)
        user: types.EndUser = await self._send("POST", path, options)
        return user

    async def resume(self, external_id: str, **options: Unpack[CallOptions]) -> types.EndUser:
        """Ends a suspension: `POST /api/v1/end-users/{external_id}/resume`."""
        path = route(f"{_ONE}/resume", external_id)
        user: types.EndUser = await self._send("POST", path, options)
        return user

    def agents(self, external_id: str, **options: Unpack[CallOptions]) -> AsyncPages[types.Agent]:
        """Lists the agents of an end user: `GET /api/v1/end-users/{external_id}/agents`."""
        return self._list(route(f"{_ONE}/agents", external_id), options)

    async def create_agent(
        self,
        end_user: str,
        /,
        *,
        template_id: str,
        name: Maybe[str] = OMITTED,
        external_id: Maybe[str] = OMITTED,
        external_user_id: Maybe[str] = OMITTED,
        instructions: Maybe[str] = OMITTED,
        idle_ttl_seconds: Maybe[int] = OMITTED,
        labels: Maybe[Mapping[str, str]] = OMITTED,
        env: Maybe[Env] = OMITTED,
        resources: Maybe[types.ResourcesBody] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Returns the end user's agent, which is created if there is none.

        `POST /api/v1/end-users/{external_id}/agents`. The end user is created too, if unknown.

        Args:
            end_user: The external id of the end user.
            template_id: From `templates.list()`.
            name: By default the external id of the end user.
            external_id: An id of yours for the agent, unique in the account.
            external_user_id: Ignored by the service: the agent is the end user's.
            instructions: As for `agents.create`; so are all below.
            idle_ttl_seconds: Seconds without activity until it sleeps.
            labels: Names and values to find it by.
            env: Variables.
            resources: Sizes.
        """
        json = members(
            template_id=template_id,
            name=name,
            external_id=external_id,
            external_user_id=external_user_id,
            instructions=instructions,
            idle_ttl_seconds=idle_ttl_seconds,
            labels=labels,
            env=env,
            resources=resources,
        )
        path = route(f"{_ONE}/agents", end_user)
        agent: types.Agent = await self._send("POST", path, options, json=json)
        return agent

    async def get_policy(self, external_id: str, **options: Unpack[CallOptions]) -> types.EndUserPolicy:
        """Returns the policy of an end user: `GET /api/v1/end-users/{external_id}/policy`.

        Returns:
            `{"externalId", "policy"}`; `policy` is None if there is none.
        """
        policy: types.EndUserPolicy = await self._get(route(f"{_ONE}/policy", external_id), options)
        return policy

    async def set_policy(
        self, external_id: str, policy: types.Policy, **options: Unpack[CallOptions]
    ) -> types.AppliedPolicy:
        """Replaces the policy of an end user: `PUT /api/v1/end-users/{external_id}/policy`.

        Args:
            external_id: The end user.
            policy: Any of `llm_spend_cap_cents_per_month`, `compute_minutes_cap`, `wakes_per_hour`,
                `idle_sleep_seconds`, `mem_mb`, `vcpus`, `disk_gb`.

        Returns:
            `{"externalId", "policy", "agentsUpdated"}`
        """
        applied: types.AppliedPolicy = await self._send(
            "PUT", route(f"{_ONE}/policy", external_id), options, json={"policy": policy}
        )
        return applied

    async def delete_policy(self, external_id: str, **options: Unpack[CallOptions]) -> None:
        """Removes the policy: `DELETE /api/v1/end-users/{external_id}/policy`."""
        await self._do("DELETE", route(f"{_ONE}/policy", external_id), options)

    async def create_token(
        self,
        external_id: str,
        *,
        scopes: Maybe[TokenScopes] = OMITTED,
        ttl_seconds: Maybe[int] = OMITTED,
        agent_id: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.MintedToken:
        """Creates a token that opens one agent: `POST /api/v1/end-users/{external_id}/tokens`.

        Args:
            external_id: The end user.
            scopes: By default `["chat"]`.
            ttl_seconds: 30 to 3,600, by default 900.
            agent_id: Needed when the end user has more than one agent.

        Returns:
            `{"token", "tokenId", "externalId", "agentId", "scopes", "ttlSeconds", "expiresAt"}`
        """
        json = members(scopes=scopes, ttl_seconds=ttl_seconds, agent_id=agent_id)
        token: types.MintedToken = await self._send(
            "POST", route(f"{_ONE}/tokens", external_id), options, json=json
        )
        return token

    async def revoke_tokens(self, external_id: str, **options: Unpack[CallOptions]) -> types.RevokedTokens:
        """Revokes all tokens of an end user: `DELETE /api/v1/end-users/{external_id}/tokens`.

        Returns:
            `{"revoked"}`, how many.
        """
        path = route(f"{_ONE}/tokens", external_id)
        revoked: types.RevokedTokens = await self._send("DELETE", path, options, done={"revoked": 0})
        return revoked

    async def get_defaults(self, **options: Unpack[CallOptions]) -> types.EndUserDefaults:
        """Returns the policy of end users without one: `GET /api/v1/end-user-defaults`."""
        defaults: types.EndUserDefaults = await self._get(_DEFAULTS, options)
        return defaults

    async def set_defaults(
        self, policy: types.Policy, **options: Unpack[CallOptions]
    ) -> types.EndUserDefaults:
        """Sets the policy of end users without one: `PUT /api/v1/end-user-defaults`."""
        defaults: types.EndUserDefaults = await self._send("PUT", _DEFAULTS, options, json={"policy": policy})
        return defaults

    async def delete_defaults(self, **options: Unpack[CallOptions]) -> None:
        """Removes the policy of end users without one: `DELETE /api/v1/end-user-defaults`."""
        await self._do("DELETE", _DEFAULTS, options)
