from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import certifi
import pytest
from server import Server

from berth import AsyncBerth, Berth

RUNNING = dict(os.environ)
KEY = "mk_secretsecretsecret"
Either: TypeAlias = Any
"""A client of either kind: the tests of a rule run with both."""


class Client:
    """Drives a client of either kind in the same way."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self.url = url
        self._loop = asyncio.new_event_loop() if kind == "async" else None
        self._made: list[Either] = []
        self.berth = self.make()

    def make(self, **options: Any) -> Either:
        """Makes a further client."""
        made = (Berth if self._loop is None else AsyncBerth)(
            KEY, options.pop("base_url", self.url), **options
        )
        self._made.append(made)
        return made

    def run(self, result: Any) -> Any:
        """Returns what a method returned, awaited if need be."""
        if self._loop is None:
            return result

        async def wait() -> Any:
            return await result

        return self._loop.run_until_complete(wait())

    def collect(self, iterable: Any) -> list[Any]:
        """Returns everything that an iteration yields."""
        if self._loop is None:
            return list(iterable)

        async def collect() -> list[Any]:
            return [item async for item in iterable]

        return self._loop.run_until_complete(collect())

    def take(self, iterable: Any, number: int) -> list[Any]:
        """Returns the first items that an iteration yields, and breaks it off."""
        taken: list[Any] = []
        if self._loop is None:
            for item in iterable:
                taken.append(item)
                if len(taken) == number:
                    break
            return taken

        async def take() -> list[Any]:
            async for item in iterable:
                taken.append(item)
                if len(taken) == number:
                    break
            return taken

        return self._loop.run_until_complete(take())

    def close(self) -> None:
        for made in self._made:
            self.run(made.close())
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


@pytest.fixture(scope="session", autouse=True)
def _one_authority(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Reading all authorities for each client would take most of the time of the tests."""
    authorities = Path(certifi.where()).read_text(encoding="utf-8")
    mark = "-----END CERTIFICATE-----"
    one = tmp_path_factory.mktemp("authorities") / "one.pem"
    one.write_text(authorities.partition(mark)[0] + mark, encoding="utf-8")
    os.environ["SSL_CERT_FILE"] = str(one)


@pytest.fixture(scope="session")
def product() -> dict[str, str]:
    """The running Berth that the environment names."""
    return {name: RUNNING[name] for name in ("BERTH_URL", "BERTH_API_KEY")}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BERTH_API_KEY", "BERTH_URL", "BERTH_API_URL", "BERTH_AGENT_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[Client]:
    client = Client(request.param, server.url)
    yield client
    client.close()
