"""The account: keys, audit, feedback, and the templates that agents are made from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from .. import types
from .._options import CallOptions
from .._requests import Maybe, route
from .._values import OMITTED, members
from ._pages import AsyncPages
from ._resource import AsyncResource
from .usage import Moment

if TYPE_CHECKING:
    from typing_extensions import Unpack

KeyScopes = Sequence[Literal["read", "deploy", "manage", "computers", "operate"]]


class AsyncTemplates(AsyncResource):
    """`berth.templates`"""

    def list(self, **options: Unpack[CallOptions]) -> AsyncPages[types.Template]:
        """Lists what agents can be made from: `GET /api/templates`."""
        return self._list("/api/templates", options)


class AsyncKeys(AsyncResource):
    """`berth.keys`: API keys of the account."""

    async def mint(
        self,
        *,
        name: str,
        scopes: KeyScopes,
        expires_at: Maybe[str | datetime] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.MintedKey:
        """Mints a key: `POST /api/v1/keys`. No other answer contains it.

        Args:
            name: What it is for.
            scopes: Of those that the key of this client has; every key has `read`.
            expires_at: ISO 8601 or a datetime with a time zone; by default it does not expire.

        Returns:
            `{"key", "id", "name", "scopes", …}`
        """
        json = members(name=name, scopes=scopes, expires_at=expires_at)
        key: types.MintedKey = await self._send("POST", "/api/v1/keys", options, json=json)
        return key

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.Key]:
        """Lists keys, without what they are: `GET /api/v1/keys`.

        Args:
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        return self._list("/api/v1/keys", options, cursor=cursor, limit=limit)

    async def revoke(self, key_id: str, **options: Unpack[CallOptions]) -> None:
        """Revokes a key at once: `DELETE /api/v1/keys/{key_id}`."""
        await self._do("DELETE", route("/api/v1/keys/{}", key_id), options)


class AsyncAccount(AsyncResource):
    """`berth.account`"""

    async def get(self, **options: Unpack[CallOptions]) -> types.OwnAccount:
        """Returns the account and the key of this client: `GET /api/v1/account`.

        Returns:
            `{"id", "name", "plan", "credits": {"balanceCents"}, "key": {"id", "name", "scopes"}}`
        """
        account: types.OwnAccount = await self._get("/api/v1/account", options)
        return account


class AsyncAudit(AsyncResource):
    """`berth.audit`"""

    def list(
        self,
        *,
        actor: str | None = None,
        resource: str | None = None,
        action: str | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.AuditedAct]:
        """Lists who did what, newest first: `GET /api/v1/audit`.

        Args:
            actor: The id of a key, an end user or an agent.
            resource: The id of what the action is about.
            action: For example `agent.create`.
            from_: From this moment on.
            to: Until this moment.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        query = {
            "actor": actor,
            "resource": resource,
            "action": action,
            "from": from_,
            "to": to,
            "cursor": cursor,
            "limit": limit,
        }
        return self._list("/api/v1/audit", options, **query)


class AsyncFeedback(AsyncResource):
    """`berth.feedback`: reports about the interface itself."""

    async def send(
        self,
        *,
        kind: Literal[
            "bug",
            "feature_request",
            "docs",
            "question",
            "performance",
            "billing",
            "security",
            "other",
        ],
        message: str,
        subject: Maybe[str] = OMITTED,
        tool: Maybe[str] = OMITTED,
        request_id: Maybe[str] = OMITTED,
        status_code: Maybe[int] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Feedback:
        """Sends a report to the operator: `POST /api/v1/feedback`.

        Args:
            kind: What it is.
            message: 1 to 10,000 characters.
            subject: Up to 200 characters.
            tool: What was used, up to 200 characters.
            request_id: The `request_id` of the error that it is about.
            status_code: Its status.

        Raises:
            ServiceRateLimitError: More than 5 a minute or 20 in 24 hours.
        """
        json = members(
            kind=kind,
            message=message,
            subject=subject,
            tool=tool,
            request_id=request_id,
            status_code=status_code,
        )
        report: types.Feedback = await self._send("POST", "/api/v1/feedback", options, json=json)
        return report
