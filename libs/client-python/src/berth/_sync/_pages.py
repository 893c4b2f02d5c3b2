"""Lists that are read page by page; `_async/_pages.py` is the counterpart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from .._call import Call
from ._transport import Transport

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list. Iterating over it yields its items and those of all pages after it.

    Attributes:
        items: The items of this page; a page may be empty without being the last.
        next_cursor: The `cursor` of the next page, or None on the last page.
    """

    def __init__(self, transport: Transport, call: Call, answer: dict[str, Any]) -> None:
        self._transport = transport
        self._call = call
        self.items: list[T] = cast("list[T]", answer["items"])
        self.next_cursor: str | None = answer.get("nextCursor")

    def next_page(self) -> Page[T] | None:
        """Returns the page after this one, or None if this is the last."""
        if self.next_cursor is None:
            return None
        call = replace(self._call, query={**self._call.query, "cursor": self.next_cursor})
        return Page(self._transport, call, self._transport.send(call))

    def __iter__(self) -> Iterator[T]:
        page: Page[T] | None = self
        while page is not None:
            yield from page.items
            page = page.next_page()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.items)} items, next_cursor={self.next_cursor!r})"


def pages(transport: Transport, call: Call) -> Page[Any]:
    """Returns the first page of the list that a call reads."""
    return Page(transport, call, transport.send(call))
