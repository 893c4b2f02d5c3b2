# Generated from _async/client.py by scripts/generate_sync.py: change that file.
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
from ._resource import Resource
from ._transport import Transport
from .account import Account, Audit, Feedback, Keys, Templates
from .agents import Agents
from .computers import Computers
from .deployments import Deployments
from .end_users import EndUsers
from .files import Env, Files
from .operations import Operations
from .usage import Usage
from .webhooks import Webhooks

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Berth(Resource):
    """A client of Berth. Close it by `with` or `close()`.

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
        http_client: httpx.Client | None = None,
    ) -> None:
        settings = Settings(api_key, base_url, timeout=timeout, max_retries=max_retries, headers=headers)
        if http_client is not None and not isinstance(http_client, httpx.Client):
            raise ValueError("http_client must be an httpx.Client.")
        transport = Transport(settings, http_client)
        super().__init__(transport)
        self.templates: Templates = Templates(transport)
        self.agents: Agents = Agents(transport)
        self.files: Files = Files(transport)
        self.env: Env = Env(transport)
        self.deployments: Deployments = Deployments(transport)
        self.webhooks: Webhooks = Webhooks(transport)
        self.end_users: EndUsers = EndUsers(transport)
        self.usage: Usage = Usage(transport)
        self.computers: Computers = Computers(transport)
        self.keys: Keys = Keys(transport)
        self.account: Account = Account(transport)
        self.audit: Audit = Audit(transport)
        self.feedback: Feedback = Feedback(transport)
        self.operations: Operations = Operations(transport)

    @property
    def base_url(self) -> str:
        """Where Berth is."""
        return self._transport.settings.base_url

    def health(self, **options: Unpack[CallOptions]) -> types.Health:
        """Returns how Berth is: `GET /health`.

        Returns:
            `{"status", "runtime", "version", "dependencies"}`
        """
        health: types.Health = self._get("/health", options)
        return health

    def request(
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
        response: Response = self._transport.send(call)
        return response

    def close(self) -> None:
        """Closes the connections; not those of a passed `http_client`."""
        self._transport.close()

    def __enter__(self) -> Berth:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r})"
