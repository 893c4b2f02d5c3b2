"""The exceptions of this library. All derive from `ServiceError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx


class ServiceError(Exception):
    """A call failed: the service refused it, or its answer could not be used.

    Attributes:
        status: The HTTP status, or None if there was no whole answer.
        code: The stable code of the refusal (`agent_not_found`), if the service sent one.
        message: What happened and what to do; never empty.
        detail: The `detail` of the answer: an object or a string. Of an answer that is no JSON, its
            first 1,000 characters.
        request_id: The `X-Request-Id` of the answer; quote it in a report.
        headers: The headers of the answer, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        detail: Any = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message: str = message
        self.status: int | None = status
        self.code: str | None = code
        self.detail: Any = detail
        self.request_id: str | None = request_id
        self.headers: Mapping[str, str] | None = headers

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def cause(self) -> BaseException | None:
        """The exception that led to this one, if any; the same as `__cause__`."""
        return self.__cause__

    def __str__(self) -> str:
        known = {"status": self.status, "code": self.code, "request": self.request_id}
        context = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
        return f"{self.message} ({context})" if context else self.message

    def __repr__(self) -> str:
        return f"{self.name}({str(self)!r})"


class ServiceAuthError(ServiceError):
    """401 or 403: the key is missing, invalid, or lacks the scope. Without `status`: no key was found."""


class ServicePaymentRequiredError(ServiceError):
    """402: a plan's limit, a spending cap or an add-on that the plan lacks."""


class ServiceNotFoundError(ServiceError):
    """404: what the call names does not exist, or belongs to another account."""


class ServiceConflictError(ServiceError):
    """409: the call contradicts the present state, for example because a name is taken."""


class ServiceRateLimitError(ServiceError):
    """429: too many calls.

    Attributes:
        retry_after: Seconds to wait before the next call, if the service said so.
    """

    retry_after: float | None = None


class ServiceConnectionError(ServiceError):
    """There was no whole answer: refused, reset, also midway, or too late.

    `code` is `connection_failed` or `timeout`, `status` is None, and `cause` is the exception below.
    """


_CLASSES: Mapping[int, type[ServiceError]] = {
    401: ServiceAuthError,
    402: ServicePaymentRequiredError,
    403: ServiceAuthError,
    404: ServiceNotFoundError,
    409: ServiceConflictError,
    429: ServiceRateLimitError,
}


def class_for(status: int) -> type[ServiceError]:
    """Returns the class of the errors with this status."""
    return _CLASSES.get(status, ServiceError)


def request_id_of(headers: httpx.Headers) -> str | None:
    """Returns the id of the request that the answer belongs to."""
    value = headers.get("x-request-id")
    return value or None
