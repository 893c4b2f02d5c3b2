"""What differs between the two clients beyond `async` and `await`; `_async/_io.py` is its counterpart."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import httpx

from .._call import Deadline, wait_of

T = TypeVar("T")

sleep = time.sleep


def run(work: Callable[..., T], *args: object) -> T:
    """Calls a function that may wait for a disk."""
    return work(*args)


def pieces(body: Generator[bytes, None, None], deadline: Deadline) -> Iterator[bytes]:
    """Yields the pieces of a body as they are read, until the deadline."""
    for piece in body:
        if deadline.remaining() == 0:
            raise TimeoutError
        yield piece


def limit(_seconds: float) -> contextlib.AbstractContextManager[None]:
    """Does nothing: each wait for the network has a limit of its own."""
    return contextlib.nullcontext()


class Stop:
    """A flag that ends a wait, also from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Waits so many seconds, or until the flag is set."""
        self._event.wait(wait_of(seconds))


def interrupt(response: httpx.Response) -> None:
    """Ends the wait of another thread for more of a response; that thread then closes it."""
    stream = response.extensions.get("network_stream")
    connection = None if stream is None else stream.get_extra_info("socket")
    if isinstance(connection, socket.socket):
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    else:
        response.close()
