"""Reading answers: values, and the errors that refusals become."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import httpx

from ._call import Answer, Call
from ._results import Response
from ._retry import retry_after
from .errors import (
    ServiceConnectionError,
    ServiceError,
    ServiceRateLimitError,
    class_for,
    request_id_of,
)

_SHOWN_OF_BODIES = 1_000
_SHOWN_IN_MESSAGES = 200

Redact = Callable[[str], str]


def read_value(call: Call, response: httpx.Response, body: bytes, redact: Redact) -> Any:
    """Returns the value of a successful answer, or raises `ServiceError` `invalid_response`."""
    if call.answer is Answer.ANYTHING:
        return Response(status=response.status_code, headers=response.headers, data=_json_or_text(body))
    if not body and call.answer is Answer.NOTHING:
        return None
    try:
        value = json.loads(body)
    except ValueError:
        raise invalid_response(response, body, redact) from None
    expected = isinstance(value, dict) or call.answer is Answer.NOTHING
    if expected and call.answer is Answer.LIST:
        expected = isinstance(value.get("items"), list)
    if not expected:
        raise invalid_response(response, body, redact)
    return value


class NothingLeft(Exception):
    """A repeated DELETE found nothing: an attempt before it has taken effect."""

    def __init__(self, headers: Mapping[str, str] | None) -> None:
        super().__init__()
        self.headers = headers


def done_value(call: Call, gone: NothingLeft) -> Any:
    """Returns the value of a DELETE whose answer was lost."""
    if call.answer is Answer.ANYTHING:
        return Response(status=404, headers=gone.headers, data=None)
    return call.done


def _json_or_text(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


def invalid_response(response: httpx.Response, body: bytes, redact: Redact) -> ServiceError:
    """The error of a successful answer that is not what was asked for."""
    shown = redact(body.decode(errors="replace"))
    return ServiceError(
        f"The server answered {response.status_code} with a body that is not what the service "
        f"sends; is something else at this address? It begins: {shown[:_SHOWN_IN_MESSAGES]!r}",
        status=response.status_code,
        code="invalid_response",
        detail=shown[:_SHOWN_OF_BODIES],
        request_id=request_id_of(response.headers),
        headers=response.headers,
    )


def read_error(response: httpx.Response, body: bytes, redact: Redact) -> ServiceError:
    """Returns the error that an answer other than 2xx stands for."""
    status = response.status_code
    shown = redact(body.decode(errors="replace"))
    detail, message = _detail_of(shown)
    code = detail.get("code") if isinstance(detail, dict) else None
    error = class_for(status)(
        message or _fallback(response, shown),
        status=status,
        code=code if isinstance(code, str) else None,
        detail=detail,
        request_id=request_id_of(response.headers),
        headers=response.headers,
    )
    if isinstance(error, ServiceRateLimitError):
        error.retry_after = retry_after(response.headers)
    return error


def _detail_of(shown: str) -> tuple[Any, str]:
    """Returns `detail` and the message in it."""
    try:
        value = json.loads(shown)
    except ValueError:
        return shown[:_SHOWN_OF_BODIES], ""
    if not isinstance(value, dict):
        return shown[:_SHOWN_OF_BODIES], ""
    detail = value.get("detail", value)
    if isinstance(detail, str):
        return detail, detail
    if isinstance(detail, dict):
        for name in ("message", "code"):
            if isinstance(detail.get(name), str) and detail[name].strip():
                return detail, detail[name]
    return detail, ""


def _fallback(response: httpx.Response, shown: str) -> str:
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if response.has_redirect_location:
        return f"The server answered {status} and redirects elsewhere; check the base URL."
    start = " ".join(shown.split())[:_SHOWN_IN_MESSAGES]
    return f"The server answered {status}: {start}" if start else f"The server answered {status}."


def connection_error(cause: BaseException, redact: Redact, seconds: float) -> ServiceConnectionError:
    """Returns the error of an attempt without a whole answer."""
    _forget_frames(cause)
    if isinstance(cause, (httpx.TimeoutException, TimeoutError)):
        error = ServiceConnectionError(f"There was no whole answer within {seconds:g} s.", code="timeout")
    else:
        reason = redact(str(cause)) or type(cause).__name__
        error = ServiceConnectionError(
            f"The connection to the service failed: {reason}", code="connection_failed"
        )
    error.__cause__ = cause
    return error


def _forget_frames(cause: BaseException) -> None:
    """Drops what refers to the headers with the key: frames below, whose variables tools show."""
    seen: set[int] = set()
    link: BaseException | None = cause
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = None
        if isinstance(link, httpx.RequestError):
            with contextlib.suppress(RuntimeError):
                link.request = httpx.Request(link.request.method, link.request.url)
        link = link.__cause__ or link.__context__


def json_object(written: str | bytes) -> dict[str, Any]:
    """Parses a JSON object. Raises ValueError if it is none."""
    value: Any = json.loads(written)
    if not isinstance(value, dict):
        raise ValueError("This is no object.")
    return cast("dict[str, Any]", value)
