"""A proxy on loopback behind the address guard, for programs that make their own connections (yt-dlp, a browser).

Every user of it holds a lease: a name and a password of its own, a budget of bytes and a deadline. What the guard
refuses, and a budget that is used up, is noted in the lease, because the program on the other side tells it badly.
"""

import asyncio
import base64
import binascii
import hmac
import secrets
import socket
import struct
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType

import httpcore

from pressbox.core.config import HttpSettings
from pressbox.core.errors import InvalidInputError, RefusedAddressError, TransientError
from pressbox.core.http.backend import GuardedBackend, Resolver, SystemResolver
from pressbox.core.http.guard import AllowList
from pressbox.core.http.url import check_url, host_of, port_of

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 15.0
CONNECT_SECONDS = 15.0
PIECE_BYTES = 64 * 1024
# How long, and how much, a client may go on sending after our last word.
LINGER_SECONDS = 15.0
LINGER_BYTES = 1024 * 1024
_HOP_HEADERS = frozenset({"proxy-authorization", "proxy-connection", "connection", "keep-alive", "te", "upgrade"})
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_CHALLENGE = {"Proxy-Authenticate": 'Basic realm="pressbox"'}


class LeaseOverError(Exception):
    """The budget or the time of a lease is used up."""


@dataclass
class Lease:
    """What one user may do. `refused` is what the guard said, `exhausted` that more bytes came than are allowed.

    `connected` says that some connection was made: something may have arrived there.
    """

    server: str
    username: str
    password: str = field(repr=False)
    max_bytes: int
    deadline: float
    spent: int = 0
    exhausted: bool = False
    connected: bool = False
    refused: RefusedAddressError | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    @property
    def url(self) -> str:
        """The address of the proxy with the credentials inside. It is a secret."""
        return self.server.replace("://", f"://{self.username}:{self.password}@", 1)

    def spend(self, size: int) -> None:
        self.spent += size
        if self.spent > self.max_bytes:
            self.exhausted = True
            raise LeaseOverError


@dataclass(frozen=True)
class _Head:
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def first(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


class GuardedProxy:
    """One per process. It listens while somebody holds a lease."""

    def __init__(self, settings: HttpSettings, *, resolver: Resolver | None = None) -> None:
        self._backend = GuardedBackend(AllowList.parse(settings.allow), resolver or SystemResolver())
        self._leases: dict[str, Lease] = {}
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> "GuardedProxy":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        for lease in tuple(self._leases.values()):
            await self._end(lease)

    @asynccontextmanager
    async def lease(self, max_bytes: int, time: timedelta) -> AsyncIterator[Lease]:
        """Inside the block the proxy serves whoever has these credentials; at its end all his connections end."""
        lease = Lease(
            server=await self._ensure_listening(),
            username=secrets.token_hex(8),
            password=secrets.token_hex(16),
            max_bytes=max_bytes,
            deadline=asyncio.get_running_loop().time() + time.total_seconds(),
        )
        self._leases[lease.username] = lease
        try:
            yield lease
        finally:
            await self._end(lease)

    async def _ensure_listening(self) -> str:
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _end(self, lease: Lease) -> None:
        self._leases.pop(lease.username, None)
        tasks = tuple(lease._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not self._leases and self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = _parse_head(await reader.readuntil(b"\r\n\r\n"))
            lease = self._lease_of(head)
            if lease is None:
                await _say(writer, 407, "Proxy Authentication Required", _CHALLENGE)
                return
            await self._serve_lease(lease, head, reader, writer)
        except (TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            with suppress(OSError):
                await _say(writer, 400, "Bad Request", {})
        except OSError:
            # The client has gone: nobody is left to tell.
            writer.transport.abort()
        finally:
            with suppress(OSError):
                await _hear_out(reader, writer)
                writer.close()
                await writer.wait_closed()

    def _lease_of(self, head: _Head) -> Lease | None:
        scheme, _, encoded = (head.first("proxy-authorization") or "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            username, _, password = base64.b64decode(encoded, validate=True).decode("ascii").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        lease = self._leases.get(username)
        return lease if lease is not None and hmac.compare_digest(lease.password, password) else None

    async def _serve_lease(
        self, lease: Lease, head: _Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.create_task(self._forward(lease, head, reader, writer))
        lease._tasks.add(task)
        try:
            await task
        except (LeaseOverError, TimeoutError, httpcore.NetworkError, httpcore.TimeoutException):
            _break_off(writer)
        except asyncio.CancelledError:
            _break_off(writer)
            if not task.cancelled():
                task.cancel()
                raise
        finally:
            lease._tasks.discard(task)

    async def _forward(
        self, lease: Lease, head: _Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            host, port, first, body_bytes = _destination(head)
            async with asyncio.timeout_at(lease.deadline):
                upstream = await self._backend.connect_tcp(host, port, timeout=CONNECT_SECONDS)
                lease.connected = True
        except RefusedAddressError as error:
            lease.refused = error
            await _say(writer, 403, "Forbidden", {})
            return
        except (InvalidInputError, ValueError):
            await _say(writer, 400, "Bad Request", {})
            return
        except (TransientError, httpcore.NetworkError, httpcore.TimeoutException, TimeoutError):
            await _say(writer, 502, "Bad Gateway", {})
            return
        try:
            if first:
                await upstream.write(first, CONNECT_SECONDS)
            else:
                await _say(writer, 200, "Connection established", None)
            async with asyncio.timeout_at(lease.deadline):
                await _relay(_copy_down(lease, upstream, writer), _copy_up(lease, reader, upstream, body_bytes))
        finally:
            await upstream.aclose()


async def _relay(*directions: Coroutine[None, None, None]) -> None:
    """Both directions, until one of them ends."""
    tasks = [asyncio.create_task(direction) for direction in directions]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy_down(lease: Lease, upstream: httpcore.AsyncNetworkStream, writer: asyncio.StreamWriter) -> None:
    while piece := await upstream.read(PIECE_BYTES):
        lease.spend(len(piece))
        writer.write(piece)
        await writer.drain()


async def _copy_up(
    lease: Lease, reader: asyncio.StreamReader, upstream: httpcore.AsyncNetworkStream, body_bytes: int | None
) -> None:
    left = body_bytes
    while piece := await reader.read(PIECE_BYTES):
        if left is not None:
            # A second request on this connection may be for another host: it has to make a connection of its own.
            if len(piece) > left:
                raise LeaseOverError
            left -= len(piece)
        lease.spend(len(piece))
        await upstream.write(piece)


def _parse_head(data: bytes) -> _Head:
    first, *lines = data.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, version = first.split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError("Not HTTP/1.")
    headers = tuple((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    return _Head(method.upper(), target, headers)


def _destination(head: _Head) -> tuple[str, int, bytes, int | None]:
    """Host, port, what is sent there first, and how much more may follow; None: anything, as it is a tunnel."""
    if head.method == "CONNECT":
        url = check_url(f"https://{head.target}/")
        return host_of(url), port_of(url), b"", None
    url = check_url(head.target)
    if url.scheme != "http" or head.first("transfer-encoding") is not None:
        raise ValueError("Only plain requests with a known size.")
    kept = [(name, value) for name, value in head.headers if name.lower() not in _HOP_HEADERS | {"host"}]
    lines = [("Host", url.netloc.decode("ascii")), *kept, ("Connection", "close")]
    text = "".join(f"{name}: {value}\r\n" for name, value in lines)
    first = f"{head.method} {url.raw_path.decode('ascii')} HTTP/1.1\r\n{text}\r\n".encode("latin-1")
    return host_of(url), port_of(url), first, int(head.first("content-length") or 0)


def _break_off(writer: asyncio.StreamWriter) -> None:
    """With a reset: an orderly end would look like the end of the data."""
    connection = writer.get_extra_info("socket")
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()


async def _hear_out(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read what a client still sends: a connection closed over it is reset, and our answer is lost with it."""
    if writer.is_closing():
        return
    writer.write_eof()
    left = LINGER_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0 and (piece := await reader.read(PIECE_BYTES)):
                left -= len(piece)


async def _say(writer: asyncio.StreamWriter, status: int, phrase: str, headers: Mapping[str, str] | None) -> None:
    """An answer of our own; None for headers: the tunnel begins after it."""
    rest = {} if headers is None else {**headers, "Content-Length": "0", "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in rest.items())
    writer.write(f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode("latin-1"))
    await writer.drain()
