"""Results that this library makes. Everything else is returned as the service sent it."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import httpx


class Result(dict[str, Any]):
    """An object whose members can be read as attributes too; one that may be missing is then None."""

    def __getattr__(self, name: str) -> Any:
        if name in self or name in type(self).__annotations__:
            return self.get(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Response(Result):
    """The answer to `request`.

    Attributes:
        status: The HTTP status, a 2xx.
        headers: The headers; names are found in any case.
        data: The body: parsed if it is JSON, else as text; None without a body.
    """

    status: int
    headers: httpx.Headers
    data: Any


class _ExecutionOutput(TypedDict):
    exitCode: int
    stdout: str
    stderr: str


class ExecutionResult(_ExecutionOutput, total=False):
    """The result of a command that `exec` has waited for.

    Agents with an old guest tell neither `executionId` nor `status`. The exit code is -1 if the command
    took too long or was cancelled; it may be other than 0 for a command that is `completed`. `stdout` and
    `stderr` are the last 262,144 characters.
    """

    executionId: str
    status: Literal["completed", "timed_out", "cancelled", "failed"]


class DeliveryFailure(Result):
    """Why a message was not answered: what the service said, with its status and request id.

    Attributes:
        code: `agent_deploying`, `agent_stopped`, `agent_failed`, `agent_error`, `agent_unavailable`
            or `agent_timeout`.
        message: What happened and what to do.
        status: The HTTP status.
        requestId: The id of the request.
    """

    code: str
    message: str
    status: int | None
    requestId: str | None


class ChatResult(Result):
    """The outcome of a chat.

    Attributes:
        response: What the agent answered; empty if the message was not answered.
        conversation_id: The conversation; if the message was not answered, the one of the caller.
        error: Why the message was not answered; missing if it was.
    """

    response: str
    conversation_id: str | None
    error: DeliveryFailure | None


class ChatEvent(Result):
    """A part of a streamed chat.

    Attributes:
        type: `delta`, then `done` or `error`.
        text: Of a `delta`, the next piece of the response.
        response: Of `done`, the whole response.
        conversation_id: Of `done`, the conversation.
        error: Of `error`, why the message was not answered.
    """

    type: Literal["delta", "done", "error"]
    text: str | None
    response: str | None
    conversation_id: str | None
    error: DeliveryFailure | None
