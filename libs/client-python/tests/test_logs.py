from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from conftest import KEY, Client
from server import EVENTS, Connection, Received, Server, refused

from berth import (
    AsyncBerth,
    Berth,
    ServiceConnectionError,
    ServiceError,
    ServiceNotFoundError,
    ServiceRateLimitError,
)


def entry(number: int) -> dict[str, Any]:
    return {"timestamp": "t", "level": "info", "source": "agent", "message": f"{number}"}


def log(number: int, last_id: str | None = None) -> bytes:
    head = "" if last_id is None else f"id: {last_id}\n"
    return f"{head}event: log\ndata: {json.dumps(entry(number))}\n\n".encode()


def sends(*events: bytes, then: str = "cut") -> Any:
    def answer(_: Received, connection: Connection) -> None:
        connection.begin(200, EVENTS)
        for event in events:
            connection.chunk(event)
        if then == "end":
            connection.send(b"0\r\n\r\n")
        elif then == "wait":
            connection.wait_until_closed()

    return answer


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berth._retry._FIRST_BACKOFF", 0.002)


def test_a_broken_connection_is_made_again_after_the_last_entry(client: Client, server: Server) -> None:
    server.answer(
        sends(log(1), log(2, "two"), b": comment\n\n"),
        sends(log(3), then="end"),
        (503, refused("service_unavailable"), {"retry-after": "0"}),
        (429, refused("rate_limited"), {"retry-after": "0"}),
        sends(b'event: end\ndata: {"code": "x"}\n\n', log(4, "four"), b"id: five\n\n", then="wait"),
    )
    followed = client.berth.agents.follow_logs("a", level="warn", since="2026-01-01T00:00:00Z")
    assert client.take(followed, 4) == [entry(1), entry(2), entry(3), entry(4)]
    ids = [request.headers.get("last-event-id") for request in server.received]
    assert ids == [None, "two", "two", "two", "two"]
    server.answer(sends(log(5), then="wait"))
    assert client.take(followed, 1) == [entry(5)]
    assert server.received[-1].headers["last-event-id"] == "four"
    assert server.received[4].query == [
        ("follow", "true"),
        ("level", "warn"),
        ("since", "2026-01-01T00:00:00Z"),
    ]


def test_a_connection_that_breaks_before_its_first_entry_is_made_again(
    client: Client, server: Server
) -> None:
    server.answer(sends(), sends(then="end"), sends(log(1), then="wait"))
    assert client.take(client.berth.agents.follow_logs("a"), 1) == [entry(1)]


def test_what_the_service_refuses_is_raised(client: Client, server: Server) -> None:
    server.answer((404, refused("agent_not_found")))
    with pytest.raises(ServiceNotFoundError):
        client.collect(client.berth.agents.follow_logs("a"))
    server.answer(sends(log(1)), (404, refused("agent_not_found")))
    with pytest.raises(ServiceNotFoundError):
        client.collect(client.berth.agents.follow_logs("a"))
    server.answer(sends(log(1)), (429, refused("rate_limited"), {"retry-after": "0"}))
    with pytest.raises(ServiceRateLimitError):
        client.collect(client.berth.agents.follow_logs("a"))
    server.answer((200, {"logs": []}))
    with pytest.raises(ServiceError) as caught:
        client.collect(client.berth.agents.follow_logs("a"))
    assert caught.value.code == "invalid_response"


def test_a_service_that_was_never_reached_is_a_connection_error(client: Client, server: Server) -> None:
    server.answer(lambda _, connection: connection.reset())
    with pytest.raises(ServiceConnectionError):
        client.collect(client.berth.agents.follow_logs("a"))
    assert len(server.received) == 3


def test_close_ends_the_iteration_of_another_thread_quietly(server: Server) -> None:
    server.answer(sends(log(1), then="wait"))
    with Berth(KEY, server.url) as berth:
        stream = berth.agents.follow_logs("a")
        entries: list[Any] = []

        def read() -> None:
            entries.extend(stream)

        thread = threading.Thread(target=read)
        thread.start()
        while not server.received or stream._response is None:
            time.sleep(0.01)
        time.sleep(0.05)
        stream.close()
        thread.join(10)
        assert not thread.is_alive()
        assert entries == [entry(1)]
        assert list(stream) == []


def test_close_ends_the_iteration_of_another_task_quietly(server: Server) -> None:
    server.answer(sends(log(1), then="wait"))

    async def follow() -> None:
        async with AsyncBerth(KEY, server.url) as berth:
            stream = berth.agents.follow_logs("a")

            async def read() -> list[Any]:
                return [one async for one in stream]

            task = asyncio.create_task(read())
            while stream._response is None:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            await stream.close()
            assert await asyncio.wait_for(task, 10) == [entry(1)]

    asyncio.run(follow())


def test_close_ends_a_wait_between_connections(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berth._retry._FIRST_BACKOFF", 60)
    monkeypatch.setattr("berth._retry._LONGEST_BACKOFF", 60)
    server.answer(sends(log(1), then="end"))
    with Berth(KEY, server.url) as berth, berth.agents.follow_logs("a") as stream:
        threading.Timer(0.1, stream.close).start()
        assert list(stream) == [entry(1)]
