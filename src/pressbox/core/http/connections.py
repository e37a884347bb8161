"""Connections of the client: HTTP/2 where a server offers it over TLS, HTTP/1.1 everywhere else.

Over HTTP/2, too, a connection carries one request at a time. We ask a host slowly, so sharing would gain little, and
would let requests share a fate: httpcore sends no reset for an answer that nobody reads on, whose bytes then use up
the window of the whole connection; and a write that is cancelled halfway spoils it for everybody.
"""

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress
from typing import cast

import h2.exceptions
import httpcore

# A value with one of these could end our own header when it is passed on. HTTP/1.1 cannot carry them.
_NEVER_IN_HEADERS = (b"\r", b"\n", b"\0")


class HeadersTooLargeError(Exception):
    """Stands inside a RemoteProtocolError, with the hint that the parser of HTTP/1.1 gives in the same case."""

    error_status_hint = 431


class ConnectionPool(httpcore.AsyncConnectionPool):
    """httpcore's pool, of connections as described above. Sockets come from `network_backend` alone."""

    def __init__(
        self,
        *,
        ssl_context: ssl.SSLContext,
        max_connections: int,
        keepalive_expiry: float,
        network_backend: httpcore.AsyncNetworkBackend,
    ) -> None:
        super().__init__(
            ssl_context=ssl_context,
            max_connections=max_connections,
            keepalive_expiry=keepalive_expiry,
            network_backend=network_backend,
            http2=True,
        )
        self._tls = ssl_context
        self._expiry = keepalive_expiry
        self._backend = network_backend

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        return SingleConnection(
            origin, ssl_context=self._tls, keepalive_expiry=self._expiry, network_backend=self._backend, http2=True
        )


class SingleConnection(httpcore.AsyncHTTPConnection):
    """Takes the next request when the answer to the last one was read to its end; otherwise it closes."""

    _used = False
    _network: httpcore.AsyncNetworkStream | None = None

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        if self._used and not self.is_idle():
            raise httpcore.ConnectionNotAvailable
        self._used = True
        try:
            _check_headers(request.headers, httpcore.LocalProtocolError)
            answer = await super().handle_async_request(request)
            _check_headers(answer.headers, httpcore.RemoteProtocolError)
        # Also when it is cancelled: half a request may be on the wire.
        except BaseException as error:
            await self.give_up()
            if (trouble := _trouble_of_http2(error)) is not None:
                raise trouble from error
            raise
        if answer.extensions["http_version"] != b"HTTP/2":
            return answer
        self._network = answer.extensions["network_stream"]
        body = _Body(self, cast("AsyncIterable[bytes]", answer.stream), last=_is_last(request))
        return httpcore.Response(answer.status, headers=answer.headers, content=body, extensions=answer.extensions)

    def is_available(self) -> bool:
        return self.is_idle() and super().is_available()

    def has_expired(self) -> bool:
        # What waits to be read on an idle connection of HTTP/2 is most likely its end.
        unread = self.is_idle() and self._network is not None and self._network.get_extra_info("is_readable")
        return bool(unread) or super().has_expired()

    async def give_up(self) -> None:
        with suppress(httpcore.NetworkError, h2.exceptions.ProtocolError, OSError):
            await self.aclose()


class _Body:
    """The pieces of an answer over HTTP/2. Whoever stops before the end closes the connection with it."""

    def __init__(self, connection: SingleConnection, pieces: AsyncIterable[bytes], *, last: bool) -> None:
        self._connection = connection
        self._pieces = pieces
        self._complete = False
        self._last = last

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                yield piece
        except h2.exceptions.ProtocolError as error:
            raise httpcore.RemoteProtocolError(error) from error
        self._complete = True

    async def aclose(self) -> None:
        close = getattr(self._pieces, "aclose", None)
        if close is not None:
            await close()
        if self._last or not self._complete:
            await self._connection.give_up()


def _check_headers(headers: Iterable[tuple[bytes, bytes]], refusal: type[httpcore.ProtocolError]) -> None:
    if any(character in part for header in headers for part in header for character in _NEVER_IN_HEADERS):
        raise refusal("A header has a line break.")


def _trouble_of_http2(error: BaseException) -> httpcore.RemoteProtocolError | None:
    """What h2 says about bytes of the other side. httpcore calls it our fault, or passes it on as it is."""
    cause = error.args[0] if isinstance(error, httpcore.LocalProtocolError) and error.args else error
    if isinstance(cause, h2.exceptions.DenialOfServiceError):
        return httpcore.RemoteProtocolError(HeadersTooLargeError())
    # A status that is no number is a ValueError in httpcore.
    return httpcore.RemoteProtocolError(cause) if isinstance(cause, h2.exceptions.H2Error | ValueError) else None


def _is_last(request: httpcore.Request) -> bool:
    return any(name.lower() == b"connection" and value.lower() == b"close" for name, value in request.headers)
