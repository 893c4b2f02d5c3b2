"""Webhooks: URLs at which others send messages to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import types
from .._body import any_body
from .._call import Repeat
from .._options import CallOptions
from .._requests import Maybe, route
from .._values import OMITTED, header_fields, members, text
from ._pages import AsyncPages
from ._resource import AsyncResource

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncWebhooks(AsyncResource):
    """`berth.webhooks`"""

    async def token(self, agent_id: str, **options: Unpack[CallOptions]) -> types.WebhookToken:
        """Returns the token and the URL to invoke: `GET /api/webhooks/{agent_id}/token`.

        Returns:
            `{"token", "url", "createdAt"}`; the URL contains the token.
        """
        token: types.WebhookToken = await self._get(route("/api/webhooks/{}/token", agent_id), options)
        return token

    async def rotate(self, agent_id: str, **options: Unpack[CallOptions]) -> types.WebhookToken:
        """Makes a new token; the old one is dead: `POST /api/webhooks/{agent_id}/token/rotate`."""
        token: types.WebhookToken = await self._send(
            "POST", route("/api/webhooks/{}/token/rotate", agent_id), options
        )
        return token

    async def get_verification(self, agent_id: str, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Returns how signatures are verified: `GET /api/webhooks/{agent_id}/verification`."""
        found: dict[str, Any] = await self._get(route("/api/webhooks/{}/verification", agent_id), options)
        return found

    async def set_verification(
        self,
        agent_id: str,
        *,
        scheme: Literal["github", "stripe", "slack", "standard", "none"],
        secret_env: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> dict[str, Any]:
        """Sets how signatures are verified: `PUT /api/webhooks/{agent_id}/verification`.

        Args:
            agent_id: The agent.
            scheme: Who signs the requests.
            secret_env: The secret variable of the agent that contains the secret of the signatures.
        """
        changed: dict[str, Any] = await self._send(
            "PUT",
            route("/api/webhooks/{}/verification", agent_id),
            options,
            json=members(scheme=scheme, secret_env=secret_env),
        )
        return changed

    async def invoke(
        self,
        agent_id: str,
        body: Any,
        *,
        token: str | None = None,
        **options: Unpack[CallOptions],
    ) -> types.AcceptedWebhook:
        """Sends a message as others do: `POST /api/webhooks/{agent_id}`.

        Returns when the message is stored; it is delivered afterwards, and a sleeping agent is woken.
        The key of the client is not sent. The call is repeated only after a 429.

        Args:
            agent_id: The agent.
            body: An object, which is sent as JSON, text or bytes. Of an object with a `message`,
                that is delivered.
            token: The token of the webhook.

        Returns:
            `{"accepted", "deliveryId", "agentId", "status"}`
        """
        headers: dict[str, str] = {}
        if token is not None:
            headers = header_fields({"x-service-webhook-token": text(token, "token")})
        accepted: types.AcceptedWebhook = await self._send(
            "POST",
            route("/api/webhooks/{}", agent_id),
            options,
            body=any_body(body),
            headers=headers,
            repeat=Repeat.BUSY,
            anonymous=True,
        )
        return accepted

    def deliveries(
        self,
        agent_id: str,
        *,
        status: Literal["queued", "delivered", "failed"] | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.WebhookDelivery]:
        """Lists deliveries of 30 days, newest first: `GET /api/webhooks/{agent_id}/deliveries`.

        Args:
            agent_id: The agent.
            status: Only deliveries of this status.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        path = route("/api/webhooks/{}/deliveries", agent_id)
        return self._list(path, options, status=status, cursor=cursor, limit=limit)

    async def redeliver(
        self, agent_id: str, delivery_id: str, **options: Unpack[CallOptions]
    ) -> types.AcceptedWebhook:
        """Delivers a message again: `POST /api/webhooks/{agent_id}/deliveries/{id}/redeliver`.

        Raises:
            ServiceConflictError: `body_forgotten`: it is kept until 24 h after the end.
        """
        accepted: types.AcceptedWebhook = await self._send(
            "POST",
            route("/api/webhooks/{}/deliveries/{}/redeliver", agent_id, delivery_id),
            options,
        )
        return accepted
