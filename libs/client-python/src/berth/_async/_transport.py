"""Sends calls, repeats failed attempts, and reads answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx

from .._answers import NothingLeft, connection_error, done_value, read_error, read_value
from .._body import Body
from .._call import Call, Deadline, Prepared, wait_of
from .._options import Settings
from .._retry import next_wait
from ..errors import ServiceError
from ._io import limit, pieces, run, sleep

_BROKEN = (httpx.RequestError, TimeoutError)


class AsyncTransport:
    """The connections of a client."""

    def __init__(self, settings: Settings, http_client: httpx.AsyncClient | None) -> None:
        self.settings = settings
        self._owned = http_client is None
        self._http = http_client or httpx.AsyncClient(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20)
        )

    async def close(self) -> None:
        """Closes the connections, unless the caller passed the client that has them."""
        if self._owned:
            await self._http.aclose()

    def redact(self, shown: str) -> str:
        """Replaces the key where something shows it."""
        return self.settings.auth.redact(shown)

    async def send(self, call: Call, deadline: Deadline | None = None) -> Any:
        """Sends a call and returns the value of its answer."""
        prepared = Prepared(call, self.settings, deadline)
        try:
            response, body = await self._repeat(prepared, streams=False)
        except NothingLeft as gone:
            return done_value(call, gone)
        return read_value(call, response, body, self.redact)

    async def read(self, call: Call) -> bytes:
        """Sends a call and returns the bytes of its answer."""
        _, body = await self._repeat(Prepared(call, self.settings), streams=False)
        return body

    async def open(self, call: Call, deadline: Deadline | None = None) -> httpx.Response:
        """Sends a call and returns its answer once the headers are there. The caller closes it."""
        prepared = Prepared(call, self.settings, deadline)
        response, _ = await self._repeat(prepared, streams=True)
        return response

    async def _repeat(self, prepared: Prepared, *, streams: bool) -> tuple[httpx.Response, bytes]:
        attempt = 0
        try:
            while True:
                try:
                    return await self._attempt(prepared, streams=streams)
                except ServiceError as error:
                    if attempt > 0 and prepared.call.method == "DELETE" and error.status == 404:
                        raise NothingLeft(error.headers) from None
                    wait = next_wait(prepared, error, attempt)
                    if wait is None:
                        raise
                await sleep(wait)
                attempt += 1
        finally:
            if prepared.call.body is not None:
                await run(prepared.call.body.close)

    async def _attempt(self, prepared: Prepared, *, streams: bool) -> tuple[httpx.Response, bytes]:
        failure: BaseException
        response: httpx.Response | None = None
        try:
            async with limit(prepared.deadline.remaining()):
                response = await self._begin(prepared)
                if streams and response.is_success:
                    silence = response.request.extensions["timeout"]
                    silence["read"] = wait_of(prepared.timeout)
                    return response, b""
                body = await self._read(response, prepared.deadline)
        except _BROKEN as error:
            failure = error
        else:
            if response.is_success:
                return response, body
            raise read_error(response, body, self.redact)
        raise connection_error(failure, self.redact, prepared.timeout)

    async def _begin(self, prepared: Prepared) -> httpx.Response:
        call = prepared.call
        wait = wait_of(prepared.deadline.remaining())
        content = None if call.body is None else _content(call.body, prepared.deadline)
        request = self._http.build_request(
            call.method,
            prepared.url,
            headers=prepared.headers,
            content=content,
            timeout=httpx.Timeout(max(wait, 0.001)),
        )
        return await self._http.send(
            request,
            auth=None if call.anonymous else self.settings.auth,
            stream=True,
            follow_redirects=False,
        )

    async def _read(self, response: httpx.Response, deadline: Deadline) -> bytes:
        parts: list[bytes] = []
        try:
            async for part in response.aiter_bytes():
                parts.append(part)
                if deadline.remaining() == 0:
                    raise TimeoutError
        finally:
            await response.aclose()
        return b"".join(parts)


def _content(body: Body, deadline: Deadline) -> bytes | AsyncIterator[bytes]:
    return pieces(body.pieces(), deadline) if body.whole is None else body.whole
