"""The one HTTP client for everything that a user or a feed can point us at."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from pressbox.core.http.guard import AllowList

if TYPE_CHECKING:
    import httpx

    from pressbox.core.config import HttpSettings
    from pressbox.core.http.backend import Resolver
    from pressbox.core.http.exchange import Exchanges


@dataclass(frozen=True)
class Response:
    """A whole answer. `url` is where it came from in the end; `body` is decompressed. Any status is a value.

    `moved_to` is where permanent redirects (301, 308) lead from the address that was asked for, until the first other.
    """

    url: str
    status: int
    headers: httpx.Headers
    body: bytes
    moved_to: str | None = None


@dataclass(frozen=True)
class StreamedResponse:
    """An answer whose body is still to be read, once, with `chunks`. `size` is None when the server does not say."""

    url: str
    status: int
    headers: httpx.Headers
    size: int | None
    _body: AsyncIterator[bytes] = field(repr=False)
    moved_to: str | None = None

    def chunks(self) -> AsyncIterator[bytes]:
        return self._body


class GuardedClient:
    """Reaches the public internet and what the administrator allows, within limits of time, size and redirects.

    A status code is a value. Trouble on the way is a TransientError; an address that the guard refuses, at first or
    after a redirect, a RefusedAddressError; too much data an AnswerTooLargeError. The client keeps no cookies and
    reads no proxy settings. One per process; close it at the end.
    """

    def __init__(
        self, settings: HttpSettings, *, resolver: Resolver | None = None, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self._settings = settings
        self._allowed = AllowList.parse(settings.allow)
        self._resolver = resolver
        self._ssl_context = ssl_context

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        timeout: timedelta | None = None,
    ) -> Response:
        """Fetch a whole answer. `timeout` covers everything from the look-up to the last byte."""
        async with self.stream(url, headers=headers, max_bytes=max_bytes, timeout=timeout) as answer:
            return await _read_whole(answer)

    async def post(
        self,
        url: str,
        content: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        timeout: timedelta | None = None,
    ) -> Response:
        """Send data and fetch the whole answer. The data never follows a redirect to another host."""
        async with self._exchanges.open("POST", url, headers, content, max_bytes, timeout) as answer:
            return await _read_whole(answer)

    @asynccontextmanager
    async def stream(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        """Fetch an answer whose body is read piece by piece inside the block, under the same limits."""
        async with self._exchanges.open("GET", url, headers, b"", max_bytes, timeout) as answer:
            yield answer

    async def close(self) -> None:
        if "_exchanges" in vars(self):
            await self._exchanges.close()

    @cached_property
    def _exchanges(self) -> Exchanges:
        # Made by the first request: most commands ask nobody, and need neither HTTP libraries nor authorities.
        from pressbox.core.http.exchange import Exchanges

        return Exchanges(self._settings, self._allowed, self._resolver, self._ssl_context)

    async def __aenter__(self) -> GuardedClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


async def _read_whole(answer: StreamedResponse) -> Response:
    body = b"".join([piece async for piece in answer.chunks()])
    return Response(answer.url, answer.status, answer.headers, body, answer.moved_to)
