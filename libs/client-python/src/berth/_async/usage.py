"""Usage and cost."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from .. import types
from .._options import CallOptions
from ._pages import AsyncPages
from ._resource import AsyncResource

if TYPE_CHECKING:
    from typing_extensions import Unpack

Moment: TypeAlias = str | date
"""ISO 8601, a date (its midnight in UTC), or a datetime with a time zone."""


class AsyncUsage(AsyncResource):
    """`berth.usage`. Ranges are whole days in UTC, by default the last 30; money is in cents (USD)."""

    async def total(
        self,
        *,
        from_: Moment | None = None,
        to: Moment | None = None,
        external_user_id: str | None = None,
        agent_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> types.UsageReport:
        """Returns usage and cost of each agent: `GET /api/v1/usage`.

        Args:
            from_: The first day, taken back to its midnight.
            to: The end, taken forward to midnight.
            external_user_id: Only agents of this end user.
            agent_id: Only this agent.
            cursor: The `nextCursor` of the answer before.
            limit: How many rows, 1 to 10,000, by default 10,000.

        Returns:
            `{"from", "to", "currency", "rows", "totals", "nextCursor", "asOf"}`
        """
        report: types.UsageReport = await self._get(
            "/api/v1/usage",
            options,
            **_query(from_, to, external_user_id, agent_id, cursor, limit),
        )
        return report

    async def daily(
        self,
        *,
        from_: Moment | None = None,
        to: Moment | None = None,
        external_user_id: str | None = None,
        agent_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> types.DailyUsageReport:
        """Returns usage and cost of each agent and day: `GET /api/v1/usage/daily`.

        Arguments and answer are those of `total`; each row has a `date`.
        """
        report: types.DailyUsageReport = await self._get(
            "/api/v1/usage/daily",
            options,
            **_query(from_, to, external_user_id, agent_id, cursor, limit),
        )
        return report

    def llm_calls(
        self,
        *,
        agent_id: str | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.LlmCall]:
        """Lists calls of language models: `GET /api/v1/llm-calls`.

        Args:
            agent_id: Only calls of this agent.
            from_: Only calls from this moment on.
            to: Only calls until this moment.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        query = {"agentId": agent_id, "from": from_, "to": to, "cursor": cursor, "limit": limit}
        return self._list("/api/v1/llm-calls", options, **query)


def _query(
    from_: Moment | None,
    to: Moment | None,
    external_user_id: str | None,
    agent_id: str | None,
    cursor: str | None,
    limit: int | None,
) -> dict[str, object]:
    return {
        "from": from_,
        "to": to,
        "externalUserId": external_user_id,
        "agentId": agent_id,
        "cursor": cursor,
        "limit": limit,
    }
