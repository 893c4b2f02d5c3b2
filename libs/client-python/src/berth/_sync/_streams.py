# Generated from _async/_streams.py by scripts/generate_sync.py: change that file.
"""Answers that are read as they come: downloads, streamed chats and followed logs."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Generator, Iterator
from contextlib import closing
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
from ._transport import Transport

_EVENTS = "text/event-stream"

S = TypeVar("S", bound="_Events")


def _chunks(
    transport: Transport, response: httpx.Response, silence: float
) -> Generator[bytes, None, None]:
    try:
        for chunk in response.iter_bytes():
            yield chunk
    except httpx.RequestError as error:
        failure = connection_error(error, transport.redact, silence)
    else:
        return
    raise failure


class Download:
    """A file that is being downloaded. It is read once, and closed by reading it to its end.

    Attributes:
        headers: The headers of the answer: `content-type`, `content-length`, `etag`.
    """

    def __init__(self, transport: Transport, response: httpx.Response, silence: float) -> None:
        self._transport = transport
        self._response = response
        self._silence = silence
        self.headers: httpx.Headers = response.headers

    @classmethod
    def of(cls, transport: Transport, call: Call) -> Download:
        """Begins the download that a call describes."""
        silence = call.options.timeout or transport.settings.timeout
        return cls(transport, transport.open(call), silence)

    def iter_bytes(self) -> Iterator[bytes]:
        """Yields the bytes as they come. Raises `ServiceConnectionError` if there are too few."""
        expected = self.headers.get("content-length", "")
        try:
            for chunk in _chunks(self._transport, self._response, self._silence):
                yield chunk
            received = self._response.num_bytes_downloaded
            if expected.isdecimal() and received != int(expected):
                raise ServiceConnectionError(
                    f"The download ended after {received} of {expected} bytes.",
                    code="connection_failed",
                )
        finally:
            self.close()

    def read(self) -> bytes:
        """Returns all bytes."""
        return b"".join([chunk for chunk in self.iter_bytes()])

    def text(self) -> str:
        """Returns the file as text. Bytes that are no UTF-8 become U+FFFD."""
        return (self.read()).decode(errors="replace")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file to `path`, all of it or, when that fails, nothing.

        A file that is there is replaced once all bytes have come.
        """
        try:
            handle, part, target = run(_create_beside, path)
        except BaseException:
            self.close()
            raise
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in self.iter_bytes():
                    run(file.write, chunk)
            run(os.replace, part, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise

    def close(self) -> None:
        """Ends the download."""
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _create_beside(path: str | os.PathLike[str]) -> tuple[int, str, str]:
    """Opens a file beside the one at `path`, and returns its number, its path and that of the one."""
    target = os.path.realpath(os.fspath(path))
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target} is a folder.")
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name[:32]}.{uuid.uuid4().hex}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(part, flags, 0o666), part, target


class _Events:
    """What streams of events have in common. The request is sent when the iteration begins."""

    def __init__(self, transport: Transport, call: Call) -> None:
        self._transport = transport
        self._call = call
        self._stop = Stop()
        self._begun = False
        self._last_id: str | None = None
        self._response: httpx.Response | None = None
        self._silence = call.options.timeout or max(transport.settings.timeout, call.least_timeout)

    def close(self) -> None:
        """Ends the stream; an iteration under way ends quietly."""
        self._stop.set()
        if self._response is not None:
            interrupt(self._response)

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _events(
        self, response: httpx.Response, decoder: EventDecoder
    ) -> Generator[ServerSentEvent, None, None]:
        self._response = response
        try:
            for chunk in _chunks(self._transport, response, self._silence):
                for event in decoder.feed(chunk):
                    if self._stop.is_set:
                        return
                    yield event
        finally:
            self._response = None
            response.close()


class ChatStream(_Events):
    """The events of a streamed chat: `delta` with `text`, then `done` or `error`."""

    def __iter__(self) -> Iterator[ChatEvent]:
        if self._begun:
            raise RuntimeError("A streamed chat can be iterated over once: its message is not sent again.")
        self._begun = True
        try:
            with closing(self._run()) as events:
                for event in events:
                    yield event
        except (ServiceConnectionError, httpx.StreamError):
            if not self._stop.is_set:
                raise

    def _run(self) -> Generator[ChatEvent, None, None]:
        try:
            response = self._transport.open(self._call)
        except ServiceError as error:
            failure = failure_of(error)
            if failure is None:
                raise
            yield ChatEvent(type="error", error=failure)
            return
        if _EVENTS not in response.headers.get("content-type", ""):
            yield self._whole(response)
            return
        request_id = request_id_of(response.headers)
        with closing(self._events(response, EventDecoder())) as events:
            for event in events:
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

    def _whole(self, response: httpx.Response) -> ChatEvent:
        body = b""
        try:
            for chunk in _chunks(self._transport, response, self._silence):
                body += chunk
        finally:
            response.close()
        try:
            return done_of(json_object(body))
        except ValueError:
            raise invalid_response(response, body, self._transport.redact) from None


class LogStream(_Events):
    """The entries of a log as they are written. Connections that break are made again."""

    def __iter__(self) -> Iterator[LogEntry]:
        failures = 0
        while not self._stop.is_set:
            asked: float | None = None
            try:
                with closing(self._entries()) as entries:
                    for entry in entries:
                        failures = 0
                        yield entry
            except (ServiceError, httpx.StreamError) as error:
                if self._stop.is_set:
                    return
                if isinstance(error, ServiceError):
                    if not self._begun or not _passes(error):
                        raise
                    asked = retry_after(error.headers)
            self._stop.wait(backoff(failures) if asked is None else min(asked, LONGEST_WAIT))
            failures += 1

    def _entries(self) -> Generator[LogEntry, None, None]:
        """Yields the entries after those that were read, until the connection ends."""
        decoder = EventDecoder(self._last_id)
        response = self._connect()
        self._begun = True
        with closing(self._events(response, decoder)) as events:
            for event in events:
                # Before the entry is yielded: whoever breaks off there has read it.
                self._last_id = event.last_id
                if event.name == "log":
                    yield cast(LogEntry, json_object(event.data))

    def _connect(self) -> httpx.Response:
        call = self._call
        if self._last_id is not None:
            call = replace(call, headers={**call.headers, "last-event-id": self._last_id})
        response = self._transport.open(call)
        if _EVENTS not in response.headers.get("content-type", ""):
            response.close()
            raise invalid_response(response, b"", self._transport.redact)
        return response


def _passes(error: ServiceError) -> bool:
    """Whether to connect again after an error of a stream that was connected before."""
    return error.status is None or error.status >= 500
