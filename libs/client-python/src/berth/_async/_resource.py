"""What all namespaces of a client have in common."""

from __future__ import annotations

from typing import Any

from .._call import Answer, Deadline
from .._requests import call
from ._pages import AsyncPages, pages
from ._transport import AsyncTransport


class AsyncResource:
    """Methods that send calls of one part of the service."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport: AsyncTransport = transport

    async def _get(self, path: str, options: Any, /, **query: Any) -> Any:
        return await self._transport.send(call("GET", path, options, query=query))

    async def _send(self, method: str, path: str, options: Any, **more: Any) -> Any:
        return await self._transport.send(call(method, path, options, **more))

    async def _send_until(self, deadline: Deadline, method: str, path: str, options: Any, **more: Any) -> Any:
        return await self._transport.send(call(method, path, options, **more), deadline)

    async def _do(self, method: str, path: str, options: Any, **more: Any) -> None:
        await self._transport.send(call(method, path, options, answer=Answer.NOTHING, **more))

    def _list(self, path: str, options: Any, /, **query: Any) -> AsyncPages[Any]:
        return pages(self._transport, call("GET", path, options, query=query, answer=Answer.LIST))
