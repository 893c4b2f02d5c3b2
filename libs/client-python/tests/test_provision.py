from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from conftest import KEY, Client
from server import Connection, Received, Server, refused

from berth import Berth, ServiceConflictError

AGENT = {"id": "agt_1", "name": "n", "externalId": "x"}
NONE = {"items": [], "nextCursor": None}
WANTED = {"external_id": "x", "name": "n", "template": "echo"}


def test_an_agent_that_exists_is_returned_unchanged(client: Client, server: Server) -> None:
    server.answer({"items": [], "nextCursor": "c"}, {"items": [AGENT]})
    assert client.run(client.berth.agents.provision(**WANTED, instructions="other")) == AGENT
    assert [request.method for request in server.received] == ["GET", "GET"]
    assert server.received[0].query == [("externalId", "x")]


def test_one_that_does_not_is_created_from_the_template(client: Client, server: Server) -> None:
    server.answer(NONE, (201, AGENT))
    made = client.run(client.berth.agents.provision(**WANTED, idle_ttl_seconds=0, labels={"a": "b"}))
    assert made == AGENT
    assert server.received[1].json == {
        "externalId": "x",
        "name": "n",
        "templateId": "echo",
        "idleTtlSeconds": 0,
        "labels": {"a": "b"},
    }


@pytest.mark.parametrize("code", ["external_id_taken", "agent_name_taken"])
def test_the_winner_of_a_race_is_returned_once_it_is_seen(client: Client, server: Server, code: str) -> None:
    taken = (409, refused(code, agentId="agt_1"))
    unknown = (404, refused("agent_not_found"))
    server.answer(NONE, taken, NONE, unknown, NONE, unknown, {"items": [AGENT]})
    assert client.run(client.berth.agents.provision(**WANTED)) == AGENT


def test_a_name_that_another_agent_has_is_a_conflict_at_once(client: Client, server: Server) -> None:
    taken = (409, refused("agent_name_taken", agentId="agt_2"))
    server.answer(NONE, taken, NONE, {"id": "agt_2", "externalId": None})
    begun = time.monotonic()
    with pytest.raises(ServiceConflictError) as caught:
        client.run(client.berth.agents.provision(**WANTED))
    assert caught.value.code == "agent_name_taken"
    assert time.monotonic() - begun < 4


def test_an_agent_that_is_never_seen_is_a_conflict_in_the_end(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("_sync", "_async"):
        monkeypatch.setattr(f"berth.{module}.agents._LOOK_UP_SECONDS", 0.5)

    def answer(request: Received, _: Connection) -> Any:
        if request.method == "POST":
            return 409, refused("external_id_taken", agentId="agt_1")
        return NONE if request.path == "/api/agents" else (404, refused("agent_not_found"))

    server.answer(answer)
    with pytest.raises(ServiceConflictError) as caught:
        client.run(client.berth.agents.provision(**WANTED))
    assert caught.value.code == "external_id_taken"


def test_other_conflicts_are_raised(client: Client, server: Server) -> None:
    server.answer(NONE, (409, refused("idempotency_key_reused")))
    with pytest.raises(ServiceConflictError):
        client.run(client.berth.agents.provision(**WANTED))
    assert len(server.received) == 2


def test_an_empty_external_id_finds_nobody(client: Client, server: Server) -> None:
    with pytest.raises(ValueError, match="external id"):
        client.run(client.berth.agents.provision(external_id="", name="n", template="echo"))
    assert server.received == []


def test_threads_share_a_client(server: Server) -> None:
    server.answer({"items": [AGENT]})
    with Berth(KEY, server.url) as berth:
        found: list[Any] = []
        threads = [
            threading.Thread(target=lambda: found.append(berth.agents.provision(**WANTED))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [AGENT] * 8
