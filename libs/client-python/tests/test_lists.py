from __future__ import annotations

from typing import Any

import pytest
from conftest import Client
from server import Server

PAGES = (
    {"items": [{"id": "1"}, {"id": "2"}], "nextCursor": "b"},
    {"items": [], "nextCursor": "c d"},
    {"items": [{"id": "3"}], "nextCursor": None},
)
ALL = ["1", "2", "3"]


def test_iterating_reads_all_pages_with_the_same_query(client: Client, server: Server) -> None:
    server.answer(*PAGES)
    listed = client.berth.agents.list(external_user_id="u", limit=2, headers={"x-a": "b"})
    assert [agent["id"] for agent in client.collect(listed)] == ALL
    shared = [("externalUserId", "u"), ("limit", "2")]
    queries = [sorted(request.query) for request in server.received]
    assert queries == [shared, [("cursor", "b"), *shared], [("cursor", "c d"), *shared]]
    assert {request.headers["x-a"] for request in server.received} == {"b"}


def test_a_page_has_items_and_a_cursor_and_iterates_over_the_rest(client: Client, server: Server) -> None:
    server.answer(*PAGES)
    page = client.run(client.berth.agents.list())
    assert ([item["id"] for item in page.items], page.next_cursor) == (["1", "2"], "b")
    assert len(server.received) == 1
    assert [agent["id"] for agent in client.collect(page)] == ALL
    server.answer(PAGES[2])
    last = client.run(client.berth.agents.list(cursor="c d"))
    assert last.next_cursor is None
    assert client.run(last.next_page()) is None if client.kind == "sync" else True


def test_pages_that_are_not_asked_for_are_not_read(client: Client, server: Server) -> None:
    server.answer(*PAGES)
    assert len(client.take(client.berth.agents.list(), 2)) == 2
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "method",
    [
        lambda berth: berth.templates.list(),
        lambda berth: berth.agents.schedules("a"),
        lambda berth: berth.env.list("a"),
        lambda berth: berth.deployments.list("a"),
        lambda berth: berth.webhooks.deliveries("a"),
        lambda berth: berth.end_users.list(),
        lambda berth: berth.end_users.agents("u"),
        lambda berth: berth.usage.llm_calls(),
        lambda berth: berth.computers.list(),
        lambda berth: berth.computers.sessions("c"),
        lambda berth: berth.keys.list(),
        lambda berth: berth.audit.list(),
        lambda berth: berth.operations.accounts.list(),
        lambda berth: berth.operations.hosts.list(),
        lambda berth: berth.operations.projections.list(),
        lambda berth: berth.operations.dead_letters.list(),
        lambda berth: berth.operations.feedback.list(),
    ],
)
def test_every_list_has_one_page_or_more(client: Client, server: Server, method: Any) -> None:
    server.answer({"items": [{"id": "1"}]})
    page = client.run(method(client.berth))
    assert (page.items, page.next_cursor) == ([{"id": "1"}], None)
    assert client.collect(method(client.berth)) == [{"id": "1"}]


def test_an_answer_that_is_no_list_is_returned_as_it_is(client: Client, server: Server) -> None:
    for answer, method in (
        ({"logs": [], "nextCursor": "x"}, lambda berth: berth.agents.logs("a")),
        ({"path": "/", "root": "/", "entries": []}, lambda berth: berth.files.list("a")),
        ({"rows": [], "nextCursor": "x"}, lambda berth: berth.usage.total()),
        ({"rows": [], "new": 1}, lambda berth: berth.usage.daily()),
        ({"rows": []}, lambda berth: berth.computers.usage()),
        ({"entries": []}, lambda berth: berth.computers.list_files("c")),
    ):
        server.answer(answer)
        assert client.run(method(client.berth)) == answer
