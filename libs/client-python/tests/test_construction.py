from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import httpx
import pytest
from conftest import KEY, Client
from server import Server

from berth import AsyncBerth, Berth, ServiceAuthError, __version__

BOTH = pytest.mark.parametrize("kind", [Berth, AsyncBerth])


def test_options_win_over_the_environment_and_that_over_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTH_API_KEY", "mk_environment")
    assert Berth().base_url == "http://localhost:8080"
    monkeypatch.setenv("BERTH_URL", "http://environment/")
    assert Berth().base_url == "http://environment"
    assert Berth("mk_option", "http://option:81/path/").base_url == "http://option:81/path"


def test_the_key_of_the_options_is_sent_without_the_white_space_around_it(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTH_API_KEY", " mk_environment\n")
    client.run(client.berth.account.get())
    with Berth(base_url=server.url) as other:
        other.account.get()
    sent = [request.headers["authorization"] for request in server.received]
    assert sent == [f"Bearer {KEY}", "Bearer mk_environment"]
    assert server.received[0].headers["user-agent"] == f"berth-client-python/{__version__}"


@BOTH
@pytest.mark.parametrize("key", [None, "", "  ", "mk_\nx", "mk_é", "mk_\u2028x", "mk_\x7f"])
def test_without_a_key_that_a_header_can_carry_none_is_made(
    kind: Any, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTH_API_KEY", "")
    with pytest.raises(ServiceAuthError, match="berth keys mint") as caught:
        kind(key)
    assert caught.value.status is None
    assert not (key or "").strip() or str(key) not in str(caught.value)


@BOTH
def test_nothing_that_shows_a_client_shows_its_key(kind: Any) -> None:
    client = kind(KEY, headers={"x-tenant": "a"})
    for shown in (repr(client), str(client), repr(vars(client)), repr(client._transport.settings.auth)):
        assert KEY not in shown
    with pytest.raises(TypeError):
        json.dumps(client)
    for serialised in (lambda: pickle.dumps(client), lambda: copy.deepcopy(client)):
        with pytest.raises(TypeError):
            serialised()


@BOTH
@pytest.mark.parametrize(
    "options",
    [
        {"base_url": url}
        for url in ("", "localhost:8080", "ftp://x", "http://", "http://u:p@x", "http://x?a=1", "http://x#a")
    ]
    + [{"timeout": value} for value in (0, -1, float("nan"), True, "9", None)]
    + [{"max_retries": value} for value in (-1, 1.5, True, None)]
    + [{"headers": value} for value in ({"a b": "c"}, {"a": "b\n"}, {"a": "\u20ac"}, {"a": 1}, ["a"])]
    + [{"http_client": object()}],
)
def test_options_that_cannot_hold_are_refused(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="."):
        kind(KEY, **options)


def test_the_path_of_the_base_url_is_kept(client: Client, server: Server) -> None:
    berth = client.make(base_url=f"{server.url}/berth/api//")
    client.run(berth.agents.get("agt_1"))
    client.run(berth.request("GET", "/health"))
    paths = [request.path for request in server.received]
    assert paths == ["/berth/api/api/agents/agt_1", "/berth/api/health"]


def test_headers_of_a_call_win_over_those_of_the_client(client: Client, server: Server) -> None:
    berth = client.make(headers={"X-Tenant": "client", "X-Trace": "1"})
    client.run(berth.account.get(headers={"x-tenant": "call"}))
    sent = server.received[0].headers
    assert (sent["x-tenant"], sent["x-trace"], sent["authorization"]) == ("call", "1", f"Bearer {KEY}")


def test_closing_closes_own_connections_and_leaves_those_of_the_caller(server: Server) -> None:
    with httpx.Client() as theirs:
        with Berth(KEY, server.url, http_client=theirs) as berth:
            berth.account.get()
        assert not theirs.is_closed
    with Berth(KEY, server.url) as berth:
        berth.account.get()
    with pytest.raises(RuntimeError):
        berth.account.get()


def test_an_unknown_keyword_is_a_type_error(client: Client, server: Server) -> None:
    with pytest.raises(TypeError, match="'idle_ttl'"):
        client.run(client.berth.agents.create(name="a", template_id="echo", idle_ttl=1))
    assert server.received == []


@pytest.mark.parametrize(
    "options",
    [{"request_timeout": 0}, {"max_retries": -1}, {"idempotency_key": ""}, {"idempotency_key": "é"}]
    + [{"idempotency_key": "a" * 256}, {"headers": {"a": "\r\n"}}],
)
def test_options_of_calls_that_cannot_hold_are_refused(
    client: Client, server: Server, options: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="."):
        client.run(client.berth.account.get(**options))
    assert server.received == []
