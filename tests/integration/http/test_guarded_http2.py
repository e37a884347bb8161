"""HTTP/2 where a server offers it: the same guards, the same limits, and nobody's trouble is another's."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import h2.errors
import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import InvalidInputError, RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.decoding import AnswerTooLargeError
from tests.certificates import Authority
from tests.integration.http.http2_server import Answering, Http2Server, Turn, serving
from tests.integration.http.loopback import ScriptedResolver, running
from tests.patience import patience
from tests.waiting import until


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[Http2Server]:
    async with serving(authority.sign()) as server:
        server.routes["/"] = lambda turn: turn.answer(b"hello", content_type="text/plain")
        yield server


@pytest.fixture
async def client(authority: Authority, server: Http2Server) -> AsyncIterator[GuardedClient]:
    settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",), max_bytes=300_000, timeout_seconds=patience(10))
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    async with GuardedClient(settings, ssl_context=trusting) as client:
        yield client


async def test_http2_is_spoken_where_it_is_offered(client: GuardedClient, server: Http2Server) -> None:
    answer = await client.get(server.url("/"), headers={"X-Own": "yes"})
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"hello", "text/plain")
    [request] = server.requests
    assert request.headers[":authority"] == f"127.0.0.1:{server.port}"
    assert request.headers["x-own"] == "yes"
    assert "host" not in request.headers


async def test_http1_is_spoken_where_http2_is_not_offered(authority: Authority) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    async with running(tls=authority.sign()) as plain:
        plain.answers("/", body=b"old")
        async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{plain.port}",)), ssl_context=trusting) as client:
            assert (await client.get(f"https://127.0.0.1:{plain.port}/")).body == b"old"
    assert plain.requests[0].headers["host"] == f"127.0.0.1:{plain.port}"


async def test_data_is_sent_and_a_connection_serves_again(client: GuardedClient, server: Http2Server) -> None:
    server.routes["/echo"] = lambda turn: turn.answer(turn.body)
    data = b"x" * 200_000
    assert (await client.post(server.url("/echo"), data)).body == data
    assert (await client.post(server.url("/echo"), b"again")).body == b"again"
    # The second may open a connection of its own when the server had something left to say.
    assert server.connections <= 2


async def test_a_caller_that_wants_no_kept_connection_gets_none(client: GuardedClient, server: Http2Server) -> None:
    for _ in range(2):
        await client.get(server.url("/"), headers={"Connection": "close"})
    assert server.connections == 2
    assert "connection" not in server.requests[0].headers
    await until(lambda: server.left == 2)


async def test_the_guard_stands_before_http2_too(authority: Authority, server: Http2Server) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    resolver = ScriptedResolver(inside_example=["127.0.0.1"])
    async with GuardedClient(HttpSettings(), resolver=resolver, ssl_context=trusting) as client:
        with pytest.raises(RefusedAddressError):
            await client.get(server.url("/", host="inside.example"))
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{server.port}",))) as strict:
        with pytest.raises(TransientError, match="failed"):
            await strict.get(server.url("/"))
    assert server.requests == []


async def test_a_redirect_over_http2_meets_the_guard(client: GuardedClient, server: Http2Server) -> None:
    server.routes["/away"] = lambda turn: turn.answer(b"", status="302", location="https://127.0.0.1:1/")
    server.routes["/here"] = lambda turn: turn.answer(b"moved", status="301", location="/")
    assert (await client.get(server.url("/here"))).moved_to == server.url("/")
    with pytest.raises(RefusedAddressError):
        await client.get(server.url("/away"))


async def refuse(turn: Turn) -> None:
    turn.connection.reset_stream(turn.stream, h2.errors.ErrorCodes.REFUSED_STREAM)
    await turn.flush()


async def go_away(turn: Turn) -> None:
    turn.connection.close_connection(h2.errors.ErrorCodes.ENHANCE_YOUR_CALM, last_stream_id=turn.stream)
    await turn.flush()


async def break_off(turn: Turn) -> None:
    await turn.begin(content_length="100")
    await turn.send(b"half")
    turn.connection.reset_stream(turn.stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
    await turn.flush()


async def end_short(turn: Turn) -> None:
    await turn.begin(content_length="100")
    await turn.send(b"half", end=True)


async def hang_up(turn: Turn) -> None:
    turn.writer.transport.abort()


async def send_nonsense(turn: Turn) -> None:
    # Data that belong to no stream.
    turn.writer.write(b"\x00\x00\x01" + bytes(6) + b"x")
    await turn.writer.drain()


async def send_odd_status(turn: Turn) -> None:
    await turn.answer(b"", status="okay")


async def split_headers(turn: Turn) -> None:
    await turn.answer(b"", content_type="text/html\r\nSet-Cookie: a=b")


@pytest.mark.parametrize(
    "trouble", [refuse, go_away, break_off, end_short, hang_up, send_nonsense, send_odd_status, split_headers]
)
async def test_trouble_of_http2_passes(client: GuardedClient, server: Http2Server, trouble: Answering) -> None:
    server.routes["/trouble"] = trouble
    with pytest.raises(TransientError, match=r"broke off or does not speak HTTP|failed"):
        await client.get(server.url("/trouble"))
    assert (await client.get(server.url("/"))).body == b"hello"


async def test_a_connection_that_ended_while_idle_is_not_used_again(client: GuardedClient, server: Http2Server) -> None:
    async def answer_and_leave(turn: Turn) -> None:
        await turn.answer(b"last")
        turn.connection.close_connection()
        await turn.flush()
        turn.writer.close()

    server.routes["/last"] = answer_and_leave
    assert (await client.get(server.url("/last"))).body == b"last"
    await until(lambda: server.left == 1)
    assert (await client.get(server.url("/"))).body == b"hello"


async def test_large_headers_are_refused(client: GuardedClient, server: Http2Server) -> None:
    server.routes["/headers"] = lambda turn: turn.answer(b"", **{f"x-{n}": "y" * 8_000 for n in range(20)})
    with pytest.raises(AnswerTooLargeError, match="headers"):
        await client.get(server.url("/headers"))
    assert (await client.get(server.url("/"))).body == b"hello"


async def test_an_endless_answer_is_left_with_its_connection(client: GuardedClient, server: Http2Server) -> None:
    async def never_end(turn: Turn) -> None:
        await turn.begin()
        while True:
            await turn.send(b"y" * 100_000)

    server.routes["/endless"] = never_end
    for _ in range(3):
        with pytest.raises(AnswerTooLargeError):
            await client.get(server.url("/endless"))
    # Nobody goes on sending to us: each connection is gone, and nothing that was left unread holds up the next.
    await until(lambda: server.left == 3)
    assert (await client.get(server.url("/"))).body == b"hello"


async def test_who_gives_up_waiting_harms_nobody_else(authority: Authority, server: Http2Server) -> None:
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def answer_late(turn: Turn) -> None:
        await turn.begin()
        waiting.set()
        await go_on.wait()
        await turn.send(b"late", end=True)

    async def never_answer(turn: Turn) -> None:
        await asyncio.sleep(3600)

    server.routes["/late"], server.routes["/never"] = answer_late, never_answer
    settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",), timeout_seconds=patience(60))
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    async with GuardedClient(settings, ssl_context=trusting) as client:
        patient = asyncio.create_task(client.get(server.url("/late")))
        await waiting.wait()
        impatient = asyncio.create_task(client.get(server.url("/never")))
        await until(lambda: len(server.requests) == 2)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        await until(lambda: server.left == 1)
        go_on.set()
        assert (await patient).body == b"late"


async def test_a_request_header_cannot_carry_a_line_break(client: GuardedClient, server: Http2Server) -> None:
    with pytest.raises(InvalidInputError, match="header that HTTP does not allow"):
        await client.get(server.url("/"), headers={"X-Own": "a\r\nX-Other: b"})
    assert server.requests == []
