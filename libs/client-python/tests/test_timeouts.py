from __future__ import annotations

import asyncio
import math
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import KEY, Client
from server import EVENTS, Connection, Received, Server

from berth import AsyncBerth, ServiceConnectionError, ServiceError
from berth._call import Prepared


def silent(_: Received, connection: Connection) -> None:
    connection.wait_until_closed()


def dripping(_: Received, connection: Connection) -> None:
    connection.begin(200, {"transfer-encoding": "chunked"})
    try:
        while True:
            connection.chunk(b" ")
            time.sleep(0.02)
    except OSError:
        pass


@pytest.mark.parametrize("answer", [silent, dripping])
def test_the_time_out_bounds_the_whole_call(client: Client, server: Server, answer: Any) -> None:
    server.answer(answer)
    begun = time.monotonic()
    with pytest.raises(ServiceConnectionError) as caught:
        client.run(client.berth.agents.get("a", request_timeout=0.3))
    assert (caught.value.code, caught.value.status) == ("timeout", None)
    assert 0.25 < time.monotonic() - begun < 5
    assert len(server.received) == 1
    assert caught.value.cause is not None


def test_the_time_out_bounds_the_repeats_too(client: Client, server: Server) -> None:
    server.answer((503, {}, {"retry-after": "0"}))
    begun = time.monotonic()
    with pytest.raises(ServiceError):
        client.run(client.berth.agents.get("a", request_timeout=0.5, max_retries=1_000_000))
    assert time.monotonic() - begun < 5


def test_a_server_that_does_not_read_the_body_is_not_waited_for_longer(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        berth = client.make(base_url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        with pytest.raises(ServiceConnectionError) as caught:
            client.run(berth.files.upload("a", bytes(20_000_000), name="x", request_timeout=0.3))
    assert caught.value.code == "timeout"


@pytest.mark.parametrize(
    ("method", "seconds"),
    [
        (lambda berth, **more: berth.agents.get("a", **more), 90),
        (lambda berth, **more: berth.agents.chat("a", "hi", **more), 620),
        (lambda berth, **more: berth.computers.actions("a", [], **more), 700),
        (lambda berth, **more: berth.files.upload("a", b"", name="x", **more), 3_600),
        (lambda berth, **more: berth.files.write("a", "x", "", **more), 3_600),
        (lambda berth, **more: berth.computers.upload("a", "x", b"", **more), 3_600),
        (lambda berth, **more: berth.agents.exec("a", "ls", **more), 90),
        (lambda berth, **more: berth.agents.exec("a", "ls", timeout=30, **more), 90),
        (lambda berth, **more: berth.agents.exec("a", "ls", timeout=300, **more), 330),
        (lambda berth, **more: berth.agents.exec("a", "ls", timeout=300, detached=True, **more), 90),
        (lambda berth, **more: berth.computers.exec("a", "ls", timeout=300, **more), 330),
        (lambda berth, **more: berth.agents.exec("a", "ls", timeout=1e300, **more), 1e300),
    ],
)
def test_each_method_has_its_time_out_and_that_of_the_call_wins(
    client: Client,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    method: Callable[..., Any],
    seconds: float,
) -> None:
    seen: list[float] = []
    prepare = Prepared.__init__

    def record(self: Prepared, *arguments: Any) -> None:
        prepare(self, *arguments)
        seen.append(self.timeout)

    monkeypatch.setattr(Prepared, "__init__", record)
    client.run(method(client.berth))
    client.run(method(client.berth, request_timeout=7))
    client.run(method(client.berth, request_timeout=math.inf))
    assert seen == [seconds, 7, math.inf]


def slow(head: dict[str, str], *pieces: bytes, then: str) -> Callable[[Received, Connection], None]:
    """Sends pieces with short pauses between them, for 1.7 s in all."""

    def answer(_: Received, connection: Connection) -> None:
        connection.begin(200, {"transfer-encoding": "chunked", **head})
        for piece in pieces:
            time.sleep(1.7 / len(pieces))
            connection.chunk(piece)
        if then == "end":
            connection.send(b"0\r\n\r\n")
        connection.wait_until_closed()

    return answer


DELTA = b'event: delta\ndata: {"text": "a"}\n\n'
DONE = b'event: done\ndata: {"response": "a"}\n\n'


def test_a_stream_may_take_longer_than_its_time_out_but_not_be_silent_for_so_long(
    client: Client, server: Server
) -> None:
    server.answer(slow(EVENTS, *[DELTA] * 16, DONE, then="wait"))
    assert len(client.collect(client.berth.agents.chat_stream("a", "hi", request_timeout=1.5))) == 17
    server.answer(slow(EVENTS, then="wait"))
    with pytest.raises(ServiceConnectionError) as caught:
        client.collect(client.berth.agents.chat_stream("a", "hi", request_timeout=0.2))
    assert caught.value.code == "timeout"


def test_a_download_is_bounded_by_its_silences(client: Client, server: Server) -> None:
    server.answer(slow({}, *[b"a"] * 17, then="end"))
    download = client.run(client.berth.files.download("a", "x", request_timeout=1.5))
    assert len(client.run(download.read())) == 17
    server.answer(slow({}, then="wait"))
    with pytest.raises(ServiceConnectionError) as caught:
        client.run(client.run(client.berth.files.download("a", "x", request_timeout=0.4)).read())
    assert caught.value.code == "timeout"
    server.answer(silent)
    with pytest.raises(ServiceConnectionError):
        client.run(client.berth.files.download("a", "x", request_timeout=0.2))


def test_a_repeated_download_may_be_silent_for_as_long_as_any(client: Client, server: Server) -> None:
    def busy(_: Received, connection: Connection) -> Any:
        time.sleep(0.05)
        return 503, {}, {"retry-after": "0"}

    server.answer(busy, (200, b"abcd"))
    download = client.run(client.berth.files.download("a", "x", request_timeout=30))
    assert download._response.request.extensions["timeout"]["read"] == 30
    assert client.run(download.read()) == b"abcd"


def test_cancelling_ends_a_call_at_once_with_its_own_reason(server: Server) -> None:
    server.answer(silent)

    async def cancel() -> None:
        async with AsyncBerth(KEY, server.url) as berth:
            for work in (berth.agents.get("a"), berth.agents.chat("a", "hi"), berth.files.download("a", "x")):
                task = asyncio.ensure_future(work)
                while not server.received:
                    await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                server.received.clear()

    asyncio.run(cancel())


def test_waiting_for_a_deployment_has_half_an_hour_for_all_its_calls(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berth._sync.deployments._FIRST_PAUSE", 0.01)
    monkeypatch.setattr("berth._async.deployments._FIRST_PAUSE", 0.01)
    server.answer({"status": "queued"}, {"status": "building"}, {"status": "failed", "error": {}})
    assert client.run(client.berth.deployments.wait("a", "d"))["status"] == "failed"
    assert {request.path for request in server.received} == {"/api/agents/a/deployments/d"}
    server.answer({"status": "building"})
    with pytest.raises(ServiceConnectionError) as caught:
        client.run(client.berth.deployments.wait("a", "d", request_timeout=0.3))
    assert caught.value.code == "timeout"
