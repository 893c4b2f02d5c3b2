"""Arguments: what was left out, what cannot be sent, and how the rest is written into a request."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from enum import Enum
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote, unquote


class _Omitted(Enum):
    OMITTED = "omitted"

    def __repr__(self) -> str:
        return "OMITTED"

    def __bool__(self) -> bool:
        return False


Omitted: TypeAlias = Literal[_Omitted.OMITTED]
"""The type of `OMITTED`."""

OMITTED: Final = _Omitted.OMITTED
"""The default of members that are not sent unless given; None is sent as null."""

_WORD_ENDS = re.compile(r"_([a-z0-9])")
_FORBIDDEN_IN_HEADERS = re.compile(r"[^\t\x20-\x7e\x80-\xff]")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN_IN_PATHS = re.compile(r"[\x00-\x20\x7f#\\]")


def segment(value: str, what: str = "id") -> str:
    """Encodes an id as one segment of a path. Raises ValueError if it cannot be one."""
    if not isinstance(value, str):
        raise ValueError(f"The {what} must be a string, not {type(value).__name__}.")
    if value in ("", ".", ".."):
        raise ValueError(f"{value!r} is no {what}.")
    return quote(value, safe="")


def plain_path(path: str) -> str:
    """Checks the path of a request that the caller wrote. It stays below the base URL."""
    if not isinstance(path, str):
        raise ValueError("The path must be a string.")
    if not path.startswith("/") or path.startswith("//") or _FORBIDDEN_IN_PATHS.search(path):
        raise ValueError("The path must begin with one '/' and contain no white space, '#' or '\\'.")
    if any(unquote(one) in (".", "..") for one in path.partition("?")[0].split("/")):
        raise ValueError("The path must not contain the segments '.' and '..'.")
    path.encode()
    return path


def members(**given: object) -> dict[str, object]:
    """Returns the members that were given, under their HTTP names: `ttl_seconds` is `ttlSeconds`."""
    return {
        _WORD_ENDS.sub(lambda match: match[1].upper(), name.rstrip("_")): value
        for name, value in given.items()
        if value is not OMITTED
    }


def text(value: str, what: str) -> str:
    """Checks an argument that must be a string with at least one character."""
    if not isinstance(value, str) or value == "":
        raise ValueError(f"The {what} must be a string that is not empty.")
    return value


def seconds(value: float, what: str) -> float:
    """Checks a number of seconds greater than 0; infinity is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{what} must be a number of seconds, not {type(value).__name__}.")
    if math.isnan(value) or value <= 0:
        raise ValueError(f"{what} must be a number of seconds greater than 0.")
    return _as_float(value)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def count(value: int, what: str) -> int:
    """Checks a whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{what} must be a whole number that is not negative.")
    return value


def header_fields(given: Mapping[str, str] | None) -> dict[str, str]:
    """Checks headers that the caller gave. Names are in lower case in the result."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError("headers must be a mapping of names to values.")
    fields: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ValueError("A name among the headers is no name of a header.")
        if not isinstance(value, str) or _FORBIDDEN_IN_HEADERS.search(value):
            raise ValueError(f"The value of the header {name} cannot be sent.")
        fields[name.lower()] = value.strip(" \t")
    return fields


def query_string(query: Mapping[str, object]) -> list[tuple[str, str]]:
    """Writes the parameters of a query. A sequence repeats its parameter; None is left out."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        several: Sequence[object] = value if isinstance(value, (list, tuple)) else [value]
        pairs.extend((name, _query_value(name, one)) for one in several if one is not None)
    return pairs


def _query_value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime, date)):
        return timestamp(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number.")
    if isinstance(value, (str, int, float)):
        written = str(value)
        written.encode()
        return written
    raise ValueError(f"{name} cannot be sent: it is of the type {type(value).__name__}.")


def timestamp(value: date) -> str:
    """Writes a moment as ISO 8601 in UTC. A date is its midnight; a datetime must have a time zone."""
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.tzinfo is None:
        raise ValueError("A datetime must have a time zone: datetime.now(timezone.utc).")
    moment = value.astimezone(timezone.utc).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def json_bytes(value: object) -> bytes:
    """Writes a value as JSON. Raises ValueError if it cannot be written, as NaN and lone surrogates."""
    try:
        written = json.dumps(
            value,
            default=_json_value,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
    except (TypeError, RecursionError) as error:
        raise ValueError(f"The body cannot be written as JSON: {error}") from error
    return written.encode()


def _json_value(value: Any) -> object:
    if isinstance(value, date):
        return timestamp(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no value of JSON")
