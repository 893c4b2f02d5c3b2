"""Answers that are read as they come: downloads, streamed chats and followed logs."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType
from typing import TypeVar, cast

import httpx

from .._answers import connection_error, invalid_response, json_object
from .._call import Call
from .._chat import done_of, event_of, failure_of
from .._events import EventDecoder, ServerSentEvent
from .._results import ChatEvent
from .._retry import LONGEST_WAIT, backoff, retry_after
from ..errors import ServiceConnectionError, ServiceError, request_id_of
from ..types import LogEntry
from ._io import Stop, interrupt, run
from ._transport import AsyncTransport

_EVENTS = "text/event-stream"

S = TypeVar("S", bound="_AsyncEvents")


async def _chunks(
    transport: AsyncTransport, response: httpx.Response, silence: float
) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except httpx.RequestError as error:
        failure = connection_error(error, transport.redact, silence)
    else:
        return
    raise failure


class AsyncDownload:
    """A file that is being downloaded. It is read once, and closed by reading it to its end.

    Attributes:
        headers: The headers of the answer: `content-type`, `content-length`, `etag`.
    """

    def __init__(self, transport: AsyncTransport, response: httpx.Response, silence: float) -> None:
        self._transport = transport
        self._response = response
        self._silence = silence
        self.headers: httpx.Headers = response.headers

    @classmethod
    async def of(cls, transport: AsyncTransport, call: Call) -> AsyncDownload:
        """Begins the download that a call describes."""
        silence = call.options.timeout or transport.settings.timeout
        return cls(transport, await transport.open(call), silence)

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """Yields the bytes as they come. Raises `ServiceConnectionError` if there are too few."""
        expected = self.headers.get("content-length", "")
        try:
            async for chunk in _chunks(self._transport, self._response, self._silence):
                yield chunk
            received = self._response.num_bytes_downloaded
            if expected.isdecimal() and received != int(expected):
                raise ServiceConnectionError(
                    f"The download ended after {received} of {expected} bytes.",
                    code="connection_failed",
                )
        finally:
            await self.close()

    async def read(self) -> bytes:
        """Returns all bytes."""
        return b"".join([chunk async for chunk in self.iter_bytes()])

    async def text(self) -> str:
        """Returns the file as text. Bytes that are no UTF-8 become U+FFFD."""
        return (await self.read()).decode(errors="replace")

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file to `path`, all of it or, when that fails, nothing.

        A file that is there is replaced once all bytes have come.
        """
        try:
            handle, part, target = await run(_create_beside, path)
        except BaseException:
            await self.close()
            raise
        try:
            with os.fdopen(handle, "wb") as file:
                async for chunk in self.iter_bytes():
                    await run(file.write, chunk)
            await run(os.replace, part, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise

    async def close(self) -> None:
        """Ends the download."""
        await self._response.aclose()

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _create_beside(path: str | os.PathLike[str]) -> tuple[int, str, str]:
    """Opens a file beside the one at `path`, and returns its number, its path and that of the one."""
    target = os.path.realpath(os.fspath(path))
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target} is a folder.")
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name[:32]}.{uuid.uuid4().hex}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(part, flags, 0o666), part, target


class _AsyncEvents:
    """What streams of events have in common. The request is sent when the iteration begins."""

    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        self._transport = transport
        self._call = call
        self._stop = Stop()
        self._begun = False
        self._last_id: str | None = None
        self._response: httpx.Response | None = None
        self._silence = call.options.timeout or max(transport.settings.timeout, call.least_timeout)

    async def close(self) -> None:
        """Ends the stream; an iteration under way ends quietly."""
        self._stop.set()
        if self._response is not None:
            await interrupt(self._response)

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _events(
        self, response: httpx.Response, decoder: EventDecoder
    ) -> AsyncGenerator[ServerSentEvent, None]:
        self._response = response
        try:
            async for chunk in _chunks(self._transport, response, self._silence):
                for event in decoder.feed(chunk):
                    if self._stop.is_set:
                        return
                    yield event
        finally:
            self._response = None
            await response.aclose()


class AsyncChatStream(_AsyncEvents):
    """The events of a streamed chat: `delta` with `text`, then `done` or `error`."""

    async def __aiter__(self) -> AsyncIterator[ChatEvent]:
        if self._begun:
            raise RuntimeError("A streamed chat can be iterated over once: its message is not sent again.")
        self._begun = True
        try:
            async with aclosing(self._run()) as events:
                async for event in events:
                    yield event
        except (ServiceConnectionError, httpx.StreamError):
            if not self._stop.is_set:
                raise

    async def _run(self) -> AsyncGenerator[ChatEvent, None]:
        try:
            response = await self._transport.open(self._call)
        except ServiceError as error:
            failure = failure_of(error)
            if failure is None:
                raise
            yield ChatEvent(type="error", error=failure)
            return
        if _EVENTS not in response.headers.get("content-type", ""):
            yield await self._whole(response)
            return
        request_id = request_id_of(response.headers)
        async with aclosing(self._events(response, EventDecoder())) as events:
            async for event in events:
                told = self._told(response, event, request_id)
                if told is None:
                    continue
                yield told
                if told["type"] != "delta":
                    return
        if not self._stop.is_set:
            raise ServiceConnectionError(
                "The stream ended before the response was complete.", code="connection_failed"
            )

    def _told(
        self, response: httpx.Response, event: ServerSentEvent, request_id: str | None
    ) -> ChatEvent | None:
        try:
            return event_of(event, request_id)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise invalid_response(response, event.data.encode(), self._transport.redact) from None

    async def _whole(self, response: httpx.Response) -> ChatEvent:
        body = b""
        try:
            async for chunk in _chunks(self._transport, response, self._silence):
                body += chunk
        finally:
            await response.aclose()
        try:
            return done_of(json_object(body))
        except ValueError:
            raise invalid_response(response, body, self._transport.redact) from None


class AsyncLogStream(_AsyncEvents):
    """The entries of a log as they are written. Connections that break are made again."""

    async def __aiter__(self) -> AsyncIterator[LogEntry]:
        failures = 0
        while not self._stop.is_set:
            asked: float | None = None
            try:
                async with aclosing(self._entries()) as entries:
                    async for entry in entries:
                        failures = 0
                        yield entry
            except (ServiceError, httpx.StreamError) as error:
                if self._stop.is_set:
                    return
                if isinstance(error, ServiceError):
                    if not self._begun or not _passes(error):
                        raise
                    asked = retry_after(error.headers)
            await self._stop.wait(backoff(failures) if asked is None else min(asked, LONGEST_WAIT))
            failures += 1

    async def _entries(self) -> AsyncGenerator[LogEntry, None]:
        """Yields the entries after those that were read, until the connection ends."""
        decoder = EventDecoder(self._last_id)
        response = await self._connect()
        self._begun = True
        async with aclosing(self._events(response, decoder)) as events:
            async for event in events:
                # Before the entry is yielded: whoever breaks off there has read it.
                self._last_id = event.last_id
                if event.name == "log":
                    yield cast(LogEntry, json_object(event.data))

    async def _connect(self) -> httpx.Response:
        call = self._call
        if self._last_id is not None:
            call = replace(call, headers={**call.headers, "last-event-id": self._last_id})
        response = await self._transport.open(call)
        if _EVENTS not in response.headers.get("content-type", ""):
            await response.aclose()
            raise invalid_response(response, b"", self._transport.redact)
        return response


def _passes(error: ServiceError) -> bool:
    """Whether to connect again after an error of a stream that was connected before."""
    return error.status is None or error.status >= 500
