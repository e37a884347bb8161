"""A server on loopback that answers byte by byte as a test wants, and a resolver whose answers a test scripts."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

from pressbox.core.errors import TransientError
from pressbox.core.http.guard import Address


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class LoopbackServer:
    """`routes` maps a path to what is sent; `requests` is what came in, `connections` how often somebody connected."""

    host: str = "127.0.0.1"
    port: int = 0
    routes: dict[str, Handler] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    bytes_sent: int = 0
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str, host: str | None = None) -> str:
        return f"http://{host or self.host}:{self.port}{path}"

    def answers(self, path: str, status: str = "200 OK", body: bytes = b"", **headers: str) -> None:
        """A whole and correct answer."""
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.sends(path, f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body)}", body=body)

    def redirects(self, path: str, location: str, status: str = "302 Found") -> None:
        self.answers(path, status, Location=location)

    def sends(self, path: str, *lines: str, body: bytes = b"") -> None:
        """These lines and bytes, then the end of the connection."""
        head = "".join(f"{line}\r\n" for line in (*lines, "Connection: close", ""))

        async def handler(writer: asyncio.StreamWriter) -> None:
            await self.write(writer, head.encode("latin-1") + body)

        self.routes[path] = handler

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        await writer.drain()
        self.bytes_sent += len(data)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                await self.routes[request.path](writer)
                # Every answer says `Connection: close`, so there is no second request.
                break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        finally:
            writer.close()


@asynccontextmanager
async def running(
    host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[LoopbackServer]:
    server = LoopbackServer(host)
    listener = await asyncio.start_server(server.serve, host, port, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await listener.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


class ScriptedResolver:
    """Each look-up of a name takes the next of its answers; the last one stays."""

    def __init__(self, **answers: Sequence[str | Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        self.asked.append(host)
        given = self._answers.get(host)
        if given is None:
            raise TransientError(f"The name {host} does not resolve.")
        answer = given.pop(0) if len(given) > 1 else given[0]
        return tuple(ip_address(text) for text in ([answer] if isinstance(answer, str) else answer))
