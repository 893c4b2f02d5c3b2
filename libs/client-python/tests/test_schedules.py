from __future__ import annotations

import asyncio
from typing import Any

import pytest
from server import Server, refused

from berth import ServiceError, apublish_schedules, inside_agent, publish_schedules

ENTRIES = [{"id": "daily", "cron": "0 9 * * *", "tz": "Europe/Berlin", "prompt": "Good morning"}]


def publish_asynchronously(entries: Any) -> Any:
    return asyncio.run(apublish_schedules(entries))


BOTH = pytest.mark.parametrize("publish", [publish_schedules, publish_asynchronously])


@BOTH
@pytest.mark.parametrize("known", [{}, {"BERTH_API_URL": "http://127.0.0.1:9"}, {"BERTH_AGENT_TOKEN": "x"}])
def test_outside_an_agent_it_does_nothing(
    publish: Any, known: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"BERTH_API_KEY": "mk_x", "BERTH_AGENT_TOKEN": "", **known}.items():
        monkeypatch.setenv(name, value)
    assert not inside_agent()
    for entries in (ENTRIES, [], None, object()):
        assert publish(entries) is None


@BOTH
def test_inside_an_agent_it_sends_the_whole_list(
    publish: Any, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTH_API_URL", server.url)
    monkeypatch.setenv("BERTH_AGENT_TOKEN", "token")
    assert inside_agent()
    server.answer({"entries": 1}, {"entries": 0}, (400, refused("invalid_schedule")))
    assert publish(ENTRIES) == {"entries": 1}
    assert publish([]) == {"entries": 0}
    with pytest.raises(ServiceError) as caught:
        publish(ENTRIES)
    assert caught.value.code == "invalid_schedule"
    assert [request.json for request in server.received][:2] == [{"entries": ENTRIES}, {"entries": []}]
    first = server.received[0]
    assert (first.method, first.path) == ("PUT", "/agent/v1/schedules")
    assert first.headers["authorization"] == "Bearer token"
