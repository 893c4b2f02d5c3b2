from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from conftest import Client
from server import Connection, Received, Server, refused

from berth import ServiceConflictError, ServiceConnectionError, ServiceError, ServiceRateLimitError

NOW = {"retry-after": "0"}
NOT_READY = {"detail": {"code": "vm_not_ready", "state": "starting", "execution_started": False}}
UNAVAILABLE = {"detail": {"code": "guest_command_unavailable", "execution_started": False}}


def killed(_: Received, connection: Connection) -> None:
    connection.reset()


def half(_: Received, connection: Connection) -> None:
    connection.begin(200, {"content-length": "100"})
    connection.send(b'{"id": ')


ORDINARY: dict[str, Callable[[Any], Any]] = {
    "GET": lambda berth: berth.agents.get("a"),
    "PUT": lambda berth: berth.end_users.put("u"),
    "PATCH": lambda berth: berth.agents.update("a", name="b"),
    "DELETE": lambda berth: berth.agents.delete("a"),
    "POST": lambda berth: berth.agents.create(name="a", template_id="echo"),
    "request": lambda berth: berth.request("POST", "/x", body={}, idempotency_key="mine"),
}
SPECIAL: dict[str, Callable[..., Any]] = {
    "chat": lambda berth, **more: berth.agents.chat("a", "hi", **more),
    "exec": lambda berth, **more: berth.agents.exec("a", "ls", **more),
    "computers.exec": lambda berth, **more: berth.computers.exec("a", "ls", **more),
    "actions": lambda berth, **more: berth.computers.actions("a", {"type": "wait"}, **more),
    "invoke": lambda berth, **more: berth.webhooks.invoke("a", "hi", **more),
    "upload": lambda berth, **more: berth.files.upload("a", b"x", name="x", **more),
    "request": lambda berth, **more: berth.request("POST", "/x", body={}),
}


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_ordinary_calls_are_repeated_with_one_key(
    client: Client, server: Server, name: str, status: int
) -> None:
    server.answer((status, refused("x"), NOW), (status, b"<p>", NOW), (200, {}))
    client.run(ORDINARY[name](client.berth))
    assert len(server.received) == 3
    keys = {request.headers.get("idempotency-key") for request in server.received}
    assert len(keys) == 1
    assert (keys != {None}) is (server.received[0].method == "POST")


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("answer", [killed, half])
def test_ordinary_calls_are_repeated_after_a_broken_connection(
    client: Client, server: Server, name: str, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berth._retry._FIRST_BACKOFF", 0.001)
    server.answer(answer, {})
    client.run(ORDINARY[name](client.berth))
    bodies = {request.body for request in server.received}
    assert (len(server.received), len(bodies)) == (2, 1)


def test_each_call_has_a_key_of_its_own_and_that_of_the_caller_wins(client: Client, server: Server) -> None:
    server.answer((201, {}))
    for options in ({}, {}, {"idempotency_key": "mine"}, {"headers": {"Idempotency-Key": "yours"}}):
        client.run(client.berth.agents.create(name="a", template_id="echo", **options))
    keys = [request.headers["idempotency-key"] for request in server.received]
    assert len(set(keys)) == 4
    assert keys[2:] == ["mine", "yours"]


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("more", [{}, {"idempotency_key": "mine"}])
def test_calls_that_may_act_twice_are_not_repeated(
    client: Client, server: Server, name: str, more: dict[str, Any]
) -> None:
    answers: list[Any] = [killed, half, (408, {}, NOW), (502, b"", NOW), (503, {}, NOW), (504, {}, NOW)]
    answers.append((409, refused("idempotency_in_progress"), NOW))
    for answer in answers:
        server.received.clear()
        server.answer(answer)
        with pytest.raises(ServiceError):
            client.run(SPECIAL[name](client.berth, **more))
        assert len(server.received) == 1
        expected = None if name == "request" else more.get("idempotency_key")
        assert server.received[0].headers.get("idempotency-key") == expected


@pytest.mark.parametrize(
    ("name", "repeated"),
    [
        ("chat", 3),
        ("actions", 3),
        ("invoke", 3),
        ("exec", 1),
        ("computers.exec", 1),
        ("upload", 1),
        ("request", 1),
    ],
)
def test_of_these_only_chats_actions_and_invokes_are_repeated_after_429(
    client: Client, server: Server, name: str, repeated: int
) -> None:
    server.answer((429, refused("rate_limited"), NOW))
    with pytest.raises(ServiceRateLimitError):
        client.run(SPECIAL[name](client.berth))
    assert len(server.received) == repeated


@pytest.mark.parametrize(("status", "body"), [(409, NOT_READY), (503, UNAVAILABLE)])
def test_a_command_is_repeated_if_it_certainly_did_not_start(
    client: Client, server: Server, status: int, body: dict[str, Any]
) -> None:
    server.answer((status, body, NOW), (status, body, NOW), {"exitCode": 0})
    assert client.run(client.berth.agents.exec("a", "ls")) == {"exitCode": 0}
    other = {"detail": {**body["detail"], "more": 1}}
    for refusal in ((status, other, NOW), (500, body, NOW), (503 if status == 409 else 409, body, NOW)):
        server.received.clear()
        server.answer(refusal)
        with pytest.raises(ServiceError):
            client.run(client.berth.agents.exec("a", "ls"))
        assert len(server.received) == 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 410, 413, 500, 501])
def test_other_refusals_are_final(client: Client, server: Server, status: int) -> None:
    server.answer((status, refused("x"), NOW))
    with pytest.raises(ServiceError):
        client.run(client.berth.agents.get("a"))
    assert len(server.received) == 1


def test_a_repeat_waits_for_its_first_attempt_and_only_a_repeat(client: Client, server: Server) -> None:
    busy = (409, refused("idempotency_in_progress"), NOW)
    server.answer((503, {}, NOW), busy, (201, {"id": "a"}))
    assert client.run(ORDINARY["POST"](client.berth)) == {"id": "a"}
    server.answer(busy)
    with pytest.raises(ServiceConflictError):
        client.run(ORDINARY["POST"](client.berth))
    assert len(server.received) == 4


def test_a_repeated_delete_takes_404_for_done(client: Client, server: Server) -> None:
    lost, gone = (503, {}, NOW), (404, refused("agent_not_found"))
    for delete, expected in (
        (lambda berth: berth.agents.delete("a"), None),
        (lambda berth: berth.files.delete("a", "x"), {"ok": True, "path": "x"}),
        (lambda berth: berth.end_users.revoke_tokens("a"), {"revoked": 0}),
    ):
        server.answer(lost, gone)
        assert client.run(delete(client.berth)) == expected
        server.answer(gone)
        with pytest.raises(ServiceError):
            client.run(delete(client.berth))
    server.answer(lost, gone)
    assert client.run(client.berth.request("DELETE", "/x")).status == 404
    server.answer(lost, gone)
    with pytest.raises(ServiceError):
        client.run(client.berth.agents.get("a"))


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_the_number_of_repeats_is_that_of_the_call_or_the_client(
    client: Client, server: Server, retries: int
) -> None:
    server.answer((503, {}, NOW))
    for berth, options in ((client.make(max_retries=retries), {}), (client.berth, {"max_retries": retries})):
        server.received.clear()
        with pytest.raises(ServiceError):
            client.run(berth.agents.get("a", **options))
        assert len(server.received) == retries + 1


def test_the_wait_is_what_the_service_asks_for(client: Client, server: Server) -> None:
    def later(seconds: float) -> str:
        return format_datetime(datetime.now(timezone.utc) + timedelta(seconds=seconds), usegmt=True)

    for ask in (lambda: "1", lambda: later(2)):
        asked = ask()
        server.answer((429, {}, {"retry-after": asked}), {})
        begun = time.monotonic()
        client.run(client.berth.agents.get("a"))
        assert time.monotonic() - begun > 0.4


@pytest.mark.parametrize("asked", ["61", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_longer_wait_than_a_minute_is_an_error_at_once(client: Client, server: Server, asked: str) -> None:
    server.answer((429, {}, {"retry-after": asked}))
    with pytest.raises(ServiceRateLimitError) as caught:
        client.run(client.berth.agents.get("a"))
    assert len(server.received) == 1
    assert (caught.value.retry_after or 0) > 60


def test_otherwise_the_waits_double_from_half_a_second_to_eight(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("berth._sync._transport.sleep", waits.append)
    monkeypatch.setattr("berth._async._transport.sleep", sleep)
    server.answer((503, {}, {"retry-after": "soon"}))
    with pytest.raises(ServiceError):
        client.run(client.berth.agents.get("a", max_retries=7))
    most = [0.5, 1, 2, 4, 8, 8, 8]
    assert len(waits) == len(most)
    assert all(0.75 * limit <= wait <= limit for wait, limit in zip(waits, most, strict=True))


def test_a_wait_that_would_pass_the_time_out_raises_the_last_error_at_once(
    client: Client, server: Server
) -> None:
    server.answer((503, refused("service_unavailable"), {"retry-after": "30"}))
    begun = time.monotonic()
    with pytest.raises(ServiceError) as caught:
        client.run(client.berth.agents.get("a", request_timeout=20))
    assert (caught.value.status, len(server.received)) == (503, 1)
    assert time.monotonic() - begun < 15


def test_a_connection_error_after_repeats_is_the_last_one(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berth._retry._FIRST_BACKOFF", 0.001)
    server.answer((503, {}, NOW), killed)
    with pytest.raises(ServiceConnectionError):
        client.run(client.berth.agents.get("a"))
    assert len(server.received) == 3
