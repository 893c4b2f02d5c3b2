"""Whether a failed attempt is repeated, and when."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from ._call import Prepared, Repeat
from .errors import ServiceConnectionError, ServiceError, ServiceRateLimitError

LONGEST_WAIT = 60.0
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 8.0
_REPEATED = frozenset((408, 429, 502, 503, 504))
_SECONDS = re.compile(r"\d+(\.\d+)?")
_NOT_STARTED = {
    409: {"code": "vm_not_ready", "state": "starting", "execution_started": False},
    503: {"code": "guest_command_unavailable", "execution_started": False},
}


def next_wait(prepared: Prepared, error: ServiceError, attempt: int) -> float | None:
    """Returns the seconds to wait before the next attempt, or None if the error is final.

    `attempt` is the number of the failed attempt, from 0.
    """
    if attempt >= prepared.max_retries or not prepared.attempt_again():
        return None
    if not _may_repeat(prepared.repeat, error, attempt):
        return None
    asked = retry_after(error.headers)
    wait = backoff(attempt) if asked is None else asked
    if wait > LONGEST_WAIT or wait >= prepared.deadline.remaining():
        return None
    return wait


def _may_repeat(repeat: Repeat, error: ServiceError, attempt: int) -> bool:
    if repeat is Repeat.BUSY:
        return isinstance(error, ServiceRateLimitError)
    if repeat is Repeat.NOT_STARTED:
        return error.status in _NOT_STARTED and error.detail == _NOT_STARTED[error.status]
    if repeat is Repeat.NEVER:
        return False
    if isinstance(error, ServiceConnectionError) or error.status in _REPEATED:
        return True
    return attempt > 0 and error.status == 409 and error.code == "idempotency_in_progress"


def backoff(attempt: int) -> float:
    """Returns the wait after a failed attempt for which the service named none."""
    wait = min(_FIRST_BACKOFF * 2.0 ** min(attempt, 10), _LONGEST_BACKOFF)
    return wait * random.uniform(0.75, 1)


def retry_after(headers: Mapping[str, str] | None) -> float | None:
    """Reads `Retry-After`: seconds, or a date."""
    value = "" if headers is None else headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
