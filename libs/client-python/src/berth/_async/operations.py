"""What whoever runs an installation does; keys need the scope `operate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import types
from .._options import CallOptions
from .._requests import Maybe, route
from .._values import OMITTED, members
from ._pages import AsyncPages
from ._resource import AsyncResource
from ._transport import AsyncTransport
from .usage import Moment

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ALL = "/api/v1/operations"


class AsyncAccounts(AsyncResource):
    """`berth.operations.accounts`"""

    async def create(
        self, *, name: str, plan_id: Maybe[str] = OMITTED, **options: Unpack[CallOptions]
    ) -> types.OpenedAccount:
        """Opens an account: `POST /api/v1/operations/accounts`.

        Args:
            name: Its name.
            plan_id: The id of a plan, by default `default`.

        Returns:
            The account with `key`, its first key, which no other answer contains.
        """
        json = members(name=name, plan_id=plan_id)
        account: types.OpenedAccount = await self._send("POST", f"{_ALL}/accounts", options, json=json)
        return account

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.Account]:
        """Lists accounts, in pages of `limit`: `GET /api/v1/operations/accounts`."""
        return self._list(f"{_ALL}/accounts", options, cursor=cursor, limit=limit)

    async def get(self, account_id: str, **options: Unpack[CallOptions]) -> types.Account:
        """Returns an account: `GET /api/v1/operations/accounts/{account_id}`."""
        path = route(f"{_ALL}/accounts/{{}}", account_id)
        account: types.Account = await self._get(path, options)
        return account

    async def update(
        self,
        account_id: str,
        *,
        name: Maybe[str] = OMITTED,
        plan_id: Maybe[str] = OMITTED,
        suspended: Maybe[bool] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.Account:
        """Changes an account: `PUT /api/v1/operations/accounts/{account_id}`.

        Args:
            account_id: The account.
            name: Its name.
            plan_id: The id of a plan.
            suspended: While true, its credentials are refused and its agents sleep.
        """
        path = route(f"{_ALL}/accounts/{{}}", account_id)
        json = members(name=name, plan_id=plan_id, suspended=suspended)
        account: types.Account = await self._send("PUT", path, options, json=json)
        return account

    async def create_key(self, account_id: str, **options: Unpack[CallOptions]) -> types.MintedKey:
        """Mints another first key: `POST /api/v1/operations/accounts/{account_id}/keys`."""
        path = route(f"{_ALL}/accounts/{{}}/keys", account_id)
        key: types.MintedKey = await self._send("POST", path, options)
        return key


class AsyncCredits(AsyncResource):
    """`berth.operations.credits`"""

    async def grant(
        self,
        account_id: str,
        *,
        cents: int,
        note: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.AccountBalance:
        """Adds credits: `POST /api/v1/operations/accounts/{account_id}/credits`.

        Args:
            account_id: The account.
            cents: What is added to the balance, negative to take away.
            note: Why, for the audit.

        Returns:
            `{"accountId", "balanceCents"}`
        """
        path = route(f"{_ALL}/accounts/{{}}/credits", account_id)
        json = members(cents=cents, note=note)
        balance: types.AccountBalance = await self._send("POST", path, options, json=json)
        return balance


class AsyncHosts(AsyncResource):
    """`berth.operations.hosts`: the machines that run agents."""

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.Host]:
        """Lists hosts, in pages of `limit`: `GET /api/v1/operations/hosts`."""
        return self._list(f"{_ALL}/hosts", options, cursor=cursor, limit=limit)

    async def drain(self, host_id: str, **options: Unpack[CallOptions]) -> None:
        """Gives a host no more agents: `POST /api/v1/operations/hosts/{id}/drain`."""
        await self._do("POST", route(f"{_ALL}/hosts/{{}}/drain", host_id), options)

    async def resume(self, host_id: str, **options: Unpack[CallOptions]) -> None:
        """Gives a host agents again: `POST /api/v1/operations/hosts/{id}/resume`."""
        await self._do("POST", route(f"{_ALL}/hosts/{{}}/resume", host_id), options)

    async def delete(self, host_id: str, **options: Unpack[CallOptions]) -> None:
        """Removes a host that is gone: `DELETE /api/v1/operations/hosts/{id}`."""
        await self._do("DELETE", route(f"{_ALL}/hosts/{{}}", host_id), options)


class AsyncProjections(AsyncResource):
    """`berth.operations.projections`: the tables that are derived from the event log."""

    def list(self, **options: Unpack[CallOptions]) -> AsyncPages[types.Projection]:
        """Lists projections: `GET /api/v1/operations/projections`."""
        return self._list(f"{_ALL}/projections", options)

    async def rebuild(self, name: str, **options: Unpack[CallOptions]) -> types.Projection:
        """Rebuilds one from the log: `POST /api/v1/operations/projections/{name}/rebuild`."""
        path = route(f"{_ALL}/projections/{{}}/rebuild", name)
        projection: types.Projection = await self._send("POST", path, options)
        return projection


class AsyncDeadLetters(AsyncResource):
    """`berth.operations.dead_letters`: messages between services that could not be handled."""

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.DeadLetter]:
        """Lists them, in pages of `limit`: `GET /api/v1/operations/dead-letters`."""
        return self._list(f"{_ALL}/dead-letters", options, cursor=cursor, limit=limit)

    async def replay(self, letter_id: str, **options: Unpack[CallOptions]) -> None:
        """Handles one again: `POST /api/v1/operations/dead-letters/{id}/replay`."""
        await self._do("POST", route(f"{_ALL}/dead-letters/{{}}/replay", letter_id), options)

    async def delete(self, letter_id: str, **options: Unpack[CallOptions]) -> None:
        """Forgets one: `DELETE /api/v1/operations/dead-letters/{id}`."""
        await self._do("DELETE", route(f"{_ALL}/dead-letters/{{}}", letter_id), options)


class AsyncReceivedFeedback(AsyncResource):
    """`berth.operations.feedback`"""

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[types.Feedback]:
        """Lists reports, newest first, in pages of `limit`: `GET /api/v1/operations/feedback`."""
        return self._list(f"{_ALL}/feedback", options, cursor=cursor, limit=limit)


class AsyncOperations(AsyncResource):
    """`berth.operations`"""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.accounts: AsyncAccounts = AsyncAccounts(transport)
        self.credits: AsyncCredits = AsyncCredits(transport)
        self.hosts: AsyncHosts = AsyncHosts(transport)
        self.projections: AsyncProjections = AsyncProjections(transport)
        self.dead_letters: AsyncDeadLetters = AsyncDeadLetters(transport)
        self.feedback: AsyncReceivedFeedback = AsyncReceivedFeedback(transport)

    async def usage_recount(
        self,
        *,
        from_: Moment | None = None,
        to: Moment | None = None,
        **options: Unpack[CallOptions],
    ) -> types.UsageRecount:
        """Compares usage with the event log: `GET /api/v1/operations/usage-recount`.

        Args:
            from_: The first day, in UTC.
            to: The end.
        """
        query = {"from": from_, "to": to}
        recount: types.UsageRecount = await self._get(f"{_ALL}/usage-recount", options, **query)
        return recount
