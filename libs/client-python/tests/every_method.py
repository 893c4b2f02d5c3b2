"""Every method, called with everything that it takes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timezone
from typing import Any

Call = Callable[[Any], Any]

AGENT: dict[str, Any] = {
    "external_id": "x",
    "external_user_id": "u",
    "instructions": "Be brief.",
    "idle_ttl_seconds": 0,
    "labels": {"team": "a"},
    "env": {"A": "b"},
    "resources": {"memMb": 256},
}
PAGE: dict[str, Any] = {"cursor": "c", "limit": 2}
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678_901, timezone.utc)
RANGE: dict[str, Any] = {"from_": date(2026, 1, 1), "to": MOMENT}
POLICY = {"wakes_per_hour": 1}
DRAIN = {"drain_seconds": 5}
RAN: dict[str, Any] = {"timeout": 5, "cwd": "/", "env": {"A": "b"}}

CALLS: dict[str, Call] = {
    "health": lambda b: b.health(),
    "templates.list": lambda b: b.templates.list(),
    "agents.list": lambda b: b.agents.list(
        external_id="x", external_user_id="u", state="running", name="n", label="a=b", **PAGE
    ),
    "agents.create": lambda b: b.agents.create(name="n", template_id="echo", **AGENT),
    "agents.update": lambda b: b.agents.update(
        "a",
        name="n",
        external_id=None,
        instructions=None,
        idle_ttl_seconds=0,
        labels={},
        resources={"vcpus": 1},
    ),
    "agents.get": lambda b: b.agents.get("a", wait="running", wait_timeout=5),
    "agents.start": lambda b: b.agents.start("a", **DRAIN),
    "agents.stop": lambda b: b.agents.stop("a", **DRAIN),
    "agents.sleep": lambda b: b.agents.sleep("a", **DRAIN),
    "agents.restart": lambda b: b.agents.restart("a", **DRAIN),
    "agents.delete": lambda b: b.agents.delete("a"),
    "agents.stats": lambda b: b.agents.stats("a"),
    "agents.schedules": lambda b: b.agents.schedules("a"),
    "agents.chat": lambda b: b.agents.chat("a", "hi", conversation_id="c"),
    "agents.exec": lambda b: b.agents.exec("a", ["ls", "-l"], detached=True, **RAN),
    "agents.logs": lambda b: b.agents.logs("a", level="warn", since=MOMENT, source="agent", **PAGE),
    "files.list": lambda b: b.files.list("a", "in"),
    "files.download": lambda b: b.files.download("a", "/etc/hosts"),
    "files.upload": lambda b: b.files.upload("a", b"x", name="n", dest_dir="in", message="look"),
    "files.write": lambda b: b.files.write("a", "x", "text"),
    "files.mkdir": lambda b: b.files.mkdir("a", "x"),
    "files.move": lambda b: b.files.move("a", "x", "y"),
    "files.delete": lambda b: b.files.delete("a", "x"),
    "env.list": lambda b: b.env.list("a"),
    "env.set": lambda b: b.env.set("a", "KEY", "value", secret=True),
    "env.delete": lambda b: b.env.delete("a", "KEY"),
    "env.reload": lambda b: b.env.reload("a"),
    "deployments.create": lambda b: b.deployments.create(
        agent_id="a",
        source="git",
        repo_url="https://example.org/x",
        branch="main",
        ref="v1",
        path="app",
        build="make",
        start="./run",
        port=80,
        token_env="TOKEN",
        token_user="me",
        image="debian",
    ),
    "deployments.list": lambda b: b.deployments.list("a", **PAGE),
    "deployments.get": lambda b: b.deployments.get("a", "d"),
    "deployments.redeploy": lambda b: b.deployments.redeploy("a", "d"),
    "webhooks.token": lambda b: b.webhooks.token("a"),
    "webhooks.rotate": lambda b: b.webhooks.rotate("a"),
    "webhooks.get_verification": lambda b: b.webhooks.get_verification("a"),
    "webhooks.set_verification": lambda b: b.webhooks.set_verification("a", scheme="github", secret_env="S"),
    "webhooks.invoke": lambda b: b.webhooks.invoke("a", {"message": "hi"}, token="wh_x"),
    "webhooks.deliveries": lambda b: b.webhooks.deliveries("a", status="queued", **PAGE),
    "webhooks.redeliver": lambda b: b.webhooks.redeliver("a", "d"),
    "end_users.put": lambda b: b.end_users.put(
        "u@example.org", display_name=None, metadata={"a": 1}, tags=["t"]
    ),
    "end_users.list": lambda b: b.end_users.list(
        status="active",
        tag="t",
        external_id_prefix="u",
        last_active_before=MOMENT,
        last_active_after="2026-01-01T00:00:00Z",
        **PAGE,
    ),
    "end_users.get": lambda b: b.end_users.get("u"),
    "end_users.delete": lambda b: b.end_users.delete("u"),
    "end_users.suspend": lambda b: b.end_users.suspend("u"),
    "end_users.resume": lambda b: b.end_users.resume("u"),
    "end_users.agents": lambda b: b.end_users.agents("u"),
    "end_users.create_agent": lambda b: b.end_users.create_agent("u", name="n", template_id="echo", **AGENT),
    "end_users.get_policy": lambda b: b.end_users.get_policy("u"),
    "end_users.set_policy": lambda b: b.end_users.set_policy("u", POLICY),
    "end_users.delete_policy": lambda b: b.end_users.delete_policy("u"),
    "end_users.create_token": lambda b: b.end_users.create_token(
        "u", scopes=["chat"], ttl_seconds=60, agent_id="a"
    ),
    "end_users.revoke_tokens": lambda b: b.end_users.revoke_tokens("u"),
    "end_users.get_defaults": lambda b: b.end_users.get_defaults(),
    "end_users.set_defaults": lambda b: b.end_users.set_defaults(POLICY),
    "end_users.delete_defaults": lambda b: b.end_users.delete_defaults(),
    "usage.total": lambda b: b.usage.total(external_user_id="u", agent_id="a", **RANGE, **PAGE),
    "usage.daily": lambda b: b.usage.daily(external_user_id="u", agent_id="a", **RANGE, **PAGE),
    "usage.llm_calls": lambda b: b.usage.llm_calls(agent_id="a", **RANGE, **PAGE),
    "computers.create": lambda b: b.computers.create(
        external_user_id="u", name="n", display={"width": 800, "height": 600}, idle_ttl_seconds=0
    ),
    "computers.list": lambda b: b.computers.list(external_user_id="u", status="running", **PAGE),
    "computers.usage": lambda b: b.computers.usage(external_user_id="u", computer_id="c", **RANGE, **PAGE),
    "computers.get": lambda b: b.computers.get("c"),
    "computers.delete": lambda b: b.computers.delete("c"),
    "computers.wake": lambda b: b.computers.wake("c"),
    "computers.sleep": lambda b: b.computers.sleep("c"),
    "computers.sessions": lambda b: b.computers.sessions("c"),
    "computers.actions": lambda b: b.computers.actions(
        "c",
        {"type": "click", "x": 1, "y": 2},
        screenshot=True,
        scale=0.5,
        stop_on_error=False,
        acknowledged_safety_checks=[{"id": "s"}],
    ),
    "computers.screenshot": lambda b: b.computers.screenshot("c", format="jpeg", quality=50, scale=0.5),
    "computers.exec": lambda b: b.computers.exec("c", "ls", **RAN),
    "computers.download": lambda b: b.computers.download("c", "x"),
    "computers.upload": lambda b: b.computers.upload("c", "x", b"content"),
    "computers.list_files": lambda b: b.computers.list_files("c", "x"),
    "computers.viewer": lambda b: b.computers.viewer("c", mode="control", ttl_seconds=60, takeover=True),
    "computers.close_sessions": lambda b: b.computers.close_sessions("c", session_id="s"),
    "keys.mint": lambda b: b.keys.mint(name="n", scopes=["read"], expires_at=MOMENT),
    "keys.list": lambda b: b.keys.list(**PAGE),
    "keys.revoke": lambda b: b.keys.revoke("k"),
    "account.get": lambda b: b.account.get(),
    "audit.list": lambda b: b.audit.list(actor="k", resource="a", action="agent.create", **RANGE, **PAGE),
    "feedback.send": lambda b: b.feedback.send(
        kind="bug", message="m", subject="s", tool="t", request_id="r", status_code=500
    ),
    "operations.accounts.create": lambda b: b.operations.accounts.create(name="n", plan_id="p"),
    "operations.accounts.list": lambda b: b.operations.accounts.list(**PAGE),
    "operations.accounts.get": lambda b: b.operations.accounts.get("a"),
    "operations.accounts.update": lambda b: b.operations.accounts.update(
        "a", name="n", plan_id="p", suspended=True
    ),
    "operations.accounts.create_key": lambda b: b.operations.accounts.create_key("a"),
    "operations.credits.grant": lambda b: b.operations.credits.grant("a", cents=5, note="n"),
    "operations.hosts.list": lambda b: b.operations.hosts.list(**PAGE),
    "operations.hosts.drain": lambda b: b.operations.hosts.drain("h"),
    "operations.hosts.resume": lambda b: b.operations.hosts.resume("h"),
    "operations.hosts.delete": lambda b: b.operations.hosts.delete("h"),
    "operations.projections.list": lambda b: b.operations.projections.list(),
    "operations.projections.rebuild": lambda b: b.operations.projections.rebuild("p"),
    "operations.dead_letters.list": lambda b: b.operations.dead_letters.list(**PAGE),
    "operations.dead_letters.replay": lambda b: b.operations.dead_letters.replay("d"),
    "operations.dead_letters.delete": lambda b: b.operations.dead_letters.delete("d"),
    "operations.feedback.list": lambda b: b.operations.feedback.list(**PAGE),
    "operations.usage_recount": lambda b: b.operations.usage_recount(**RANGE),
}
# Their requests are those of the methods above.
OTHERS = (
    "request",
    "close",
    "agents.provision",
    "agents.chat_stream",
    "agents.follow_logs",
    "deployments.wait",
)
