"""What a client is made with, and what every method takes after its own arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from typing import TypedDict
from urllib.parse import urlsplit

import httpx

from ._values import count, header_fields, seconds
from ._version import __version__
from .errors import ServiceAuthError

DEFAULT_URL = "http://localhost:8080"
DEFAULT_TIMEOUT = 90.0
DEFAULT_MAX_RETRIES = 2
HOW_TO_GET_A_KEY = (
    "Mint one with `berth keys mint`, or take the one that Berth's first start wrote to "
    "`bootstrap-key` in its data folder, and pass it as api_key or set BERTH_API_KEY."
)

_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")


class CallOptions(TypedDict, total=False):
    """What every method takes after its own arguments, all of it optional.

    Attributes:
        request_timeout: Seconds that the whole call may take with its repeats. For downloads and
            streams: until the headers come, then of each silence. `math.inf` sets no limit.
        headers: Headers to send beside those of the client, over which they take precedence.
        idempotency_key: The `Idempotency-Key` of a POST; without it the client makes one where that
            is safe.
        max_retries: How often a failed attempt is repeated at most.
    """

    request_timeout: float | None
    headers: Mapping[str, str] | None
    idempotency_key: str | None
    max_retries: int | None


class Options:
    """The checked `CallOptions` of one call."""

    __slots__ = ("headers", "idempotency_key", "max_retries", "timeout")

    def __init__(self, given: Mapping[str, object]) -> None:
        unknown = [name for name in given if name not in CallOptions.__annotations__]
        if unknown:
            raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
        timeout = given.get("request_timeout")
        retries = given.get("max_retries")
        key = given.get("idempotency_key")
        self.timeout: float | None = None if timeout is None else seconds(timeout, "request_timeout")  # type: ignore[arg-type]
        self.max_retries: int | None = None if retries is None else count(retries, "max_retries")  # type: ignore[arg-type]
        self.headers: dict[str, str] = header_fields(given.get("headers"))  # type: ignore[arg-type]
        if key is not None and (not isinstance(key, str) or not _PRINTABLE.fullmatch(key)):
            raise ValueError("idempotency_key must have 1 to 255 printable characters of ASCII.")
        self.idempotency_key: str | None = key or self.headers.get("idempotency-key")


class Bearer(httpx.Auth):
    """Adds a key to requests when they are sent, so that it stands in nothing that is shown before."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.__value}"
        yield request

    def redact(self, shown: str) -> str:
        """Replaces the key where something shows it, for example the page of a proxy."""
        return shown.replace(self.__value, "[key]")

    def __repr__(self) -> str:
        return "Bearer([key])"

    def __reduce__(self) -> str:
        raise TypeError("A key cannot be pickled.")


class Settings:
    """The checked options of a client."""

    __slots__ = ("auth", "base_url", "headers", "max_retries", "timeout")

    def __init__(
        self,
        api_key: str | None,
        base_url: str | None,
        *,
        timeout: float,
        max_retries: int,
        headers: Mapping[str, str] | None,
    ) -> None:
        self.auth: Bearer = Bearer(_key(api_key))
        self.base_url: str = _url(base_url)
        self.timeout: float = seconds(timeout, "timeout")
        self.max_retries: int = count(max_retries, "max_retries")
        agent = {"user-agent": f"berth-client-python/{__version__}"}
        self.headers: dict[str, str] = {**agent, **header_fields(headers)}


def environment(name: str) -> str | None:
    """Returns a variable of the environment; one that is empty is unset."""
    return os.environ.get(name, "").strip() or None


def _key(given: str | None) -> str:
    key = environment("BERTH_API_KEY") if given is None else given
    if key is not None and not isinstance(key, str):
        raise ValueError("api_key must be a string.")
    key = (key or "").strip()
    if key == "":
        raise ServiceAuthError(f"There is no API key. {HOW_TO_GET_A_KEY}", code="missing_api_key")
    if not re.fullmatch(r"[\x20-\x7e]+", key):
        message = "The API key contains characters that no header can carry."
        raise ServiceAuthError(f"{message} {HOW_TO_GET_A_KEY}", code="invalid_api_key")
    return key


def _url(given: str | None) -> str:
    url = (environment("BERTH_URL") or DEFAULT_URL) if given is None else given
    if not isinstance(url, str):
        raise ValueError("base_url must be a string.")
    url = url.strip()
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL) as error:
        raise ValueError("base_url is no URL.") from error
    if not valid or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("base_url must be an http or https URL without user, query and fragment.")
    return url.rstrip("/?#")
