"""Which answers of HTTP services may be billed."""

import httpcore
import httpx

from pressbox.core.errors import RefusedAddressError

OVERLOADED = 529
# The service says that it did no work.
_NOT_DONE = frozenset({httpx.codes.SERVICE_UNAVAILABLE, OVERLOADED})
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.InvalidURL,
    httpx.UnsupportedProtocol,
    httpcore.ConnectError,
    httpcore.ConnectTimeout,
    httpcore.PoolTimeout,
    RefusedAddressError,
)


def may_be_billed(status: int) -> bool:
    """A request that was taken may be billed, also when it failed inside or behind a gateway; a refused one is not."""
    if status in _NOT_DONE:
        return False
    return (
        httpx.codes.is_success(status) or status == httpx.codes.REQUEST_TIMEOUT or httpx.codes.is_server_error(status)
    )


def was_sent(error: BaseException) -> bool:
    """Whether the request may have reached the service before this error, or before one that caused it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _NEVER_SENT):
            return False
        cause = cause.__cause__
    return True
