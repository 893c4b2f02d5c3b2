# Generated from _async/_resource.py by scripts/generate_sync.py: change that file.
"""What all namespaces of a client have in common."""

from __future__ import annotations

from typing import Any

from .._call import Answer, Deadline
from .._requests import call
from ._pages import Page, pages
from ._transport import Transport


class Resource:
    """Methods that send calls of one part of the service."""

    def __init__(self, transport: Transport) -> None:
        self._transport: Transport = transport

    def _get(self, path: str, options: Any, /, **query: Any) -> Any:
        return self._transport.send(call("GET", path, options, query=query))

    def _send(self, method: str, path: str, options: Any, **more: Any) -> Any:
        return self._transport.send(call(method, path, options, **more))

    def _send_until(self, deadline: Deadline, method: str, path: str, options: Any, **more: Any) -> Any:
        return self._transport.send(call(method, path, options, **more), deadline)

    def _do(self, method: str, path: str, options: Any, **more: Any) -> None:
        self._transport.send(call(method, path, options, answer=Answer.NOTHING, **more))

    def _list(self, path: str, options: Any, /, **query: Any) -> Page[Any]:
        return pages(self._transport, call("GET", path, options, query=query, answer=Answer.LIST))
