"""Server-sent events, as the HTML standard defines them."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ServerSentEvent:
    """One event. `last_id` is the id that a client sends as `Last-Event-ID` after it."""

    name: str
    data: str
    last_id: str | None


class EventDecoder:
    """Makes events of the pieces of a stream, wherever they are cut."""

    def __init__(self, last_id: str | None = None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._name = ""
        self._data: list[str] = []
        self.last_id = last_id

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """Yields the events that the piece completes."""
        for line in self._lines(self._decoder.decode(piece)):
            event = self._take(line)
            if event is not None:
                yield event

    def _lines(self, text: str) -> list[str]:
        # str.splitlines() would also end lines where JSON may contain a character of Unicode.
        pending = self._rest + text
        held = "\r" if pending.endswith("\r") else ""
        pending = pending[: len(pending) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
        *lines, last = pending.split("\n")
        self._rest = last + held
        return lines

    def _take(self, line: str) -> ServerSentEvent | None:
        if line == "":
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self.last_id = value or None
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        name, data = self._name or "message", self._data
        self._name, self._data = "", []
        return ServerSentEvent(name, "\n".join(data), self.last_id) if data else None
