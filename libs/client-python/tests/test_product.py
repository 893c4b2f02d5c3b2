"""Against a running Berth: `pytest -m product` with BERTH_URL and BERTH_API_KEY."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from berth import AsyncBerth, Berth, ServiceAuthError, ServiceConflictError, ServiceNotFoundError

pytestmark = pytest.mark.product

README = Path(__file__).parents[1] / "README.md"
PARTS = re.compile(r"^(#+ [^\n]*)$|^```python\n(.*?)^```$", re.M | re.S)


def examples() -> list[Any]:
    found: list[Any] = []
    title = "Start"
    for heading, code in PARTS.findall(README.read_text(encoding="utf-8")):
        title = heading.strip("# ") or title
        if code:
            found.append(pytest.param(code, id=title))
    return found


@pytest.fixture(autouse=True)
def _environment(product: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in product.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def berth() -> Iterator[Berth]:
    with Berth() as berth:
        yield berth


@pytest.fixture(scope="module")
def agent(product: dict[str, str]) -> Iterator[str]:
    with Berth(product["BERTH_API_KEY"], product["BERTH_URL"]) as berth:
        made = berth.agents.create(name=f"python {uuid.uuid4()}", template_id="echo")
        assert berth.agents.get(made["id"], wait="running", wait_timeout=60)["state"] == "running"
        yield made["id"]
        berth.agents.delete(made["id"])


@pytest.mark.parametrize("code", examples())
def test_every_example_of_the_readme_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})


def test_concurrent_provisions_get_one_agent(berth: Berth) -> None:
    name = f"provisioned {uuid.uuid4()}"
    found: list[str] = []

    def provision() -> None:
        found.append(berth.agents.provision(external_id=name, name=name, template="echo")["id"])

    threads = [threading.Thread(target=provision) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    with pytest.raises(ServiceConflictError) as caught:
        berth.agents.provision(external_id=f"{name} 2", name=name, template="echo")
    assert caught.value.code == "agent_name_taken"
    assert [one["id"] for one in berth.agents.list(name=name)] == found[:1]
    berth.agents.delete(found[0])


def test_the_echo_answers_and_remembers_the_conversation(berth: Berth, agent: str) -> None:
    reply = berth.agents.chat(agent, "Hello", conversation_id="c-1")
    assert reply.error is None
    assert "Hello" in reply["response"]
    assert reply.conversation_id == "c-1"
    events = list(berth.agents.chat_stream(agent, "Bonjour", conversation_id="c-1"))
    assert events[-1].type == "done"
    assert "Bonjour" in events[-1]["response"]


def test_a_message_to_a_stopped_agent_is_an_error_in_the_result(berth: Berth) -> None:
    made = berth.agents.create(name=f"stopped {uuid.uuid4()}", template_id="echo")
    berth.agents.get(made["id"], wait="running", wait_timeout=60)
    berth.agents.stop(made["id"])
    reply = berth.agents.chat(made["id"], "Hello")
    assert (reply.response, reply.error and reply.error.code) == ("", "agent_stopped")
    berth.agents.delete(made["id"])
    with pytest.raises(ServiceNotFoundError):
        berth.agents.get(made["id"])


def test_commands_run_attached_and_detached(berth: Berth, agent: str) -> None:
    result = berth.agents.exec(agent, ["sh", "-c", 'echo "$A"; exit 3'], env={"A": "b c"})
    assert (result["exitCode"], result["stdout"]) == (3, "b c\n")
    accepted = berth.agents.exec(agent, "echo x", detached=True)
    path = f"/api/agents/{agent}/exec/{accepted['executionId']}"
    deadline = time.monotonic() + 30
    while (found := berth.request("GET", path).data)["status"] == "running":
        assert time.monotonic() < deadline
    assert found["stdout"] == "x\n"


def test_names_of_files_arrive_as_they_are(berth: Berth, agent: str, tmp_path: Path) -> None:
    for name in ("plain.txt", 'a "quoted" name', "é%20 ü.txt", "semi;colon"):
        path = tmp_path / name
        path.write_bytes(name.encode())
        uploaded = berth.files.upload(agent, path, dest_dir="names")
        assert (uploaded["name"], uploaded["size"]) == (name, len(name.encode()))
        assert berth.files.download(agent, f"names/{name}").text() == name
    listed = berth.files.list(agent, "names")
    assert len(listed["entries"]) == 4
    berth.files.move(agent, "names/plain.txt", "names/moved.txt")
    berth.files.delete(agent, "names")
    with pytest.raises(ServiceNotFoundError):
        berth.files.list(agent, "names")


def test_large_files_go_both_ways_asynchronously(agent: str, tmp_path: Path) -> None:
    content = os.urandom(1_048_576) * 20
    (tmp_path / "large").write_bytes(content)

    async def transfer() -> None:
        async with AsyncBerth() as berth:
            with (tmp_path / "large").open("rb") as file:
                await berth.files.upload(agent, file, dest_dir="")
            download = await berth.files.download(agent, "inbox/large")
            await download.save(tmp_path / "copy")

    asyncio.run(transfer())
    copy = (tmp_path / "copy").read_bytes()
    assert hashlib.sha256(copy).digest() == hashlib.sha256(content).digest()


def test_followed_logs_show_what_is_written_later(berth: Berth, agent: str) -> None:
    restarting = threading.Thread(target=berth.agents.restart, args=[agent])
    with berth.agents.follow_logs(agent, since=datetime.now(timezone.utc)) as entries:
        restarting.start()
        entry = next(iter(entries))
        restarting.join()
    assert {"timestamp", "level", "source", "message"} <= set(entry)


def test_webhooks_are_invoked_with_their_token_alone(berth: Berth, agent: str) -> None:
    token = berth.webhooks.token(agent)["token"]
    accepted = berth.webhooks.invoke(agent, {"message": "ping"}, token=token)
    assert accepted["status"] == "queued"
    with pytest.raises(ServiceAuthError):
        berth.webhooks.invoke(agent, "ping", token="wh_wrong")
    assert accepted["deliveryId"] in [one["id"] for one in berth.webhooks.deliveries(agent)]


def test_a_token_of_an_end_user_opens_its_agent(berth: Berth) -> None:
    user = f"user-{uuid.uuid4()}"
    made = berth.end_users.create_agent(user, template_id="echo")
    berth.agents.get(made["id"], wait="running", wait_timeout=60)
    token = berth.end_users.create_token(user, ttl_seconds=60)["token"]
    with Berth(token) as theirs:
        assert "hi" in theirs.agents.chat(made["id"], "hi").response
        with pytest.raises(ServiceAuthError) as caught:
            list(theirs.agents.list())
        assert caught.value.code == "token_scope"
    berth.end_users.delete(user)


def test_what_the_account_and_the_installation_show(berth: Berth) -> None:
    assert berth.health()["status"] in ("ok", "degraded")
    assert "echo" in [one["id"] for one in berth.templates.list()]
    assert "operate" in berth.account.get()["key"]["scopes"]
    assert len(list(berth.operations.projections.list())) > 0
    assert berth.usage.total()["currency"] == "USD"
    assert berth.operations.usage_recount()["differing"] == 0
    key = berth.keys.mint(name="python", scopes=["read"])
    assert key["id"] in [one["id"] for one in berth.keys.list(limit=1)]
    berth.keys.revoke(key["id"])
    assert berth.audit.list(limit=1).next_cursor is not None
