"""Client library of Berth, the self-hosted service for long-lived software agents.

`Berth` is the client, `AsyncBerth` the same for asyncio; `berth.types` has the types of what the
service sends and takes.
"""

from . import types
from ._async._pages import AsyncPage, AsyncPages
from ._async._streams import AsyncChatStream, AsyncDownload, AsyncLogStream
from ._async.client import AsyncBerth
from ._async.schedules import apublish_schedules
from ._body import File
from ._options import CallOptions
from ._results import ChatEvent, ChatResult, DeliveryFailure, ExecutionResult, Response
from ._schedules import inside_agent
from ._sync._pages import Page
from ._sync._streams import ChatStream, Download, LogStream
from ._sync.client import Berth
from ._sync.schedules import publish_schedules
from ._version import __version__
from .errors import (
    ServiceAuthError,
    ServiceConflictError,
    ServiceConnectionError,
    ServiceError,
    ServiceNotFoundError,
    ServicePaymentRequiredError,
    ServiceRateLimitError,
)

__all__ = [
    "AsyncBerth",
    "AsyncChatStream",
    "AsyncDownload",
    "AsyncLogStream",
    "AsyncPage",
    "AsyncPages",
    "Berth",
    "CallOptions",
    "ChatEvent",
    "ChatResult",
    "ChatStream",
    "DeliveryFailure",
    "Download",
    "ExecutionResult",
    "File",
    "LogStream",
    "Page",
    "Response",
    "ServiceAuthError",
    "ServiceConflictError",
    "ServiceConnectionError",
    "ServiceError",
    "ServiceNotFoundError",
    "ServicePaymentRequiredError",
    "ServiceRateLimitError",
    "__version__",
    "apublish_schedules",
    "inside_agent",
    "publish_schedules",
    "types",
]
