"""What differs between the two clients beyond `async` and `await`; `_sync/_io.py` is its counterpart."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Generator
from types import TracebackType
from typing import TypeVar

import httpx

from .._call import Deadline, wait_of

T = TypeVar("T")

sleep = asyncio.sleep


async def run(work: Callable[..., T], *args: object) -> T:
    """Calls a function that may wait for a disk, so that nothing else waits for it."""
    return await asyncio.to_thread(work, *args)


async def pieces(body: Generator[bytes, None, None], deadline: Deadline) -> AsyncIterator[bytes]:
    """Yields the pieces of a body as they are read, until the deadline."""
    while (piece := await asyncio.to_thread(next, body, None)) is not None:
        if deadline.remaining() == 0:
            raise TimeoutError
        yield piece


if sys.version_info >= (3, 11):

    def limit(seconds: float) -> asyncio.Timeout:
        """Raises TimeoutError in its block after so many seconds."""
        return asyncio.timeout(wait_of(seconds))

else:

    class limit:
        """Raises TimeoutError in its block after so many seconds."""

        def __init__(self, seconds: float) -> None:
            self._seconds = wait_of(seconds)
            self._over = False

        async def __aenter__(self) -> None:
            task = asyncio.current_task()
            if task is None:
                raise RuntimeError("The client is used outside of a task.")
            self._task = task
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

        def _end(self) -> None:
            self._over = True
            self._task.cancel()

        async def __aexit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            self._timer.cancel()
            if self._over and kind is asyncio.CancelledError:
                raise TimeoutError from error


class Stop:
    """A flag that ends a wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Waits so many seconds, or until the flag is set."""
        try:
            async with limit(seconds):
                await self._event.wait()
        except TimeoutError:
            pass


async def interrupt(response: httpx.Response) -> None:
    """Closes a response that something else may be reading."""
    await response.aclose()
