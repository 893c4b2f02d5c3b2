from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from conftest import Client
from server import EVENTS, Connection, Received, Server, refused

from berth import ServiceConnectionError, ServiceError, ServicePaymentRequiredError
from berth._events import EventDecoder, ServerSentEvent

CODES = {
    "agent_deploying": 409,
    "agent_stopped": 409,
    "agent_failed": 409,
    "agent_error": 502,
    "agent_unavailable": 503,
    "agent_timeout": 504,
}


def streams(*events: str) -> Any:
    """Sends a stream of events in pieces that end in the middle of characters and lines."""

    def answer(_: Received, connection: Connection) -> None:
        connection.begin(200, {**EVENTS, "x-request-id": "req-9"})
        content = "".join(events).encode()
        for start in range(0, len(content), 7):
            connection.chunk(content[start : start + 7])
        connection.send(b"0\r\n\r\n")

    return answer


def event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def test_a_reply_has_the_conversation(client: Client, server: Server) -> None:
    server.answer({"response": "hello", "conversation_id": "c1"})
    reply = client.run(client.berth.agents.chat("a", "hi", conversation_id="c1"))
    assert reply == {"response": "hello", "conversation_id": "c1"}
    assert (reply.response, reply.conversation_id, reply.error) == ("hello", "c1", None)
    client.run(client.berth.agents.chat("a", "hi"))
    client.run(client.berth.agents.chat("a", "hi", conversation_id=None))
    bodies = [request.json for request in server.received]
    assert bodies == [
        {"message": "hi", "conversation_id": "c1"},
        {"message": "hi"},
        {"message": "hi", "conversation_id": None},
    ]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("conversation", [None, "c1"])
def test_a_failure_to_deliver_is_a_result(
    client: Client, server: Server, code: str, conversation: str | None
) -> None:
    headers = {"x-request-id": "req-1", "retry-after": "0"}
    server.answer((CODES[code], refused(code, mayHaveBeenDone=True), headers))
    options = {} if conversation is None else {"conversation_id": conversation}
    reply = client.run(client.berth.agents.chat("a", "hi", **options))
    error = {
        "code": code,
        "message": f"It is {code}.",
        "mayHaveBeenDone": True,
        "status": CODES[code],
        "requestId": "req-1",
    }
    assert reply == {"response": "", "conversation_id": conversation, "error": error}
    streamed = client.collect(client.berth.agents.chat_stream("a", "hi", **options))
    assert streamed == [{"type": "error", "error": error}]
    assert len(server.received) == 2


def test_every_other_error_is_raised(client: Client, server: Server) -> None:
    for answer, kind in (
        ((402, refused("spend_cap_reached")), ServicePaymentRequiredError),
        ((502, b"<html>Bad gateway</html>"), ServiceError),
        ((502, {"detail": "agent_error"}), ServiceError),
        ((404, refused("agent_not_found")), ServiceError),
        ((200, b"<html>"), ServiceError),
    ):
        server.answer(answer)
        with pytest.raises(kind):
            client.run(client.berth.agents.chat("a", "hi"))
        if answer[0] != 200:
            with pytest.raises(kind):
                client.collect(client.berth.agents.chat_stream("a", "hi"))


def test_a_stream_yields_pieces_and_then_the_whole(client: Client, server: Server) -> None:
    server.answer(
        streams(
            "\ufeff: comment\n\n",
            event("delta", {"text": "hé\u2028"}),
            'event: delta\r\ndata: {\r\ndata: "text": "llo"}\r\n\r\n',
            event("later", {"new": 1}),
            event("done", {"response": "hé\u2028llo", "conversation_id": "c"}),
            event("delta", {"text": "never"}),
        )
    )
    events = client.collect(client.berth.agents.chat_stream("a", "hi"))
    assert events == [
        {"type": "delta", "text": "hé\u2028"},
        {"type": "delta", "text": "llo"},
        {"type": "done", "response": "hé\u2028llo", "conversation_id": "c"},
    ]
    assert (events[0].type, events[0].text, events[2].conversation_id) == ("delta", "hé\u2028", "c")
    assert server.received[0].headers["accept"] == "text/event-stream"
    assert "idempotency-key" not in server.received[0].headers


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_are_the_same_however_their_lines_end_and_are_cut(end: str, size: int) -> None:
    lines = ["\ufeffevent: a", ": é", "id: 1", "data: x", "data:y", "", ""]
    lines += ["data:  z", "data", "id", "", "data: w"]
    content = "".join(line + end for line in lines).encode()
    decoder = EventDecoder()
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    events = [event for piece in pieces for event in decoder.feed(piece)]
    assert events == [ServerSentEvent("a", "x\ny", "1"), ServerSentEvent("message", " z\n", None)]


def test_an_error_in_the_stream_is_an_event(client: Client, server: Server) -> None:
    server.answer(streams(event("delta", {"text": "a"}), event("error", refused("agent_error"))))
    events = client.collect(client.berth.agents.chat_stream("a", "hi"))
    assert events[1] == {
        "type": "error",
        "error": {
            "code": "agent_error",
            "message": "It is agent_error.",
            "status": 502,
            "requestId": "req-9",
        },
    }


def test_an_answer_of_json_is_one_event(client: Client, server: Server) -> None:
    server.answer({"response": "hello", "conversation_id": "c"})
    events = client.collect(client.berth.agents.chat_stream("a", "hi"))
    assert events == [{"type": "done", "response": "hello", "conversation_id": "c"}]


@pytest.mark.parametrize("sends_end", [True, False])
def test_a_stream_that_breaks_off_is_a_connection_error_and_not_begun_again(
    client: Client, server: Server, sends_end: bool
) -> None:
    def answer(_: Received, connection: Connection) -> None:
        connection.begin(200, EVENTS)
        connection.chunk(event("delta", {"text": "a"}).encode())
        if sends_end:
            connection.send(b"0\r\n\r\n")

    server.answer(answer)
    with pytest.raises(ServiceConnectionError) as caught:
        client.collect(client.berth.agents.chat_stream("a", "hi"))
    assert (caught.value.code, len(server.received)) == ("connection_failed", 1)


def test_an_event_that_cannot_be_read_is_an_invalid_response(client: Client, server: Server) -> None:
    server.answer(streams("event: delta\ndata: <html>\n\n"))
    with pytest.raises(ServiceError) as caught:
        client.collect(client.berth.agents.chat_stream("a", "hi"))
    assert caught.value.code == "invalid_response"


def test_breaking_off_closes_the_connection(client: Client, server: Server) -> None:
    closed = threading.Event()

    def answer(_: Received, connection: Connection) -> None:
        connection.begin(200, EVENTS)
        connection.chunk(event("delta", {"text": "a"}).encode())
        connection.wait_until_closed()
        closed.set()

    server.answer(answer)
    assert client.take(client.berth.agents.chat_stream("a", "hi"), 1) == [{"type": "delta", "text": "a"}]
    stream = client.berth.agents.chat_stream("a", "hi")
    assert len(client.take(stream, 1)) == 1
    with pytest.raises(RuntimeError, match="once"):
        client.collect(stream)
    client.run(nothing() if client.kind == "async" else None)
    assert closed.wait(10)


async def nothing() -> None:
    """Lets the event loop close what was broken off."""
    await asyncio.sleep(0.1)


@pytest.mark.parametrize("message", ["", None, 1, b"x"])
def test_a_message_that_is_no_text_is_not_sent(client: Client, server: Server, message: Any) -> None:
    with pytest.raises(ValueError, match="message"):
        client.run(client.berth.agents.chat("a", message))
    with pytest.raises(ValueError, match="message"):
        client.berth.agents.chat_stream("a", message)
    assert server.received == []
