"""What the service offers, by its own OpenAPI document, can be reached."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Client
from every_method import CALLS, OTHERS
from server import Connection, Received, Server
from test_files import form

from berth import AsyncBerth, Berth

ROOT = Path(__file__).parents[3]
# interface.md §4, rule 11: the library has no helpers for retrieval and cancellation of executions.
WITHHELD = re.compile(r"^(GET|DELETE) /api/agents/\{agent_id\}/exec(/|$)")
# Names of one thing, and members that only another form of a call sends.
ALIASES = {("PUT /api/agents/{agent_id}/env/{key}", "isSecret")}
OF_OTHER_CALLS = {"follow", "pathBase64", "fromBase64", "toBase64", "dest_dir_base64", "detached"}


@pytest.fixture(scope="module")
def document() -> Any:
    """From `BERTH_OPENAPI`, else printed by the gateway that was built."""
    path = os.environ.get("BERTH_OPENAPI")
    if path is not None:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    program = ["node", str(ROOT / "tools" / "openapi.mjs")]
    return json.loads(subprocess.run(program, check=True, capture_output=True).stdout)


def operations(document: Any) -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            hidden = {"Inside an agent", "Console"} & set(operation.get("tags", []))
            if hidden or WITHHELD.match(name) or name == "GET /api/webhooks/{agent_id}":
                continue
            found.append((name, path, operation))
    return found


def answer(request: Received, _: Connection) -> Any:
    return {"items": [], "nextCursor": None, "status": "succeeded"}


@pytest.fixture
def sent(client: Client, server: Server) -> dict[str, Received]:
    """What each method sends when it is given everything that it takes."""
    server.answer(answer)
    requests: dict[str, Received] = {}
    for name, call in CALLS.items():
        server.received.clear()
        result = client.run(call(client.berth))
        if name.endswith(".download"):
            client.run(result.close())
        assert len(server.received) == 1, name
        requests[name] = server.received[0]
    return requests


def body_of(request: Received) -> set[str]:
    if request.headers.get("content-type", "").startswith("multipart/"):
        return set(form(request))
    is_json = request.headers.get("content-type") == "application/json"
    return set(request.json) if is_json else set()


def test_every_operation_has_a_method_that_can_send_all_its_members(
    document: Any, sent: dict[str, Received]
) -> None:
    schemas = document["components"]["schemas"]
    problems: list[str] = []
    for name, path, operation in operations(document):
        method = name.split(" ")[0]
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        found = [
            request
            for request in sent.values()
            if request.method == method and pattern.fullmatch(request.path)
        ]
        if not found:
            problems.append(f"no method sends {name}")
            continue
        content = operation.get("requestBody", {}).get("content", {})
        schema = next(iter(content.values()), {}).get("schema", {})
        schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        wanted = set(schema.get("properties", {}))
        given = set().union(*(body_of(request) for request in found))
        asked = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        queried = {key for request in found for key, _ in request.query}
        missing = (wanted - given) | (asked - queried)
        missing -= OF_OTHER_CALLS | {member for one, member in ALIASES if one == name}
        problems += [f"nothing sends {member} of {name}" for member in sorted(missing)]
    assert problems == []
    assert len(operations(document)) > 50


def test_every_method_is_called_here() -> None:
    def methods(value: Any, prefix: str) -> set[str]:
        found: set[str] = set()
        for name in dir(value):
            if name.startswith("_") or name == "base_url":
                continue
            member = getattr(value, name)
            found |= {prefix + name} if callable(member) else methods(member, f"{prefix}{name}.")
        return found

    for kind in (Berth, AsyncBerth):
        assert methods(kind("mk_x"), "") == {*CALLS, *OTHERS}


def test_members_have_their_http_names_and_moments_are_iso_8601(sent: dict[str, Received]) -> None:
    assert sent["agents.create"].json == {
        "name": "n",
        "templateId": "echo",
        "externalId": "x",
        "externalUserId": "u",
        "instructions": "Be brief.",
        "idleTtlSeconds": 0,
        "labels": {"team": "a"},
        "env": {"A": "b"},
        "resources": {"memMb": 256},
    }
    assert sent["agents.update"].json["externalId"] is None
    assert sent["keys.mint"].json["expiresAt"] == "2026-01-02T03:04:05.678Z"
    assert dict(sent["usage.total"].query) == {
        "from": "2026-01-01",
        "to": "2026-01-02T03:04:05.678Z",
        "externalUserId": "u",
        "agentId": "a",
        "cursor": "c",
        "limit": "2",
    }
    assert sent["computers.actions"].json == {
        "actions": [{"type": "click", "x": 1, "y": 2}],
        "screenshot": True,
        "scale": 0.5,
        "stopOnError": False,
        "acknowledged_safety_checks": [{"id": "s"}],
    }


def test_only_invokes_are_sent_without_the_key(sent: dict[str, Received]) -> None:
    without = {name for name, request in sent.items() if "authorization" not in request.headers}
    assert without == {"webhooks.invoke"}
    assert sent["webhooks.invoke"].headers["x-service-webhook-token"] == "wh_x"
    assert sent["webhooks.invoke"].target == "/api/webhooks/a"


def test_a_post_without_members_has_no_body(client: Client, server: Server) -> None:
    client.run(client.berth.agents.stop("a"))
    client.run(client.berth.operations.accounts.create_key("a"))
    assert [request.body for request in server.received] == [b"", b""]
