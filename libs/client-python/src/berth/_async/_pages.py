"""Lists that are read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from .._call import Call
from ._transport import AsyncTransport

T = TypeVar("T")


class AsyncPage(Generic[T]):
    """One page of a list. Iterating over it yields its items and those of all pages after it.

    Attributes:
        items: The items of this page; a page may be empty without being the last.
        next_cursor: The `cursor` of the next page, or None on the last page.
    """

    def __init__(self, transport: AsyncTransport, call: Call, answer: dict[str, Any]) -> None:
        self._transport = transport
        self._call = call
        self.items: list[T] = cast("list[T]", answer["items"])
        self.next_cursor: str | None = answer.get("nextCursor")

    async def next_page(self) -> AsyncPage[T] | None:
        """Returns the page after this one, or None if this is the last."""
        if self.next_cursor is None:
            return None
        call = replace(self._call, query={**self._call.query, "cursor": self.next_cursor})
        return AsyncPage(self._transport, call, await self._transport.send(call))

    async def __aiter__(self) -> AsyncIterator[T]:
        page: AsyncPage[T] | None = self
        while page is not None:
            for item in page.items:
                yield item
            page = await page.next_page()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.items)} items, next_cursor={self.next_cursor!r})"


class AsyncPages(Generic[T]):
    """A list. Awaiting it returns its first page; iterating over it yields the items of all pages."""

    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        self._transport = transport
        self._call = call

    async def _first(self) -> AsyncPage[T]:
        return AsyncPage(self._transport, self._call, await self._transport.send(self._call))

    def __await__(self) -> Generator[Any, Any, AsyncPage[T]]:
        return self._first().__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for item in await self._first():
            yield item


def pages(transport: AsyncTransport, call: Call) -> AsyncPages[Any]:
    """Returns the list that a call reads."""
    return AsyncPages(transport, call)
