"""The outbound client in ordinary use, and its limits of size and time."""

import asyncio
import gzip
import zlib
from datetime import timedelta

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from pressbox.core.config import HttpSettings
from pressbox.core.errors import ConfigurationError, InvalidInputError, PermanentError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.decoding import PIECE_BYTES, AnswerTooLargeError, UnreadableAnswerError
from tests.integration.http.loopback import LoopbackServer
from tests.waiting import PATIENCE_SECONDS

SOON = timedelta(seconds=1)


async def test_a_whole_answer_comes_back(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/feed?x=1", body=b"<rss/>", ETag='"1"', X_Name="value")
    answer = await client.get(server.url("/feed?x=1"), headers={"If-None-Match": '"0"'})
    assert (answer.status, answer.body, answer.url) == (200, b"<rss/>", server.url("/feed?x=1"))
    assert (answer.headers["etag"], answer.headers["x-name"]) == ('"1"', "value")
    (request,) = server.requests
    assert request.method == "GET"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["if-none-match"] == '"0"'
    assert request.headers["user-agent"] == HttpSettings().user_agent


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "404 Not Found", "429 Slow Down", "503 Away"])
async def test_a_status_is_a_value(server: LoopbackServer, client: GuardedClient, status: str) -> None:
    server.answers("/", status)
    assert (await client.get(server.url("/"))).status == int(status[:3])


async def test_data_can_be_posted(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/hook", "201 Created", b"made")
    answer = await client.post(server.url("/hook"), b'{"a": 1}', headers={"Content-Type": "application/json"})
    assert (answer.status, answer.body) == (201, b"made")
    (request,) = server.requests
    assert (request.method, request.body) == ("POST", b'{"a": 1}')
    assert request.headers["content-type"] == "application/json"


async def test_the_caller_cannot_name_another_host(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/")
    await client.get(server.url("/"), headers={"Host": "internal.example"})
    assert server.requests[0].headers["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\x00b", "naïve\u2603"])
async def test_a_header_that_http_cannot_carry_is_refused(
    server: LoopbackServer, client: GuardedClient, value: str
) -> None:
    server.answers("/")
    with pytest.raises(InvalidInputError, match="header"):
        await client.get(server.url("/"), headers={"X-Name": value})
    assert server.requests == []


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def quick_brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=1))


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"text" * 50_000, mtime=0)),
        ("x-gzip", gzip.compress(b"text" * 50_000, mtime=0)),
        ("gzip", gzip.compress(b"text" * 20_000, mtime=0) + gzip.compress(b"text" * 30_000, mtime=0)),
        ("gzip", gzip.compress(b"text" * 50_000, mtime=0) + b"\x00" * 100),
        ("deflate", zlib.compress(b"text" * 50_000)),
        ("deflate", bare_deflate(b"text" * 50_000)),
        ("br", brotli.compress(b"text" * 50_000)),
        ("zstd", zstandard.compress(b"text" * 50_000)),
        ("zstd", zstandard.compress(b"text" * 20_000) + zstandard.compress(b"text" * 30_000)),
        ("zstd", zstandard.compress(b"text" * 50_000) + b"\x00" * 100),
        ("identity", b"text" * 50_000),
    ],
)
async def test_packed_answers_are_unpacked(
    server: LoopbackServer, client: GuardedClient, coding: str, packed: bytes
) -> None:
    server.answers("/", body=packed, Content_Encoding=coding)
    assert (await client.get(server.url("/"))).body == b"text" * 50_000


async def test_an_empty_answer_may_call_itself_packed(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/", "304 Not Modified", Content_Encoding="gzip")
    assert (await client.get(server.url("/"))).body == b""


@pytest.mark.parametrize("coding", ["compress", "gzip, gzip", "nonsense"])
async def test_a_coding_that_was_not_asked_for_is_unreadable(
    server: LoopbackServer, client: GuardedClient, coding: str
) -> None:
    server.answers("/", body=b"\x0b\x02\x80", Content_Encoding=coding)
    with pytest.raises(UnreadableAnswerError):
        await client.get(server.url("/"))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
async def test_a_damaged_packed_answer_is_unreadable(
    server: LoopbackServer, client: GuardedClient, coding: str
) -> None:
    server.answers("/", body=b"\xff\xff damaged \xff\xff", Content_Encoding=coding)
    with pytest.raises(UnreadableAnswerError):
        await client.get(server.url("/"))


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress), ("zstd", zstandard.compress)],
)
async def test_a_packed_answer_that_ends_early_is_worth_another_try(
    server: LoopbackServer, client: GuardedClient, coding: str, pack: type[bytes]
) -> None:
    server.answers("/", body=pack(bytes(range(256)) * 10)[:-20], Content_Encoding=coding)
    with pytest.raises(TransientError, match="ended early"):
        await client.get(server.url("/"))


async def test_an_announced_size_beyond_the_limit_is_not_even_read(
    server: LoopbackServer, client: GuardedClient
) -> None:
    server.sends("/", "HTTP/1.1 200 OK", "Content-Length: 1000001")
    with pytest.raises(AnswerTooLargeError, match="1,000,000 bytes"):
        await client.get(server.url("/"))


async def test_an_answer_of_just_the_limit_passes(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/", body=b"x" * 5000)
    assert len((await client.get(server.url("/"), max_bytes=5000)).body) == 5000
    with pytest.raises(AnswerTooLargeError):
        await client.get(server.url("/"), max_bytes=4999)


async def test_an_endless_body_ends_at_the_limit(server: LoopbackServer, client: GuardedClient) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            await server.write(writer, b"x" * 65536)

    server.routes["/"] = endless
    with pytest.raises(AnswerTooLargeError):
        await client.get(server.url("/"))
    await asyncio.wait_for(server.hung_up.wait(), PATIENCE_SECONDS)
    # What the sockets hold is sent besides; far more would mean that we went on reading.
    assert server.bytes_sent < 20_000_000


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", quick_brotli), ("zstd", zstandard.compress)],
)
async def test_a_bomb_ends_at_the_limit(
    server: LoopbackServer, client: GuardedClient, coding: str, pack: type[bytes]
) -> None:
    bomb = pack(bytes(100_000_000))
    assert len(bomb) < 1_000_000
    server.answers("/", body=bomb, Content_Encoding=coding)
    sizes: list[int] = []

    async def read() -> None:
        async with client.stream(server.url("/")) as answer:
            async for piece in answer.chunks():
                sizes.append(len(piece))

    with pytest.raises(AnswerTooLargeError):
        await read()
    assert 0 < sum(sizes) <= 1_000_000
    assert max(sizes) <= PIECE_BYTES


async def test_packed_data_that_unpacks_to_nothing_ends_too(server: LoopbackServer, client: GuardedClient) -> None:
    async def nothing(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
        while True:
            await server.write(writer, gzip.compress(b"") * 3000)

    server.routes["/"] = nothing
    with pytest.raises(AnswerTooLargeError):
        await client.get(server.url("/"))


@pytest.mark.parametrize(
    "lines",
    [
        ["X-Long: " + "x" * 1_000_000],
        [f"X-{number}: {'y' * 100}" for number in range(5000)],
        ["X-Long: " + "x" * 70_000],
    ],
)
async def test_huge_headers_are_too_large(server: LoopbackServer, client: GuardedClient, lines: list[str]) -> None:
    server.sends("/", "HTTP/1.1 200 OK", *lines)
    with pytest.raises(AnswerTooLargeError, match="headers"):
        await client.get(server.url("/"))


async def test_a_slow_drip_ends_with_the_time(server: LoopbackServer, client: GuardedClient) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
        while True:
            await server.write(writer, b"x")
            await asyncio.sleep(0.05)

    server.routes["/"] = drip
    # All of it would take minutes, longer than a test may.
    with pytest.raises(TransientError, match="within 1 seconds"):
        await client.get(server.url("/"), timeout=SOON)


async def test_dripping_headers_end_with_the_time(server: LoopbackServer, client: GuardedClient) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, b"HTTP/1.1 200 OK\r\n")
        while True:
            await server.write(writer, b"X-More: 1\r\n")
            await asyncio.sleep(0.05)

    server.routes["/"] = drip
    with pytest.raises(TransientError, match="within 1 seconds"):
        await client.get(server.url("/"), timeout=SOON)


async def test_a_silent_server_ends_with_the_time(server: LoopbackServer, client: GuardedClient) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3)

    server.routes["/"] = silent
    with pytest.raises(TransientError, match="within 1 seconds"):
        await client.get(server.url("/"), timeout=SOON)


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
async def test_a_broken_answer_is_worth_another_try(server: LoopbackServer, client: GuardedClient, raw: bytes) -> None:
    async def broken(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, raw)

    server.routes["/"] = broken
    with pytest.raises(TransientError, match=r"127\.0\.0\.1 broke off or does not speak HTTP"):
        await client.get(server.url("/"))


async def test_bytes_beyond_the_announced_length_are_not_part_of_the_answer(
    server: LoopbackServer, client: GuardedClient
) -> None:
    server.sends("/", "HTTP/1.1 200 OK", "Content-Length: 4", body=b"bodyHTTP/1.1 200 OK\r\n\r\nsmuggled")
    assert (await client.get(server.url("/"))).body == b"body"
    assert (await client.get(server.url("/"))).body == b"body"


async def test_a_closed_port_is_worth_another_try(server: LoopbackServer) -> None:
    async with GuardedClient(HttpSettings(allow=("127.0.0.1:1",))) as client:
        with pytest.raises(TransientError, match=r"connection to 127\.0\.0\.1 failed"):
            await client.get("http://127.0.0.1:1/")


async def test_a_server_that_hangs_up_on_the_handshake_is_told_of_in_words() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    address = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener, GuardedClient(HttpSettings(allow=(address,))) as client:
        with pytest.raises(TransientError, match=r"^The connection to 127\.0\.0\.1 .+\.$") as raised:
            await client.get(f"https://{address}/")
    assert "Error" not in raised.value.message


async def test_a_large_body_streams_in_pieces(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/clip", body=b"v" * 3_000_000)
    async with client.stream(server.url("/clip"), max_bytes=4_000_000) as answer:
        assert (answer.status, answer.size) == (200, 3_000_000)
        sizes = [len(piece) async for piece in answer.chunks()]
    assert sum(sizes) == 3_000_000
    assert max(sizes) < 1_000_000


async def test_a_stream_may_be_left_early(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/clip", body=b"v" * 900_000)
    for _ in range(3):
        async with client.stream(server.url("/clip")) as answer:
            async for _ in answer.chunks():
                break
    assert server.connections == 3


async def test_what_the_caller_raises_stays_his(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/clip", body=b"v" * 10)

    async def read_and_raise(error: Exception) -> None:
        async with client.stream(server.url("/clip")) as answer:
            async for _ in answer.chunks():
                raise error

    for error in (TimeoutError("mine"), ValueError("mine")):
        with pytest.raises(type(error), match="mine"):
            await read_and_raise(error)


async def test_cancelling_leaves_the_client_usable(server: LoopbackServer, client: GuardedClient) -> None:
    started = asyncio.Event()

    async def stuck(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
        started.set()
        await asyncio.sleep(2)

    server.routes["/"] = stuck
    server.answers("/next", body=b"fine")
    fetching = asyncio.create_task(client.get(server.url("/")))
    await asyncio.wait_for(started.wait(), PATIENCE_SECONDS)
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    assert (await client.get(server.url("/next"))).body == b"fine"


async def test_many_requests_at_the_same_time(server: LoopbackServer, client: GuardedClient) -> None:
    server.answers("/", body=b"x" * 1000)
    answers = await asyncio.gather(*(client.get(server.url("/")) for _ in range(150)))
    assert {len(answer.body) for answer in answers} == {1000}


async def test_proxies_of_the_environment_are_not_used(
    server: LoopbackServer, client: GuardedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.answers("/", body=b"direct")
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{server.port}",))) as fresh:
        assert (await fresh.get(server.url("/"))).body == b"direct"


def test_a_malformed_allow_list_stops_the_start() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_HTTP_ALLOW"):
        GuardedClient(HttpSettings(allow=("everything",)))


def test_our_limits_are_permanent_errors_and_so_not_retried() -> None:
    assert issubclass(AnswerTooLargeError, PermanentError)
    assert issubclass(UnreadableAnswerError, PermanentError)


@pytest.mark.parametrize(
    ("contact", "sent"),
    [
        (None, "Pressbox/0.1 (self-hosted)"),
        ("press@example.org", "Pressbox/0.1 (self-hosted; press@example.org)"),
        ("https://example.org/about\r\nX-Other: b", "Pressbox/0.1 (self-hosted; https://example.org/aboutX-Other:b)"),
    ],
)
async def test_publishers_see_whom_to_write_to(server: LoopbackServer, contact: str | None, sent: str) -> None:
    server.answers("/", body=b"")
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{server.port}",), contact=contact)) as client:
        await client.get(server.url("/"))
    assert server.requests[0].headers["user-agent"] == sent
