"""A call as data: what is sent, when it may be repeated, and what is expected back."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from urllib.parse import quote, urlencode

from ._body import Body
from ._options import Options, Settings
from ._values import query_string


class Repeat(Enum):
    """When a failed attempt may be repeated."""

    SAFE = "safe"
    """No attempt acts twice: after connection errors and 408, 429, 502, 503, 504."""
    BUSY = "busy"
    """Only when the service said 429."""
    NOT_STARTED = "not started"
    """Only when the service said that the command did not start."""
    NEVER = "never"


class Answer(Enum):
    """What the body of a successful answer is."""

    VALUE = "value"
    """One JSON value."""
    LIST = "list"
    """A JSON object with `items`."""
    NOTHING = "nothing"
    """Usually empty."""
    ANYTHING = "anything"
    """Whatever it is."""


@dataclass(frozen=True)
class Call:
    """One call of the service. `path` is encoded."""

    method: str
    path: str
    options: Options
    query: Mapping[str, object] = field(default_factory=dict[str, object])
    body: Body | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    repeat: Repeat = Repeat.SAFE
    answer: Answer = Answer.VALUE
    done: Any = None
    """What a repeated DELETE returns that finds nothing more to delete."""
    least_timeout: float = 0
    """Seconds that the call may take at least, unless the caller says otherwise."""
    anonymous: bool = False
    makes_key: bool = True
    """Whether the client makes an `Idempotency-Key` for it if it is a POST that is safe to repeat."""


class Deadline:
    """The end of a call with all of its repeats."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Returns the seconds left, at least 0; possibly infinity."""
        return max(0.0, self._end - time.monotonic())


class Prepared:
    """A call with everything that is the same for each of its attempts."""

    __slots__ = ("call", "deadline", "headers", "max_retries", "repeat", "timeout", "url")

    def __init__(self, call: Call, settings: Settings, deadline: Deadline | None = None) -> None:
        options = call.options
        self.call = call
        self.timeout = options.timeout or max(settings.timeout, call.least_timeout)
        self.deadline = deadline or Deadline(self.timeout)
        self.max_retries = settings.max_retries if options.max_retries is None else options.max_retries
        self.url = settings.base_url + call.path
        query = query_string(call.query)
        if query:
            separator = "&" if "?" in call.path else "?"
            self.url += separator + _encoded(query)
        key = options.idempotency_key or settings.headers.get("idempotency-key")
        self.repeat = call.repeat
        if call.method == "POST" and call.repeat is Repeat.SAFE and key is None:
            if call.makes_key:
                key = f"berth-{uuid.uuid4()}"
            else:
                self.repeat = Repeat.NEVER
        own = {} if call.body is None else call.body.headers
        self.headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            **own,
            **settings.headers,
            **call.headers,
            **options.headers,
        }
        if key is not None and call.method not in ("GET", "HEAD"):
            self.headers["idempotency-key"] = key
        if call.anonymous:
            self.headers.pop("authorization", None)

    def attempt_again(self) -> bool:
        """Whether the body can be sent again."""
        return self.call.body is None or self.call.body.repeatable


def wait_of(seconds: float) -> float:
    """Limits a number of seconds to what timers of the operating system take."""
    return min(seconds, _MOST_SECONDS) if math.isfinite(seconds) else _MOST_SECONDS


_MOST_SECONDS = 30 * 86_400.0


def _encoded(query: list[tuple[str, str]]) -> str:
    return urlencode(query, quote_via=quote, safe="")
