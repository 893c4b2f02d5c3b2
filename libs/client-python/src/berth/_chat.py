"""What answers and events of chats mean."""

from __future__ import annotations

import json
from typing import Any

from ._events import ServerSentEvent
from ._results import ChatEvent, ChatResult, DeliveryFailure
from .errors import ServiceError

_STATUS_OF_FAILURES = {
    "agent_deploying": 409,
    "agent_stopped": 409,
    "agent_failed": 409,
    "agent_error": 502,
    "agent_unavailable": 503,
    "agent_timeout": 504,
}


def failure_of(error: ServiceError) -> DeliveryFailure | None:
    """Returns the failure to deliver a message that an error stands for, or None for other errors."""
    if error.code not in _STATUS_OF_FAILURES or not isinstance(error.detail, dict):
        return None
    return DeliveryFailure(error.detail, status=error.status, requestId=error.request_id)


def reply_of(answer: dict[str, Any]) -> ChatResult:
    """Returns the result of an answered message."""
    return ChatResult(response=answer.get("response", ""), conversation_id=answer.get("conversation_id"))


def unanswered(failure: DeliveryFailure, conversation_id: str | None) -> ChatResult:
    """Returns the result of a message that was not answered."""
    return ChatResult(response="", conversation_id=conversation_id, error=failure)


def done_of(answer: dict[str, Any]) -> ChatEvent:
    """Returns the last event of an answered message."""
    return ChatEvent(type="done", **reply_of(answer))


def event_of(event: ServerSentEvent, request_id: str | None) -> ChatEvent | None:
    """Returns what an event of the stream says, or None for one that this version does not know."""
    if event.name not in ("delta", "done", "error"):
        return None
    data = json.loads(event.data)
    if event.name == "delta":
        return ChatEvent(type="delta", text=data["text"])
    if event.name == "done":
        return done_of(data)
    detail = data.get("detail", data)
    if not isinstance(detail, dict):
        detail = {"message": str(detail)}
    status = _STATUS_OF_FAILURES.get(detail.get("code", ""))
    known = {"requestId": request_id, **({} if status is None else {"status": status})}
    return ChatEvent(type="error", error=DeliveryFailure({**known, **detail}))
