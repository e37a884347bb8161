"""The server's door over real sockets: half-sent requests end, and an honest one is answered all the while."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import httpx
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from pressbox.core.config import WebSettings
from pressbox.core.web.addresses import Network, trusted_networks
from pressbox.core.web.server import Door, DoorLimits, GuardedProtocol, Phase, allow_many_files, guarded_protocol
from tests.patience import patience
from tests.waiting import PATIENCE_SECONDS, look_until, until

# Longer than a test: what ends before does not end by the clock.
NEVER = 3600.0
SOON = patience(0.2)
PATIENT = DoorLimits(in_all=5000, head_seconds=NEVER, body_seconds=NEVER, reader_seconds=NEVER)
HALF_HEAD = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nX-Half"
HALF_BODY = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf"


async def echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def flood(_: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536
            await asyncio.sleep(0)

    return StreamingResponse(chunks())


APP = Router([Route("/echo", echo, methods=["GET", "POST"]), Route("/flood", flood)])


class CountingDoor(Door):
    """Knows how many came in, however soon they were ended."""

    entered = 0

    def enter(self, connection: GuardedProtocol) -> bool:
        let_in = super().enter(connection)
        self.entered += let_in
        return let_in


@asynccontextmanager
async def served(limits: DoorLimits, *trusted: str) -> AsyncIterator[tuple[int, CountingDoor]]:
    networks: tuple[Network, ...] = trusted_networks(WebSettings(trusted_proxies=trusted))
    door = CountingDoor(limits, networks)
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(
        APP, http=guarded_protocol(door), ws="none", log_config=None, lifespan="off", timeout_graceful_shutdown=0
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1], door
    finally:
        server.should_exit = True
        await task


@contextmanager
def hoard() -> Iterator[list[socket.socket]]:
    """Sockets of somebody who wants to harm."""
    held: list[socket.socket] = []
    try:
        yield held
    finally:
        for each in held:
            each.close()


async def dial(held: list[socket.socket], port: int, data: bytes) -> socket.socket:
    loop = asyncio.get_running_loop()
    made = socket.socket()
    made.setblocking(False)
    held.append(made)
    await loop.sock_connect(made, ("127.0.0.1", port))
    await loop.sock_sendall(made, data)
    return made


async def read_all(sock: socket.socket) -> bytes:
    """Everything until the server closes."""
    found = b""
    try:
        while chunk := await asyncio.get_running_loop().sock_recv(sock, 65_536):
            found += chunk
    except ConnectionError:
        pass
    return found


async def ask(port: int, words: str = "hello") -> str:
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        answer = await client.post(f"http://127.0.0.1:{port}/echo", content=words)
    assert answer.status_code == 200
    return answer.text


async def test_an_honest_request_is_answered_while_1200_half_sent_ones_are_held_open() -> None:
    """Nothing here ends by time: whoever waits longest with half a request gives its place to the next."""
    limits = DoorLimits(per_address=40, in_all=5000, head_seconds=NEVER, body_seconds=NEVER)
    async with served(limits) as (port, door):
        with hoard() as held:
            for number in range(1200):
                await dial(held, port, (b"", HALF_HEAD, HALF_BODY)[number % 3])
            await until(lambda: len(door) == 40)
            assert [await ask(port, f"{number}") for number in range(5)] == ["0", "1", "2", "3", "4"]
            assert len(door) <= 40


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (b"", DoorLimits(head_seconds=SOON, body_seconds=NEVER)),
        (b"\r\n", DoorLimits(head_seconds=SOON, body_seconds=NEVER)),
        (HALF_HEAD, DoorLimits(head_seconds=SOON, body_seconds=NEVER)),
        (HALF_BODY, DoorLimits(head_seconds=NEVER, body_seconds=SOON)),
        (b"GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n", DoorLimits(reader_seconds=SOON)),
    ],
    ids=["nothing", "empty lines", "half a head", "half a body", "an answer that nobody reads"],
)
async def test_what_does_not_arrive_or_is_not_taken_in_time_ends(data: bytes, limits: DoorLimits) -> None:
    async with served(limits) as (port, door):
        with hoard() as held:
            for _ in range(50):
                await dial(held, port, data)
            await until(lambda: door.entered == 50)
            await until(lambda: len(door) == 0)
        assert await ask(port) == "hello"


@pytest.mark.parametrize(("start", "byte"), [(HALF_HEAD, b"x"), (HALF_BODY, b"y")], ids=["head", "body"])
async def test_a_byte_now_and_then_buys_no_more_time(start: bytes, byte: bytes) -> None:
    async with served(DoorLimits(head_seconds=SOON, body_seconds=SOON)) as (port, door):
        with hoard() as held:
            sockets = [await dial(held, port, start) for _ in range(20)]

            async def drip() -> int:
                for each in sockets:
                    try:
                        each.send(byte)
                    except OSError:
                        continue
                return len(door)

            await look_until(drip, lambda count: count == 0, "the end of all")


async def test_a_half_head_is_answered_before_it_ends() -> None:
    async with served(DoorLimits(head_seconds=SOON)) as (port, _):
        with hoard() as held:
            answer = await read_all(await dial(held, port, HALF_HEAD))
    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_connection_that_was_kept_does_not_wait_for_ever_for_half_the_next_request() -> None:
    whole = b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with served(DoorLimits(head_seconds=SOON, body_seconds=NEVER)) as (port, door):
        with hoard() as held:
            kept = await dial(held, port, whole)
            assert (await asyncio.get_running_loop().sock_recv(kept, 1000)).startswith(b"HTTP/1.1 200 ")
            await asyncio.get_running_loop().sock_sendall(kept, HALF_HEAD)
            await until(lambda: len(door) == 0)


async def test_headers_without_an_end_are_refused() -> None:
    async with served(PATIENT) as (port, _):
        with hoard() as held:
            sock = await dial(held, port, HALF_HEAD)
            reading = asyncio.create_task(read_all(sock))
            with pytest.raises(ConnectionError):
                for _ in range(200):
                    await asyncio.get_running_loop().sock_sendall(sock, b"x" * 1000)
                    await asyncio.sleep(0)
            answer = await reading
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")


async def test_who_is_busy_is_not_ended_for_another_and_the_refusal_is_an_answer() -> None:
    limits = DoorLimits(per_address=3, in_all=5000)
    async with served(limits) as (port, door), httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        address = f"http://127.0.0.1:{port}"
        async with AsyncExitStack() as stack:
            busy = [await stack.enter_async_context(client.stream("GET", f"{address}/flood")) for _ in range(3)]
            refused = await client.get(f"{address}/echo")
            assert refused.status_code == 503
            assert "Too many connections" in refused.text
            assert [await anext(answer.aiter_raw()) for answer in busy]
        await until(lambda: len(door) <= 1)


async def test_a_trusted_proxy_stands_for_many_people() -> None:
    limits = DoorLimits(per_address=3, in_all=5000)
    async with served(limits, "127.0.0.0/8") as (port, door):
        with hoard() as held:
            for _ in range(20):
                await dial(held, port, HALF_HEAD)
            await until(lambda: len(door) == 20)


async def test_a_process_has_a_limit_for_all_together() -> None:
    limits = DoorLimits(per_address=5000, in_all=10)
    async with served(limits, "127.0.0.0/8") as (port, door):
        with hoard() as held:
            for _ in range(50):
                await dial(held, port, HALF_BODY)
            await until(lambda: len(door) == 10)
            assert await ask(port) == "hello"


def test_a_slow_upload_that_keeps_coming_has_the_time_it_needs() -> None:
    limits = DoorLimits(body_seconds=20, body_bytes_per_second=1000)
    assert limits.patience(Phase.BODY, 0) == 20
    assert limits.patience(Phase.BODY, 5_000_000) == 5020


def test_as_many_files_may_be_open_as_connections_are_wanted() -> None:
    assert allow_many_files(100) == 100
