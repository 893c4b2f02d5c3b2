"""A small HTTP server on a real socket that answers as a test says."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Connection:
    """The connection of a request, on which a test may send whatever it likes."""

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer

    def send(self, content: bytes) -> None:
        self._peer.sendall(content)

    def begin(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Sends a head; the body ends with the connection unless the headers say otherwise."""
        lines = [f"HTTP/1.1 {status} Status"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode())

    def chunk(self, content: bytes) -> None:
        """Sends a chunk of a body whose head said `Transfer-Encoding: chunked`."""
        self.send(f"{len(content):x}\r\n".encode() + content + b"\r\n")

    def wait_until_closed(self) -> None:
        """Waits until the client closes the connection."""
        try:
            while self._peer.recv(65_536):
                pass
        except OSError:
            pass

    def reset(self) -> None:
        """Closes it in the way of a program that is killed."""
        self._peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._peer.close()


Answer: TypeAlias = "Callable[[Received, Connection], Any] | tuple[Any, ...] | dict[str, Any] | list[Any]"
EVENTS = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}


class Server:
    """Serves one answer after the other, and the last of them from then on.

    An answer is a JSON value, `(status, value)`, `(status, value, headers)`, where a value of bytes is
    sent as it is, or a function of the request and its connection that returns one of these; if it
    returns None, the connection is closed.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: list[Answer] = [{}]
        self._lock = threading.Lock()
        self._peers: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def answer(self, *answers: Answer) -> None:
        """Sets the answers to the next requests."""
        self.answers = list(answers)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            peers = list(self._peers)
        for peer in peers:
            try:
                peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(peer,))
            with self._lock:
                self._peers.append(peer)
                self._threads.append(thread)
            thread.start()

    def _serve(self, peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with peer, peer.makefile("rb") as stream:
                while (request := _read(stream)) is not None:
                    if not self._answer(request, peer):
                        return
        except OSError:
            pass

    def _answer(self, request: Received, peer: socket.socket) -> bool:
        with self._lock:
            self.received.append(request)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(request, Connection(peer))
            if answer is None:
                return False
        status, value, headers = _parts(answer)
        body = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
        sent = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        Connection(peer).begin(status, sent)
        peer.sendall(body)
        return True


def _parts(answer: Any) -> tuple[int, Any, Mapping[str, str]]:
    if not isinstance(answer, tuple):
        return 200, answer, {}
    status, value, *more = answer
    return status, value, more[0] if more else {}


def _read(stream: Any) -> Received | None:
    first = stream.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while (line := stream.readline().decode("latin-1").rstrip("\r\n")) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Received(first[0], first[1], headers, _body(stream, headers))


def _body(stream: Any, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return bytes(stream.read(int(headers.get("content-length", "0"))))
    parts: list[bytes] = []
    while (size := int(stream.readline(), 16)) > 0:
        parts.append(stream.read(size))
        stream.readline()
    stream.readline()
    return b"".join(parts)


def refused(code: str, **more: Any) -> dict[str, Any]:
    """The body of a refusal."""
    return {"detail": {"code": code, "message": f"It is {code}.", **more}}
