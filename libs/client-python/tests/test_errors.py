from __future__ import annotations

import json
import socket
import traceback
from typing import Any

import httpx
import pytest
from conftest import KEY, Client
from server import Connection, Received, Server, refused

from berth import (
    ServiceAuthError,
    ServiceConflictError,
    ServiceConnectionError,
    ServiceError,
    ServiceNotFoundError,
    ServicePaymentRequiredError,
    ServiceRateLimitError,
)

PAGE = b"<html><body>Bad gateway " + b"x" * 2_000 + b"</body></html>"


def error_of(client: Client, result: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        client.run(result())
    return caught.value


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ServiceError),
        (401, ServiceAuthError),
        (402, ServicePaymentRequiredError),
        (403, ServiceAuthError),
        (404, ServiceNotFoundError),
        (409, ServiceConflictError),
        (410, ServiceError),
        (429, ServiceRateLimitError),
        (500, ServiceError),
        (502, ServiceError),
    ],
)
def test_the_status_chooses_the_class(
    client: Client, server: Server, status: int, kind: type[ServiceError]
) -> None:
    headers = {"x-request-id": "req-1"}
    server.answer((status, refused("some_code", agentId="agt_1"), headers))
    berth = client.make(max_retries=0)
    error = error_of(client, lambda: berth.agents.get("agt_1"))
    assert type(error) is kind
    assert (error.name, error.status, error.code) == (kind.__name__, status, "some_code")
    assert error.detail == {"code": "some_code", "message": "It is some_code.", "agentId": "agt_1"}
    assert error.message == "It is some_code."
    assert error.request_id == "req-1"
    assert error.headers is not None
    assert error.headers["X-Request-Id"] == "req-1"
    server.answer((status, PAGE, {"content-type": "text/html"}))
    error = error_of(client, lambda: berth.agents.get("agt_1"))
    assert type(error) is kind
    assert error.detail == PAGE.decode()[:1000]
    assert "Bad gateway" in error.message


def test_a_detail_that_is_a_string_is_the_message(client: Client, server: Server) -> None:
    server.answer((404, {"detail": "Execution not found"}))
    error = error_of(client, lambda: client.berth.request("GET", "/api/agents/a/exec/b"))
    assert (error.detail, error.message, error.code) == ("Execution not found", "Execution not found", None)


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b'{"detail": null}', b'{"detail": {"message": ""}}', b"\xff\xfe"]
)
def test_a_message_is_never_empty(client: Client, server: Server, body: bytes) -> None:
    server.answer((500, body))
    error = error_of(client, lambda: client.berth.agents.get("a"))
    assert error.message.strip()
    assert error.status == 500


def test_a_redirect_is_not_followed_and_is_an_error(client: Client, server: Server) -> None:
    server.answer((307, None, {"location": "http://127.0.0.1:9/"}), {"id": "a"})
    error = error_of(client, lambda: client.berth.agents.get("a"))
    assert (type(error), error.status, len(server.received)) == (ServiceError, 307, 1)


@pytest.mark.parametrize("body", [PAGE, b"", b"null", b'"text"', b"[1]"])
def test_a_success_that_is_no_object_is_an_invalid_response(
    client: Client, server: Server, body: bytes
) -> None:
    server.answer((200, body))
    error = error_of(client, lambda: client.berth.agents.get("a"))
    assert (type(error), error.status, error.code) == (ServiceError, 200, "invalid_response")
    assert error.detail == body.decode()[:1000]
    server.answer((200, {"rows": []}))
    listed = error_of(client, lambda: client.berth.agents.list())
    assert listed.code == "invalid_response"


def test_a_method_without_a_result_returns_none_but_not_for_a_page(client: Client, server: Server) -> None:
    server.answer((204, None), (202, None), (200, PAGE))
    assert client.run(client.berth.agents.delete("a")) is None
    assert client.run(client.berth.operations.hosts.drain("a")) is None
    assert error_of(client, lambda: client.berth.agents.delete("a")).code == "invalid_response"


def test_a_refused_connection_is_a_connection_error(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    berth = client.make(base_url=f"http://127.0.0.1:{port}", max_retries=0)
    error = error_of(client, lambda: berth.agents.get("a"))
    assert (type(error), error.code, error.status) == (ServiceConnectionError, "connection_failed", None)
    assert error.cause is not None
    assert error.message


def half(_: Received, connection: Connection) -> None:
    connection.begin(200, {"content-length": "100"})
    connection.send(b'{"id": ')


def cut_chunks(_: Received, connection: Connection) -> None:
    connection.begin(200, {"transfer-encoding": "chunked"})
    connection.chunk(b'{"id": "a"}')


def killed(_: Received, connection: Connection) -> None:
    connection.reset()


def nonsense(_: Received, connection: Connection) -> None:
    connection.send(b"SSH-2.0-OpenSSH\r\n\r\n")


def no_gzip(_: Received, connection: Connection) -> None:
    connection.begin(200, {"content-length": "3", "content-encoding": "gzip"})
    connection.send(b"abc")


@pytest.mark.parametrize("answer", [half, cut_chunks, killed, nonsense, no_gzip])
def test_an_answer_that_is_not_whole_is_a_connection_error(
    client: Client, server: Server, answer: Any
) -> None:
    server.answer(answer)
    berth = client.make(max_retries=0)
    error = error_of(client, lambda: berth.agents.get("a"))
    assert (type(error), error.code, error.status) == (ServiceConnectionError, "connection_failed", None)
    assert isinstance(error.__cause__, Exception)


def test_the_key_stands_in_no_message_and_in_no_variable_of_a_stack(client: Client, server: Server) -> None:
    def echo(request: Received, connection: Connection) -> None:
        body = json.dumps({"detail": {"code": "x", "message": request.headers["authorization"]}}).encode()
        connection.begin(400, {"content-length": str(len(body))})
        connection.send(body)

    berth = client.make(max_retries=0)
    for answer in (echo, (200, f"<p>{KEY}".encode()), (502, KEY.encode())):
        server.answer(answer)
        error = error_of(client, lambda: berth.agents.get("a"))
        assert KEY not in str(error) + repr(error) + repr(error.detail) + repr(vars(error))
    for answer in (killed, half, nonsense, (404, {})):
        server.answer(answer)
        error = error_of(client, lambda: berth.agents.get("a"))
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert "prepared = " in shown
        assert KEY not in shown


def test_frames_below_which_know_the_key_are_dropped_from_the_cause(client: Client) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        headers = list(request.headers.raw)
        assert headers
        raise httpx.WriteError("broken", request=request)

    async def fail_later(request: httpx.Request) -> httpx.Response:
        return fail(request)

    if client.kind == "sync":
        http: Any = httpx.Client(transport=httpx.MockTransport(fail))
    else:
        http = httpx.AsyncClient(transport=httpx.MockTransport(fail_later))
    error = error_of(client, lambda: client.make(http_client=http, max_retries=0).agents.get("a"))
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "WriteError" in shown
    assert KEY not in shown
    assert isinstance(error.cause, httpx.WriteError)
    assert KEY not in str(error.cause.request.headers.raw)
    client.run(http.close() if client.kind == "sync" else http.aclose())
