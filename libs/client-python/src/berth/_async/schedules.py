"""What a program inside an agent publishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from .._schedules import agent_access
from ..types import PublishedSchedules
from .client import AsyncBerth


async def apublish_schedules(entries: Sequence[Mapping[str, Any]]) -> PublishedSchedules | None:
    """Publishes when this agent wants to be woken, inside an agent: `PUT /agent/v1/schedules`.

    The list replaces the one before; `[]` clears it. Outside an agent this does nothing and returns
    None.

    Args:
        entries: `{"id", "cron"?, "tz"?, "nextRunAt"?, "prompt"?}`, each with `cron` or `nextRunAt`.

    Returns:
        `{"entries"}`, how many.

    Raises:
        ServiceError: The service refused an entry; nothing is changed.
    """
    access = agent_access()
    if access is None:
        return None
    async with AsyncBerth(access.token, access.url) as berth:
        answer = await berth.request("PUT", "/agent/v1/schedules", body={"entries": list(entries)})
        return cast(PublishedSchedules, answer["data"])
