"""A small HTTP server on loopback that can break off connections on purpose, which real ones avoid."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import responses
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from pressbox.demo.simulators.behaviour import Behaviour, Behaviours, Kind

MAX_BODY = 10_000_000
CONTROL = "/-/"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
# Closing a socket with this option sends a reset instead of an orderly end.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    body: bytes

    def first(self, name: str) -> str | None:
        values = self.query.get(name)
        return values[0] if values else None


@dataclass(frozen=True)
class Answer:
    """With `stream` the body continues as long as somebody reads. A Content-Length in `headers` may be wrong."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Iterable[bytes] | AsyncIterable[bytes] | None = None

    @classmethod
    def of(cls, value: object, status: int = 200) -> "Answer":
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


class HttpService:
    """Base of the simulators: a subclass answers; `tell` or `PUT /-/behaviours?key=…` sets how it behaves."""

    def __init__(self, port: int = 0, *, host: str = "127.0.0.1") -> None:
        self.behaviours = Behaviours()
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._closing = asyncio.Event()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._port}"

    def tell(self, key: str, kind: Kind, *, seconds: float = 0.0, times: int | None = None) -> None:
        self.behaviours.tell(key, Behaviour(kind=kind, seconds=seconds, times=times))

    async def answer(self, request: Request) -> Answer:
        """Answer as a well-behaved service."""
        return Answer()

    async def inspect(self, request: Request) -> Answer:
        """Answer `GET /-/received`."""
        return Answer.of([])

    def forget(self) -> None:
        """Forget what was received, for `DELETE /-/received`."""

    def key_of(self, request: Request) -> str:
        return request.path.lstrip("/")

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, self._port, backlog=1024)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            self._closing.set()
            # Connections that nobody reads any more would wait for ever.
            for writer in tuple(self._open):
                writer.transport.abort()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            request = await _read_request(reader)
            answer = await self._respond(request, writer)
            if answer is not None:
                writer.write(_encode(answer))
                await writer.drain()
                async for chunk in _read_chunks(answer.stream):
                    writer.write(chunk)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            # The client is gone or does not speak HTTP, so there is nobody to answer.
            writer.transport.abort()
        finally:
            self._open.discard(writer)
            with suppress(ConnectionError):
                writer.close()
                await writer.wait_closed()

    async def _respond(self, request: Request, writer: asyncio.StreamWriter) -> Answer | None:
        if request.path.startswith(CONTROL):
            return await self._handle_control(request)
        behaviour = await self.behaviours.take(self.key_of(request))
        match behaviour.kind:
            case Kind.GOOD | Kind.SLOW:
                return await self.answer(request)
            case Kind.BUSY:
                wait = {"Retry-After": f"{behaviour.seconds:g}"} if behaviour.seconds else {}
                return Answer(HTTPStatus.TOO_MANY_REQUESTS, b"", wait)
            case Kind.FAILING:
                return Answer(HTTPStatus.INTERNAL_SERVER_ERROR)
            case Kind.GONE:
                return Answer(HTTPStatus.GONE)
            case Kind.RESET:
                await self.answer(request)
                _reset_connection(writer)
            case Kind.HANGING:
                await self.answer(request)
                await self.hang()
        return None

    async def hang(self) -> None:
        """Wait until the server closes."""
        await self._closing.wait()

    async def _handle_control(self, request: Request) -> Answer:
        match request.method, request.path:
            case "PUT", "/-/behaviours":
                try:
                    self.behaviours.tell(request.first("key") or "", Behaviour.model_validate_json(request.body))
                except ValidationError:
                    return Answer(HTTPStatus.UNPROCESSABLE_ENTITY)
            case "GET", "/-/behaviours":
                return Answer.of({key: one.model_dump(mode="json") for key, one in self.behaviours.list().items()})
            case "GET", "/-/received":
                return await self.inspect(request)
            case "DELETE", "/-/received":
                self.forget()
            case _:
                return Answer(HTTPStatus.NOT_FOUND)
        return Answer()


async def _read_chunks(stream: Iterable[bytes] | AsyncIterable[bytes] | None) -> AsyncIterator[bytes]:
    if isinstance(stream, AsyncIterable):
        async for chunk in stream:
            yield chunk
    else:
        for chunk in stream or ():
            yield chunk


def _reset_connection(writer: asyncio.StreamWriter) -> None:
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    length = int(headers.get("content-length", "0"))
    if length > MAX_BODY:
        raise ValueError("The body is too large.")
    parts = urlsplit(target)
    return Request(method, parts.path, parse_qs(parts.query), headers, await reader.readexactly(length))


def _encode(answer: Answer) -> bytes:
    # A stream ends with the connection.
    length = {} if answer.stream is not None else {"Content-Length": str(len(answer.body))}
    headers = {**length, **answer.headers, "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    # Some services use status codes that are in no standard.
    phrase = responses.get(answer.status, "Unnamed")
    return f"HTTP/1.1 {answer.status} {phrase}\r\n{lines}\r\n".encode() + answer.body
