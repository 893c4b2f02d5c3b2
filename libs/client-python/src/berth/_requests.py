"""Short ways to describe calls, shared by both clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

from ._body import Body, json_body
from ._call import Answer, Call, Repeat
from ._options import Options
from ._values import Omitted, segment

T = TypeVar("T")

Maybe: TypeAlias = T | Omitted | None
"""A member that may be left out; None is sent as null."""

LONG = 3_600.0
"""Seconds that uploads may take."""


def route(template: str, *ids: str) -> str:
    """Fills the ids into a path."""
    return template.format(*(segment(one) for one in ids))


def call(
    method: str,
    path: str,
    options: Mapping[str, object],
    *,
    query: Mapping[str, object] | None = None,
    json: Mapping[str, object] | None = None,
    body: Body | None = None,
    headers: Mapping[str, str] | None = None,
    repeat: Repeat = Repeat.SAFE,
    answer: Answer = Answer.VALUE,
    done: object = None,
    least_timeout: float = 0,
    anonymous: bool = False,
) -> Call:
    """Describes a call of a route; `json` are the members of its body."""
    checked = Options(options)
    return Call(
        method=method,
        path=path,
        options=checked,
        query=query or {},
        body=json_body(json) if json is not None else body,
        headers=headers or {},
        repeat=repeat,
        answer=answer,
        done=done,
        least_timeout=least_timeout,
        anonymous=anonymous,
    )
