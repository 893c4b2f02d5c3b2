"""Agents: long-lived programs, each in a container of its own with a volume that stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from .. import types
from .._call import Answer, Deadline, Repeat
from .._chat import failure_of, reply_of, unanswered
from .._options import CallOptions, Options
from .._requests import Maybe, call, route
from .._results import ChatResult, ExecutionResult
from .._values import OMITTED, Omitted, members, seconds, text
from ..errors import ServiceConflictError, ServiceError, ServiceNotFoundError
from ._io import sleep
from ._pages import AsyncPages
from ._resource import AsyncResource
from ._streams import AsyncChatStream, AsyncLogStream

if TYPE_CHECKING:
    from typing_extensions import Unpack

CHAT_SECONDS = 620.0
MARGIN_OF_COMMANDS = 30.0
_LOOK_UP_SECONDS = 5.0
_LOOK_UP_PAUSE = 0.2

Env: TypeAlias = Mapping[str, str] | Sequence[types.EnvVarBody]
State: TypeAlias = Literal[
    "deploying", "starting", "running", "stopping", "stopped", "sleeping", "failed", "deleting"
]
Level: TypeAlias = Literal["debug", "info", "warn", "error"]
Source: TypeAlias = Literal["agent", "system", "build"]


class AsyncAgents(AsyncResource):
    """`berth.agents`"""

    def list(
        self,
        *,
        external_id: str | None = None,
        external_user_id: str | None = None,
        state: State | None = None,
        name: str | None = None,
        label: str | Sequence[str] | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.Agent]:
        """Lists agents, newest first: `GET /api/agents`.

        Args:
            external_id: Only the agent with this id of yours.
            external_user_id: Only agents of this end user.
            state: Only agents in this state.
            name: Only the agent of this name.
            label: Only agents with this label, `name=value` or `name`.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        return self._list(
            "/api/agents",
            options,
            externalId=external_id,
            externalUserId=external_user_id,
            state=state,
            name=name,
            label=label,
            cursor=cursor,
            limit=limit,
        )

    async def create(
        self,
        *,
        name: str,
        template_id: str,
        external_id: Maybe[str] = OMITTED,
        external_user_id: Maybe[str] = OMITTED,
        instructions: Maybe[str] = OMITTED,
        idle_ttl_seconds: Maybe[int] = OMITTED,
        labels: Maybe[Mapping[str, str]] = OMITTED,
        env: Maybe[Env] = OMITTED,
        resources: Maybe[types.ResourcesBody] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Creates an agent, which is `deploying` when this returns: `POST /api/agents`.

        Args:
            name: Unique in the account.
            template_id: From `templates.list()`.
            external_id: An id of yours, unique in the account.
            external_user_id: The end user who owns the agent, who is created if unknown.
            instructions: At most 65,536 bytes as UTF-8.
            idle_ttl_seconds: Seconds without activity until it sleeps: 0 (always on) or 15 to
                604,800; by default 900.
            labels: Names and values to find it by.
            env: Variables: an object, or a list of `{"key", "value", "isSecret"}`.
            resources: `{"memMb", "vcpus", "diskGb"}`.

        Raises:
            ServiceConflictError: `agent_name_taken` or `external_id_taken`.
            ServicePaymentRequiredError: The plan allows no further agent.
        """
        json = members(
            name=name,
            template_id=template_id,
            external_id=external_id,
            external_user_id=external_user_id,
            instructions=instructions,
            idle_ttl_seconds=idle_ttl_seconds,
            labels=labels,
            env=env,
            resources=resources,
        )
        agent: types.Agent = await self._send("POST", "/api/agents", options, json=json)
        return agent

    async def provision(
        self,
        *,
        external_id: str,
        name: str,
        template: str,
        external_user_id: Maybe[str] = OMITTED,
        instructions: Maybe[str] = OMITTED,
        idle_ttl_seconds: Maybe[int] = OMITTED,
        labels: Maybe[Mapping[str, str]] = OMITTED,
        env: Maybe[Env] = OMITTED,
        resources: Maybe[types.ResourcesBody] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Returns the agent with this external id, which is created if there is none.

        Later calls return it as it is, whatever else they ask for; concurrent ones get the same
        agent. It does not wait until the agent is `running`; `get(id, wait="running")` does.

        Args:
            external_id: An id of yours, by which the agent is found.
            name: Unique in the account.
            template: The id of a template, from `templates.list()`.
            external_user_id: As for `create`; so are all below.
            instructions: At most 65,536 bytes as UTF-8.
            idle_ttl_seconds: Seconds without activity until it sleeps.
            labels: Names and values to find it by.
            env: Variables.
            resources: Sizes.

        Raises:
            ServiceConflictError: Another agent has the name.
        """
        text(external_id, "external id")
        json = members(
            external_id=external_id,
            name=name,
            template_id=template,
            external_user_id=external_user_id,
            instructions=instructions,
            idle_ttl_seconds=idle_ttl_seconds,
            labels=labels,
            env=env,
            resources=resources,
        )
        deadline = Deadline(Options(options).timeout or self._transport.settings.timeout)
        creation = call("POST", "/api/agents", options, json=json)
        found = await self._find(external_id, options, deadline)
        if found is not None:
            return found
        try:
            created: types.Agent = await self._transport.send(creation, deadline)
            return created
        except ServiceConflictError as error:
            if error.code not in ("external_id_taken", "agent_name_taken"):
                raise
            winner = await self._winner(error, external_id, options, deadline)
            if winner is None:
                raise
            return winner

    async def _winner(
        self, conflict: ServiceConflictError, external_id: str, options: Any, deadline: Deadline
    ) -> types.Agent | None:
        """Looks for the agent that a concurrent call has created, which may not be listed yet."""
        taker = conflict.detail.get("agentId") if isinstance(conflict.detail, dict) else None
        patience = Deadline(min(_LOOK_UP_SECONDS, deadline.remaining()))
        while True:
            found = await self._find(external_id, options, deadline)
            if found is not None:
                return found
            if isinstance(taker, str) and taker:
                seen = await self._seen(taker, options, deadline)
                if seen is not None:
                    return seen if seen.get("externalId") == external_id else None
            if patience.remaining() <= _LOOK_UP_PAUSE:
                return None
            await sleep(_LOOK_UP_PAUSE)

    async def _find(self, external_id: str, options: Any, deadline: Deadline) -> types.Agent | None:
        query: dict[str, object] = {"externalId": external_id}
        while True:
            page = await self._send_until(
                deadline, "GET", "/api/agents", options, query=query, answer=Answer.LIST
            )
            for agent in page["items"]:
                if agent.get("externalId") == external_id:
                    found: types.Agent = agent
                    return found
            if page.get("nextCursor") is None:
                return None
            query["cursor"] = page["nextCursor"]

    async def _seen(self, agent_id: str, options: Any, deadline: Deadline) -> types.Agent | None:
        try:
            path = route("/api/agents/{}", agent_id)
            agent: types.Agent = await self._send_until(deadline, "GET", path, options)
            return agent
        except ServiceNotFoundError:
            return None

    async def update(
        self,
        agent_id: str,
        *,
        name: Maybe[str] = OMITTED,
        external_id: Maybe[str] = OMITTED,
        instructions: Maybe[str] = OMITTED,
        idle_ttl_seconds: Maybe[int] = OMITTED,
        labels: Maybe[Mapping[str, str]] = OMITTED,
        resources: Maybe[types.ResourcesBody] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Changes an agent: `PATCH /api/agents/{agent_id}`. What is left out stays.

        `name`, `labels` and `idle_ttl_seconds` hold at once, `instructions` and `resources` at the
        next start.

        Args:
            agent_id: The agent.
            name: Unique in the account.
            external_id: An id of yours; None clears it.
            instructions: At most 65,536 bytes as UTF-8; None clears them.
            idle_ttl_seconds: Seconds without activity until it sleeps: 0 or 15 to 604,800.
            labels: All labels.
            resources: `{"memMb", "vcpus", "diskGb"}`.

        Raises:
            ServiceConflictError: `agent_name_taken` or `external_id_taken`.
        """
        json = members(
            name=name,
            external_id=external_id,
            instructions=instructions,
            idle_ttl_seconds=idle_ttl_seconds,
            labels=labels,
            resources=resources,
        )
        path = route("/api/agents/{}", agent_id)
        agent: types.Agent = await self._send("PATCH", path, options, json=json)
        return agent

    async def get(
        self,
        agent_id: str,
        *,
        wait: State | None = None,
        wait_timeout: float | None = None,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Returns an agent: `GET /api/agents/{agent_id}`.

        Args:
            agent_id: The agent.
            wait: Answer when the agent is in this state or `failed`, at the latest after
                `wait_timeout`; the agent is returned in any case.
            wait_timeout: Seconds, 1 to 60, by default 30.
        """
        path = route("/api/agents/{}", agent_id)
        agent: types.Agent = await self._get(path, options, wait=wait, timeout=wait_timeout)
        return agent

    async def start(
        self,
        agent_id: str,
        *,
        drain_seconds: Maybe[float] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Starts or wakes an agent: `POST /api/agents/{agent_id}/start`.

        Returns the agent once it is `running`, or after 60 s as it then is. `drain_seconds` is that
        of `stop`.
        """
        agent: types.Agent = await self._change(agent_id, "start", drain_seconds, options)
        return agent

    async def stop(
        self,
        agent_id: str,
        *,
        drain_seconds: Maybe[float] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Stops an agent, which nothing wakes by itself then: `POST /api/agents/{agent_id}/stop`.

        Returns the agent once it is `stopped`, or after 60 s as it then is.

        Args:
            agent_id: The agent.
            drain_seconds: For how long chats in progress may end first, 0 to 600 seconds.
        """
        agent: types.Agent = await self._change(agent_id, "stop", drain_seconds, options)
        return agent

    async def sleep(
        self,
        agent_id: str,
        *,
        drain_seconds: Maybe[float] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Puts an agent to sleep, until its next use: `POST /api/agents/{agent_id}/sleep`.

        Executions that are running end `failed`. Returns the agent once it is `sleeping`, or after
        60 s as it then is.

        Args:
            agent_id: The agent.
            drain_seconds: For how long chats in progress may end first, 0 to 600 seconds.
        """
        agent: types.Agent = await self._change(agent_id, "sleep", drain_seconds, options)
        return agent

    async def restart(
        self,
        agent_id: str,
        *,
        drain_seconds: Maybe[float] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Agent:
        """Restarts an agent: `POST /api/agents/{agent_id}/restart`.

        Returns the agent once it is `running`, or after 60 s as it then is.

        Args:
            agent_id: The agent.
            drain_seconds: For how long chats in progress may end first, 0 to 600 seconds.
        """
        agent: types.Agent = await self._change(agent_id, "restart", drain_seconds, options)
        return agent

    async def _change(self, agent_id: str, change: str, drain_seconds: Maybe[float], options: Any) -> Any:
        path = route(f"/api/agents/{{}}/{change}", agent_id)
        json = members(drain_seconds=drain_seconds)
        return await self._send("POST", path, options, json=json or None)

    async def delete(self, agent_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an agent with its volume: `DELETE /api/agents/{agent_id}`."""
        await self._do("DELETE", route("/api/agents/{}", agent_id), options)

    async def stats(self, agent_id: str, **options: Unpack[CallOptions]) -> types.AgentStats:
        """Returns what an agent uses now: `GET /api/agents/{agent_id}/stats`. Wakes nobody."""
        stats: types.AgentStats = await self._get(route("/api/agents/{}/stats", agent_id), options)
        return stats

    def schedules(self, agent_id: str, **options: Unpack[CallOptions]) -> AsyncPages[types.SchedulesItem]:
        """Lists the wakes that an agent has scheduled: `GET /api/agents/{agent_id}/schedules`."""
        return self._list(route("/api/agents/{}/schedules", agent_id), options)

    async def chat(
        self,
        agent_id: str,
        message: str,
        *,
        conversation_id: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> ChatResult:
        """Sends a message and returns the reply: `POST /api/agents/{agent_id}/chat`.

        A sleeping agent is woken. Without `request_timeout`, the call may take 620 s. It is repeated
        only when the service refused it as too frequent, so no message is delivered twice.

        Args:
            agent_id: The agent.
            message: What to say.
            conversation_id: The conversation to continue or open; without it the current one.

        Returns:
            `{"response", "conversation_id"}`. If the message was not answered because the agent is
            deploying, stopped, failed or unavailable, failed itself or took too long, `response` is
            empty and `error` says why: `{"code", "message", "status", "requestId"}`.
        """
        sent = call(
            "POST",
            route("/api/agents/{}/chat", agent_id),
            options,
            json=_message(message, conversation_id),
            repeat=Repeat.BUSY,
            least_timeout=CHAT_SECONDS,
        )
        try:
            return reply_of(await self._transport.send(sent))
        except ServiceError as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return unanswered(failure, conversation_id if isinstance(conversation_id, str) else None)

    def chat_stream(
        self,
        agent_id: str,
        message: str,
        *,
        conversation_id: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> AsyncChatStream:
        """Sends a message and iterates over the reply as it comes.

        The message is sent when the iteration begins. `request_timeout` bounds the wait for the
        first event and then each silence, by default 620 s.

        Args:
            agent_id: The agent.
            message: What to say.
            conversation_id: The conversation to continue or open; without it the current one.

        Returns:
            Events `{"type": "delta", "text"}`, then `{"type": "done", "response",
            "conversation_id"}` or `{"type": "error", "error"}` as of `chat`.
        """
        sent = call(
            "POST",
            route("/api/agents/{}/chat", agent_id),
            options,
            json=_message(message, conversation_id),
            headers={"accept": "text/event-stream"},
            repeat=Repeat.BUSY,
            least_timeout=CHAT_SECONDS,
        )
        return AsyncChatStream(self._transport, sent)

    @overload
    async def exec(
        self,
        agent_id: str,
        command: str | Sequence[str],
        *,
        timeout: Maybe[float] = OMITTED,
        cwd: Maybe[str] = OMITTED,
        env: Maybe[Mapping[str, str]] = OMITTED,
        detached: Literal[False] | Omitted = OMITTED,
        **options: Unpack[CallOptions],
    ) -> ExecutionResult: ...

    @overload
    async def exec(
        self,
        agent_id: str,
        command: str | Sequence[str],
        *,
        timeout: Maybe[float] = OMITTED,
        cwd: Maybe[str] = OMITTED,
        env: Maybe[Mapping[str, str]] = OMITTED,
        detached: Literal[True],
        **options: Unpack[CallOptions],
    ) -> types.AcceptedExecution: ...

    async def exec(
        self,
        agent_id: str,
        command: str | Sequence[str],
        *,
        timeout: Maybe[float] = OMITTED,
        cwd: Maybe[str] = OMITTED,
        env: Maybe[Mapping[str, str]] = OMITTED,
        detached: bool | Omitted = OMITTED,
        **options: Unpack[CallOptions],
    ) -> Any:
        """Runs a command in an agent: `POST /api/agents/{agent_id}/exec`. Wakes a sleeping agent.

        The call is repeated only when the service guarantees that the command did not start. That
        this client stops waiting does not end the command.

        Args:
            agent_id: The agent.
            command: A shell command, or a list of arguments, which the service quotes.
            timeout: Seconds that the command may take, by default 60, detached 3,600. It raises the
                time-out of the request to 30 s more, unless `request_timeout` is given.
            cwd: Where it runs: absolute, or relative to the volume.
            env: Variables beside those of the agent.
            detached: Return once the command has been started. `request` reads its result at
                `/api/agents/{agent_id}/exec/{execution_id}`.

        Returns:
            `{"executionId", "status", "exitCode", "stdout", "stderr"}`, or if `detached`
            `{"executionId", "status"}`. The exit code is -1 if the command took too long.
        """
        sent = call(
            "POST",
            route("/api/agents/{}/exec", agent_id),
            options,
            json=command_members(command, timeout, cwd=cwd, env=env, detached=detached),
            repeat=Repeat.NOT_STARTED,
            least_timeout=0 if detached else time_of_command(timeout),
        )
        return await self._transport.send(sent)

    async def logs(
        self,
        agent_id: str,
        *,
        level: Level | None = None,
        since: str | datetime | None = None,
        source: Source | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> types.LogsPage:
        """Returns the newest entries of a log, oldest first: `GET /api/agents/{agent_id}/logs`.

        Wakes nobody.

        Args:
            agent_id: The agent.
            level: Entries of at least this level.
            since: Entries from this moment on, ISO 8601 or a datetime with a time zone.
            source: What wrote them: the program, Berth, or a build.
            cursor: The `nextCursor` of an answer: then the oldest entries after it are returned.
            limit: How many, 1 to 1,000, by default 100.
        """
        page: types.LogsPage = await self._get(
            route("/api/agents/{}/logs", agent_id),
            options,
            level=level,
            since=since,
            source=source,
            cursor=cursor,
            limit=limit,
        )
        return page

    def follow_logs(
        self,
        agent_id: str,
        *,
        level: Level | None = None,
        since: str | datetime | None = None,
        source: Source | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncLogStream:
        """Iterates over the newest entries of a log and all later ones, as they are written.

        A connection that breaks is made again, and nothing is missed. The iteration ends with
        `close()`, also by another thread or task; what the service refuses is raised. Arguments are
        those of `logs`; `request_timeout` bounds each silence.
        """
        sent = call(
            "GET",
            route("/api/agents/{}/logs", agent_id),
            options,
            query={
                "follow": True,
                "level": level,
                "since": since,
                "source": source,
                "cursor": cursor,
                "limit": limit,
            },
            headers={"accept": "text/event-stream"},
        )
        return AsyncLogStream(self._transport, sent)


def _message(message: str, conversation_id: Maybe[str]) -> dict[str, object]:
    given = {} if conversation_id is OMITTED else {"conversation_id": conversation_id}
    return {"message": text(message, "message"), **given}


def command_members(
    command: str | Sequence[str], timeout: Maybe[float], **given: object
) -> dict[str, object]:
    """Returns the body of a command."""
    if isinstance(command, str):
        text(command, "command")
    elif not isinstance(command, (list, tuple)) or not command:
        raise ValueError("The command must be a string or a list of strings, and not empty.")
    time_of_command(timeout)
    return {"command": command, **members(timeout=timeout, **given)}


def time_of_command(timeout: Maybe[float]) -> float:
    """Returns the seconds that the request of an attached command may take at least."""
    if timeout is None or timeout is OMITTED:
        return 0
    return seconds(timeout, "timeout") + MARGIN_OF_COMMANDS
