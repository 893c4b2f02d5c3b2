from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from conftest import Client
from server import Server


def test_an_id_fills_one_segment_of_the_path(client: Client, server: Server) -> None:
    for given, sent in (
        ("a/b", "a%2Fb"),
        ("a b?c#d", "a%20b%3Fc%23d"),
        ("%2e", "%252e"),
        ("..a", "..a"),
        ("ü@x:y+z", "%C3%BC%40x%3Ay%2Bz"),
    ):
        client.run(client.berth.end_users.get(given))
        assert server.received[-1].target == f"/api/v1/end-users/{sent}"
    client.run(client.berth.deployments.get("a/b", "c/d"))
    assert server.received[-1].target == "/api/agents/a%2Fb/deployments/c%2Fd"


@pytest.mark.parametrize("given", ["", ".", "..", None, 7, b"a", "\ud800"])
def test_what_is_no_id_is_not_sent(client: Client, server: Server, given: Any) -> None:
    for call in (
        lambda: client.berth.agents.get(given),
        lambda: client.berth.env.delete("a", given),
        lambda: client.berth.webhooks.redeliver("a", given),
    ):
        with pytest.raises(ValueError, match="."):
            client.run(call())
    assert server.received == []


@pytest.mark.parametrize(
    "call",
    [
        lambda b: b.agents.create(name="a", template_id="t", labels={"a": float("nan")}),
        lambda b: b.agents.create(name="\ud800", template_id="t"),
        lambda b: b.agents.create(name=object(), template_id="t"),
        lambda b: b.agents.exec("a", ""),
        lambda b: b.agents.exec("a", []),
        lambda b: b.agents.exec("a", {"a": 1}),
        lambda b: b.agents.exec("a", "ls", timeout=float("inf")),
        lambda b: b.agents.exec("a", "ls", timeout=0),
        lambda b: b.agents.exec("a", "ls", timeout=True),
        lambda b: b.agents.exec("a", "ls", timeout="5"),
        lambda b: b.files.write("a", "x", b"bytes"),
        lambda b: b.files.write("a", "", "text"),
        lambda b: b.files.download("a", ""),
        lambda b: b.files.mkdir("a", None),
        lambda b: b.keys.mint(name="a", scopes=[], expires_at=datetime(2026, 1, 1)),
        lambda b: b.agents.logs("a", since=datetime(2026, 1, 1)),
        lambda b: b.agents.logs("a", limit=float("nan")),
        lambda b: b.agents.logs("a", level={"a": 1}),
        lambda b: b.webhooks.invoke("a", "hi", token=""),
        lambda b: b.webhooks.invoke("a", "hi", token="a\nb"),
        lambda b: b.webhooks.invoke("a", {"a": {1, 2}}),
        lambda b: b.computers.actions("c", "click"),
        lambda b: b.request("GET", "api/agents"),
        lambda b: b.request("GET", "//example.org/"),
        lambda b: b.request("GET", "https://example.org/"),
        lambda b: b.request("GET", "/a/../b"),
        lambda b: b.request("GET", "/a/%2e%2E/b"),
        lambda b: b.request("GET", "/a b"),
        lambda b: b.request("GET", "/a\r\nHost: b"),
        lambda b: b.request("GET", "/\\example.org"),
        lambda b: b.request("G T", "/a"),
        lambda b: b.request("", "/a"),
    ],
)
def test_what_cannot_be_sent_is_a_value_error_and_nothing_is_sent(
    client: Client, server: Server, call: Any
) -> None:
    with pytest.raises(ValueError, match="."):
        client.run(call(client.berth))
    assert server.received == []


def test_a_list_within_itself_is_a_value_error(client: Client) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="."):
        client.run(client.berth.request("POST", "/x", body=endless))


def test_none_is_null_and_what_is_left_out_is_not_sent(client: Client, server: Server) -> None:
    client.run(client.berth.end_users.put("u", display_name=None))
    client.run(client.berth.end_users.put("u"))
    client.run(client.berth.agents.logs("a", level=None, limit=3))
    assert [request.body for request in server.received[:2]] == [b'{"displayName":null}', b"{}"]
    assert server.received[2].query == [("limit", "3")]


def test_request_reaches_any_route(client: Client, server: Server) -> None:
    server.answer(
        (201, {"a": 1}, {"x-a": "b"}),
        (200, b"text", {"content-type": "text/plain"}),
        (204, None),
    )
    request = client.berth.request
    answer = client.run(
        request("post", "/x?c=d", query={"a": [1, "b"], "e": True, "f": None}, body={"k": None})
    )
    assert (answer.status, answer.headers["X-A"], answer.data) == (201, "b", {"a": 1})
    assert (answer["status"], answer["data"]) == (201, {"a": 1})
    assert server.received[0].target == "/x?c=d&a=1&a=b&e=true"
    assert server.received[0].body == b'{"k":null}'
    assert "idempotency-key" not in server.received[0].headers
    assert client.run(request("GET", "/x")).data == "text"
    assert client.run(request("PUT", "/x", body=None, headers={"Content-Type": "application/x"})).data is None
    assert (server.received[2].body, server.received[2].headers["content-type"]) == (b"null", "application/x")


def test_an_invoke_sends_objects_texts_and_bytes_as_they_are(client: Client, server: Server) -> None:
    for body in ({"message": "é"}, "é", b"\xff"):
        client.run(client.berth.webhooks.invoke("a", body))
    sent = [(one.headers["content-type"].partition(";")[0], one.body) for one in server.received]
    assert sent == [
        ("application/json", '{"message":"é"}'.encode()),
        ("text/plain", "é".encode()),
        ("application/octet-stream", b"\xff"),
    ]


def test_members_that_the_service_adds_later_pass_through(client: Client, server: Server) -> None:
    server.answer({"id": "a", "later": {"x": [1]}})
    assert client.run(client.berth.agents.get("a")) == {"id": "a", "later": {"x": [1]}}
    assert json.dumps(client.run(client.berth.request("GET", "/x")).data)
