"""How the guarded client asks: one request with its redirects, deadline and limits, on a pool of connections."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

import httpcore
import httpx

from pressbox.core.config import HttpSettings
from pressbox.core.errors import InvalidInputError, PermanentError, RefusedAddressError, TransientError
from pressbox.core.http.backend import GuardedBackend, Resolver, SystemResolver
from pressbox.core.http.client import StreamedResponse
from pressbox.core.http.connections import ConnectionPool
from pressbox.core.http.decoding import ACCEPT_ENCODING, AnswerTooLargeError, decoded, decoder_for
from pressbox.core.http.guard import AllowList
from pressbox.core.http.url import check_url, host_of, port_of, same_origin

MAX_HEADER_BYTES = 64 * 1024
MAX_CONNECTIONS = 100
KEEPALIVE_SECONDS = 15.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})
_PERMANENT = frozenset({301, 308})
_STATUS_OF_TOO_LARGE_HEADERS = 431
# Whatever else a caller sends (Authorization, Cookie, an API key under any name) is for the host he named.
_HEADERS_FOR_ANY_HOST = frozenset(
    {
        "accept",
        "accept-language",
        "cache-control",
        "connection",
        "if-modified-since",
        "if-none-match",
        "range",
        "user-agent",
    }
)


class TooManyRedirectsError(PermanentError):
    code = "too_many_redirects"
    status = 502


@dataclass(frozen=True)
class _Exchange:
    """One request and how much time is left for it and for all that follow from it."""

    method: str
    url: httpx.URL
    headers: httpx.Headers
    content: bytes
    deadline: float
    limit: timedelta
    moved_to: str | None = None
    only_permanent: bool = True

    def redirect_to(self, status: int, location: str) -> "_Exchange":
        target = check_url(_join_url(self.url, location))
        method, content = self.method, self.content
        if status not in _KEEP_METHOD and method != "GET":
            method, content = "GET", b""
        headers = self.headers
        if not same_origin(self.url, target):
            if content:
                raise RefusedAddressError("The answer asks to send the data on to another host; that is not done.")
            headers = httpx.Headers({name: headers[name] for name in headers if name in _HEADERS_FOR_ANY_HOST})
        permanent = self.only_permanent and status in _PERMANENT
        return replace(
            self,
            method=method,
            url=target,
            headers=headers,
            content=content,
            moved_to=str(target) if permanent else self.moved_to,
            only_permanent=permanent,
        )

    def request(self) -> httpcore.Request:
        headers = self.headers.copy()
        headers["Accept-Encoding"] = ACCEPT_ENCODING
        if self.method == "POST":
            headers["Content-Length"] = str(len(self.content))
        # Ours last and first on the wire: a caller cannot speak to one host and mean another.
        headers.pop("Host", None)
        return httpcore.Request(
            self.method,
            httpcore.URL(
                scheme=self.url.raw_scheme,
                host=host_of(self.url).encode(),
                port=port_of(self.url),
                target=self.url.raw_path,
            ),
            headers=[(b"Host", self.url.netloc), *headers.raw],
            content=self.content,
        )


@cache
def _public_trust() -> ssl.SSLContext:
    """The authorities that everybody trusts. Reading them takes 16 ms, so all clients of a process share them."""
    return httpx.create_ssl_context(trust_env=False)


class Exchanges:
    """Requests on one pool of connections, all of them behind the guard."""

    def __init__(
        self,
        settings: HttpSettings,
        allowed: AllowList,
        resolver: Resolver | None,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self._settings = settings
        self._pool = ConnectionPool(
            ssl_context=ssl_context or _public_trust(),
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=KEEPALIVE_SECONDS,
            network_backend=GuardedBackend(allowed, resolver or SystemResolver()),
        )

    def open(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        content: bytes,
        max_bytes: int | None,
        timeout: timedelta | None,
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        """Ask, follow redirects, and give the answer whose body is read inside the block."""
        return self._answer(self._exchange(method, url, headers, content, timeout), max_bytes)

    async def close(self) -> None:
        await self._pool.aclose()

    def _exchange(
        self, method: str, url: str, headers: Mapping[str, str] | None, content: bytes, timeout: timedelta | None
    ) -> _Exchange:
        limit = timeout or timedelta(seconds=self._settings.timeout_seconds)
        try:
            own = httpx.Headers({"User-Agent": self._settings.introduction, "Accept": "*/*", **(headers or {})})
        except UnicodeEncodeError as error:
            raise InvalidInputError("A request header has characters that HTTP cannot carry.") from error
        return _Exchange(
            method=method,
            url=check_url(url),
            headers=own,
            content=content,
            deadline=asyncio.get_running_loop().time() + limit.total_seconds(),
            limit=limit,
        )

    @asynccontextmanager
    async def _answer(self, exchange: _Exchange, max_bytes: int | None) -> AsyncIterator[StreamedResponse]:
        limit = self._settings.max_bytes if max_bytes is None else max_bytes
        exchange, answer = await self._follow_redirects(exchange)
        try:
            headers = httpx.Headers(answer.headers)
            encoding = headers.get("content-encoding", "")
            size = None if encoding else _content_length(headers)
            if size is not None and size > limit:
                raise AnswerTooLargeError(f"The answer is larger than {limit:,} bytes.", max_bytes=limit)
            decoder = decoder_for(encoding)
            async with aclosing(_receive(answer, exchange)) as raw, aclosing(decoded(raw, decoder, limit)) as body:
                yield StreamedResponse(str(exchange.url), answer.status, headers, size, body, exchange.moved_to)
        finally:
            await answer.aclose()

    async def _follow_redirects(self, exchange: _Exchange) -> tuple[_Exchange, httpcore.Response]:
        for _ in range(self._settings.max_redirects + 1):
            answer = await self._send(exchange)
            location = httpx.Headers(answer.headers).get("location")
            if answer.status not in _REDIRECTS or not location:
                return exchange, answer
            # Not read: the body of a redirect says nothing and may be endless.
            await answer.aclose()
            exchange = exchange.redirect_to(answer.status, location)
        raise TooManyRedirectsError(
            f"More than {self._settings.max_redirects} redirects, the last one to {host_of(exchange.url)}.",
            host=host_of(exchange.url),
        )

    async def _send(self, exchange: _Exchange) -> httpcore.Response:
        with _translate_errors(exchange):
            async with asyncio.timeout_at(exchange.deadline):
                answer = await self._pool.handle_async_request(exchange.request())
        if sum(len(name) + len(value) for name, value in answer.headers) > MAX_HEADER_BYTES:
            await answer.aclose()
            raise AnswerTooLargeError(f"The headers of the answer are larger than {MAX_HEADER_BYTES:,} bytes.")
        return answer


async def _receive(answer: httpcore.Response, exchange: _Exchange) -> AsyncGenerator[bytes, None]:
    pieces = aiter(answer.aiter_stream())
    while True:
        # The deadline surrounds the waiting only. The code that uses a piece takes its own time, and its errors.
        with _translate_errors(exchange):
            async with asyncio.timeout_at(exchange.deadline):
                piece = await anext(pieces, None)
        if piece is None:
            return
        yield piece


@contextmanager
def _translate_errors(exchange: _Exchange) -> Iterator[None]:
    """Library exceptions become ours. Their texts may quote what the server sent, so only the kind is kept."""
    host = host_of(exchange.url)
    try:
        yield
    except (TimeoutError, httpcore.TimeoutException) as error:
        seconds = f"{exchange.limit.total_seconds():g}"
        raise TransientError(f"{host} did not answer completely within {seconds} seconds.", host=host) from error
    except httpcore.RemoteProtocolError as error:
        # The parser's own error is inside; it hints at the status with which a server would answer the same offence.
        if any(getattr(cause, "error_status_hint", None) == _STATUS_OF_TOO_LARGE_HEADERS for cause in error.args):
            raise AnswerTooLargeError(f"The headers of {host} are too large.", host=host) from error
        raise TransientError(f"{host} broke off or does not speak HTTP.", host=host) from error
    except httpcore.NetworkError as error:
        reason = str(error)[:200].rstrip(".")
        # Some errors of the library have no words.
        if not reason:
            raise TransientError(f"The connection to {host} was closed before an answer came.", host=host) from error
        raise TransientError(f"The connection to {host} failed: {reason}.", host=host) from error
    except httpcore.LocalProtocolError as error:
        raise InvalidInputError("The request has a header that HTTP does not allow.") from error


def _join_url(base: httpx.URL, location: str) -> httpx.URL:
    try:
        return base.join(location)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidInputError(f"{host_of(base)} redirects to something that is no address.", field="url") from error


def _content_length(headers: httpx.Headers) -> int | None:
    value = headers.get("content-length", "")
    # Cut off, because Python refuses to read a number of thousands of digits.
    return int(value[:18]) if value.isascii() and value.isdigit() else None
