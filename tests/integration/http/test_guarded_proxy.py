"""The guarded proxy: what programs of others may reach, how much of it, and who may use it at all."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import httpx
import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.http.proxy import GuardedProxy, Lease
from tests.integration.http.loopback import LoopbackServer, ScriptedResolver, running
from tests.patience import patience

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def proxy(server: LoopbackServer) -> AsyncIterator[GuardedProxy]:
    """May reach `server` by its address and as media.example.org."""
    resolver = ScriptedResolver(
        media_example_org=["127.0.0.1"], inside_example_org=["10.0.0.7"], **{"127_0_0_1": ["127.0.0.1"]}
    )
    allow = (f"127.0.0.1:{server.port}",)
    async with GuardedProxy(HttpSettings(allow=allow), resolver=resolver) as proxy:
        yield proxy


def client(lease: Lease) -> httpx.AsyncClient:
    return httpx.AsyncClient(proxy=lease.url, trust_env=False, follow_redirects=True, timeout=patience(10))


async def raw(lease: Lease, *lines: str) -> bytes:
    host, port = lease.server.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    await writer.drain()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_plain_request_is_forwarded_without_what_is_meant_for_the_proxy(
    proxy: GuardedProxy, server: LoopbackServer
) -> None:
    server.answers("/clip?a=b", body=b"video")
    async with proxy.lease(1000, MINUTE) as lease, client(lease) as through:
        answer = await through.get(server.url("/clip?a=b", "media.example.org"))
    assert (answer.status_code, answer.content) == (200, b"video")
    received = server.requests[0]
    assert received.path == "/clip?a=b"
    assert received.headers["host"] == f"media.example.org:{server.port}"
    assert "proxy-authorization" not in received.headers
    assert lease.spent > len(b"video")


async def test_a_tunnel_carries_whatever_the_program_sends(proxy: GuardedProxy, server: LoopbackServer) -> None:
    server.answers("/", body=b"through the tunnel")
    async with proxy.lease(1000, MINUTE) as lease:
        host, port = lease.server.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        credentials = httpx.BasicAuth(lease.username, lease.password)._auth_header
        target = f"127.0.0.1:{server.port}"
        writer.write(f"CONNECT {target} HTTP/1.1\r\nProxy-Authorization: {credentials}\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.read()).endswith(b"through the tunnel")
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("url", ["http://inside.example.org/", "http://127.0.0.1:1/", "http://169.254.169.254/latest"])
async def test_private_addresses_are_refused_and_the_lease_says_so(proxy: GuardedProxy, url: str) -> None:
    async with proxy.lease(1000, MINUTE) as lease, client(lease) as through:
        answer = await through.get(url)
    assert answer.status_code in (403, 502)
    if answer.status_code == 403:
        assert lease.refused is not None


async def test_a_redirect_to_a_private_address_is_refused_too(proxy: GuardedProxy, server: LoopbackServer) -> None:
    server.redirects("/start", "http://inside.example.org/secret")
    async with proxy.lease(1000, MINUTE) as lease, client(lease) as through:
        answer = await through.get(server.url("/start", "media.example.org"))
    assert answer.status_code == 403
    assert lease.refused is not None
    assert "inside.example.org" in lease.refused.message


async def test_a_tunnel_to_a_private_address_is_refused(proxy: GuardedProxy) -> None:
    async with proxy.lease(1000, MINUTE) as lease:
        with pytest.raises(httpx.ProxyError, match="403"):
            async with client(lease) as through:
                await through.get("https://inside.example.org/")
    assert lease.refused is not None


async def test_without_the_credentials_of_a_lease_nothing_is_served(
    proxy: GuardedProxy, server: LoopbackServer
) -> None:
    server.answers("/", body=b"secret")
    async with proxy.lease(1000, MINUTE):
        async with proxy.lease(1000, MINUTE) as lease:
            nobody = await raw(lease, f"GET {server.url('/')} HTTP/1.1")
            wrong = httpx.BasicAuth(lease.username, "wrong")._auth_header
            guessed = await raw(lease, f"GET {server.url('/')} HTTP/1.1", f"Proxy-Authorization: {wrong}")
        after = await raw(
            lease,
            f"GET {server.url('/')} HTTP/1.1",
            f"Proxy-Authorization: {httpx.BasicAuth(lease.username, lease.password)._auth_header}",
        )
    with pytest.raises(ConnectionError):
        await raw(lease, f"GET {server.url('/')} HTTP/1.1")
    assert [answer[:12] for answer in (nobody, guessed, after)] == [b"HTTP/1.1 407"] * 3
    assert server.connections == 0


@pytest.mark.parametrize(
    "first_line", ["nonsense", "GET ftp://example.org/ HTTP/1.1", "GET /relative HTTP/1.1", "GET http://a b HTTP/1.1"]
)
async def test_what_is_no_request_for_a_proxy_is_turned_away(proxy: GuardedProxy, first_line: str) -> None:
    async with proxy.lease(1000, MINUTE) as lease:
        credentials = httpx.BasicAuth(lease.username, lease.password)._auth_header
        answer = await raw(lease, first_line, f"Proxy-Authorization: {credentials}")
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 403")


async def test_an_endless_answer_ends_with_the_budget(proxy: GuardedProxy, server: LoopbackServer) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        await server.write(writer, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            await server.write(writer, b"x" * 65536)

    server.routes["/endless"] = endless
    async with proxy.lease(1_000_000, MINUTE) as lease, client(lease) as through:
        with pytest.raises(httpx.HTTPError):
            await through.get(server.url("/endless"))
    assert lease.exhausted
    assert lease.spent < 1_200_000


async def test_a_server_that_says_nothing_is_left_at_the_deadline(proxy: GuardedProxy, server: LoopbackServer) -> None:
    over = asyncio.Event()

    async def silent(writer: asyncio.StreamWriter) -> None:
        await over.wait()

    server.routes["/silent"] = silent
    async with proxy.lease(1000, timedelta(milliseconds=300)) as lease, client(lease) as through:
        # On a busy machine the time may be over before the server is asked; that is said, not broken off.
        try:
            answer = await through.get(server.url("/silent"))
        except httpx.HTTPError:
            pass
        else:
            assert answer.is_error
    over.set()
    assert not lease.exhausted


async def test_connections_end_with_their_lease(proxy: GuardedProxy, server: LoopbackServer) -> None:
    reached, over = asyncio.Event(), asyncio.Event()

    async def silent(writer: asyncio.StreamWriter) -> None:
        reached.set()
        await over.wait()

    server.routes["/silent"] = silent
    async with proxy.lease(1000, MINUTE) as lease:
        through = client(lease)
        waiting = asyncio.create_task(through.get(server.url("/silent")))
        await reached.wait()
    with pytest.raises(httpx.HTTPError):
        await waiting
    over.set()
    await through.aclose()


async def test_a_second_request_on_one_connection_is_not_smuggled_to_the_first_host(
    proxy: GuardedProxy, server: LoopbackServer
) -> None:
    async with running() as other, proxy.lease(10_000, MINUTE) as lease:
        server.answers("/one", body=b"one")
        credentials = httpx.BasicAuth(lease.username, lease.password)._auth_header
        head = f"Proxy-Authorization: {credentials}\r\n\r\n"
        host, port = lease.server.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {server.url('/one')} HTTP/1.1\r\n{head}GET {other.url('/two')} HTTP/1.1\r\n{head}".encode())
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    assert [request.path for request in server.requests] in ([], ["/one"])
    assert other.requests == []


async def test_a_refusal_reaches_a_client_that_is_still_sending(proxy: GuardedProxy) -> None:
    async with proxy.lease(1000, MINUTE) as lease:
        answer = await asyncio.to_thread(send_late_body, lease)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert lease.refused is not None


def send_late_body(lease: Lease) -> bytes:
    """Send the head, read the answer to its end, and only then send the body, as a slow client does."""
    host, port = lease.server.removeprefix("http://").split(":")
    credentials = httpx.BasicAuth(lease.username, lease.password)._auth_header
    head = f"POST http://127.0.0.1:1/ HTTP/1.1\r\nContent-Length: 2000\r\nProxy-Authorization: {credentials}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=patience(60)) as connection:
        connection.sendall(head.encode())
        answer = b""
        while piece := connection.recv(1000):
            answer += piece
        # Over a closed connection the first piece is answered by a reset, and the second one raises it.
        connection.sendall(b"x" * 1000)
        connection.sendall(b"x" * 1000)
    return answer
