"""The client."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx

from .. import types
from .._body import any_body
from .._call import Answer, Call
from .._options import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT, CallOptions, Options, Settings
from .._results import Response
from .._values import OMITTED, plain_path
from ._resource import AsyncResource
from ._transport import AsyncTransport
from .account import AsyncAccount, AsyncAudit, AsyncFeedback, AsyncKeys, AsyncTemplates
from .agents import AsyncAgents
from .computers import AsyncComputers
from .deployments import AsyncDeployments
from .end_users import AsyncEndUsers
from .files import AsyncEnv, AsyncFiles
from .operations import AsyncOperations
from .usage import AsyncUsage
from .webhooks import AsyncWebhooks

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncBerth(AsyncResource):
    """A client of Berth. Close it by `async with` or `close()`.

    Every method takes, after its own arguments, `request_timeout` (seconds), `headers`,
    `idempotency_key` and `max_retries`. All raise `ServiceError` or a class below it, and
    `ValueError` for what cannot be sent; `None` is sent as null.

    Args:
        api_key: A key (`mk_…`) or a token of an end user (`eu_…`); by default `BERTH_API_KEY`.
        base_url: Where Berth is; by default `BERTH_URL`, else `http://localhost:8080`.
        timeout: Seconds that a call may take with its repeats, `math.inf` for no limit. Chats,
            commands, actions, uploads and writes have longer ones of their own.
        max_retries: How often a failed attempt is repeated at most, where that is safe.
        headers: Headers to send with every call.
        http_client: An `httpx` client to send with, for example through a proxy. It stays open.

    Raises:
        ServiceAuthError: There is no key, or one that no header can carry.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = Settings(api_key, base_url, timeout=timeout, max_retries=max_retries, headers=headers)
        if http_client is not None and not isinstance(http_client, httpx.AsyncClient):
            raise ValueError("http_client must be an httpx.AsyncClient.")
        transport = AsyncTransport(settings, http_client)
        super().__init__(transport)
        self.templates: AsyncTemplates = AsyncTemplates(transport)
        self.agents: AsyncAgents = AsyncAgents(transport)
        self.files: AsyncFiles = AsyncFiles(transport)
        self.env: AsyncEnv = AsyncEnv(transport)
        self.deployments: AsyncDeployments = AsyncDeployments(transport)
        self.webhooks: AsyncWebhooks = AsyncWebhooks(transport)
        self.end_users: AsyncEndUsers = AsyncEndUsers(transport)
        self.usage: AsyncUsage = AsyncUsage(transport)
        self.computers: AsyncComputers = AsyncComputers(transport)
        self.keys: AsyncKeys = AsyncKeys(transport)
        self.account: AsyncAccount = AsyncAccount(transport)
        self.audit: AsyncAudit = AsyncAudit(transport)
        self.feedback: AsyncFeedback = AsyncFeedback(transport)
        self.operations: AsyncOperations = AsyncOperations(transport)

    @property
    def base_url(self) -> str:
        """Where Berth is."""
        return self._transport.settings.base_url

    async def health(self, **options: Unpack[CallOptions]) -> types.Health:
        """Returns how Berth is: `GET /health`.

        Returns:
            `{"status", "runtime", "version", "dependencies"}`
        """
        health: types.Health = await self._get("/health", options)
        return health

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = OMITTED,
        **options: Unpack[CallOptions],
    ) -> Response:
        """Sends a request to any route, for example to one that has no method here.

        A POST is repeated only with an `idempotency_key` of the caller.

        Args:
            method: `GET`, `POST` and so on.
            path: Begins with one `/`, and follows the base URL.
            query: Parameters; a list repeats its parameter, None is left out.
            body: Bytes and text are sent as they are, everything else as JSON.

        Returns:
            `{"status", "headers", "data"}`: `data` is parsed if it is JSON, else text, and None
            without a body.
        """
        if not isinstance(method, str) or not method.isalpha() or not method.isascii():
            raise ValueError("The method must be a word such as GET.")
        call = Call(
            method=method.upper(),
            path=plain_path(path),
            options=Options(options),
            query=query or {},
            body=None if body is OMITTED else any_body(body),
            answer=Answer.ANYTHING,
            makes_key=False,
        )
        response: Response = await self._transport.send(call)
        return response

    async def close(self) -> None:
        """Closes the connections; not those of a passed `http_client`."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncBerth:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r})"
