"""How a program finds out that it runs inside an agent."""

from __future__ import annotations

from typing import NamedTuple

from ._options import environment


class AgentAccess(NamedTuple):
    """Where the agent reaches Berth, and with what."""

    url: str
    token: str


def agent_access() -> AgentAccess | None:
    """Returns what the environment of an agent says, or None outside an agent."""
    url, token = environment("BERTH_API_URL"), environment("BERTH_AGENT_TOKEN")
    return None if url is None or token is None else AgentAccess(url, token)


def inside_agent() -> bool:
    """Whether this program runs inside an agent."""
    return agent_access() is not None
