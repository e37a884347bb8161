"""From a pasted address to feeds, against a real site on loopback."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import InvalidInputError, NotFoundError, RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.curator.feeds.discovery import USUAL_PATHS, FeedDiscovery
from pressbox.curator.library.parser_pool import ParserPool
from tests.integration.http.loopback import LoopbackServer, ScriptedResolver, running
from tests.patience import patience

FEED = b"<rss><channel><title>News</title><item><guid>1</guid><title>One</title></item></channel></rss>"
COMMENTS = FEED.replace(b"News", b"Comments")


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with running() as server:
        yield server


@pytest.fixture
async def discovery(server: LoopbackServer, parsers: ParserPool) -> AsyncIterator[FeedDiscovery]:
    settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",), timeout_seconds=patience(5))
    async with GuardedClient(settings) as client:
        yield FeedDiscovery(client, parsers, 1_000_000)


def page(server: LoopbackServer, html: str, path: str = "/") -> str:
    server.answers(path, body=html.encode(), Content_Type="text/html; charset=utf-8")
    return server.url(path)


def nothing_usual(server: LoopbackServer) -> None:
    for path in USUAL_PATHS:
        server.answers(f"/{path}", "404 Not Found")


async def test_a_feeds_own_address_gives_itself(server: LoopbackServer, discovery: FeedDiscovery) -> None:
    server.answers("/feed.xml", body=FEED)
    (found,) = await discovery.discover(server.url("/feed.xml"))
    assert (found.url, found.title) == (server.url("/feed.xml"), "News")
    assert found.parsed is not None
    assert len(found.parsed.entries) == 1


async def test_the_feeds_that_a_page_declares_are_found_those_of_comments_last(
    server: LoopbackServer, discovery: FeedDiscovery
) -> None:
    server.answers("/comments/feed", body=COMMENTS)
    server.answers("/blog/feed", body=FEED)
    url = page(
        server,
        "<html><head><base href='/blog/'>"
        "<link rel='alternate' type='application/rss+xml' title='Comments' href='/comments/feed'>"
        "<link rel='alternate stylesheet' href='/s.css'>"
        "<LINK REL='Alternate' TYPE='application/rss+xml; charset=utf-8' HREF='feed'></head></html>",
    )
    assert [found.url for found in await discovery.discover(url)] == [
        server.url("/blog/feed"),
        server.url("/comments/feed"),
    ]


async def test_declared_feeds_that_do_not_work_are_not_offered(
    server: LoopbackServer, discovery: FeedDiscovery
) -> None:
    server.answers("/gone", "404 Not Found")
    server.answers("/page", body=b"<html></html>")
    server.answers("/good", body=FEED)
    links = "".join(
        f"<link rel=alternate type='application/atom+xml' href='{href}'>"
        for href in ("/gone", "/page", "http://127.0.0.1:9/", "/good", "javascript:x()")
    )
    assert [found.url for found in await discovery.discover(page(server, links))] == [server.url("/good")]


async def test_links_in_the_text_are_tried_when_nothing_is_declared(
    server: LoopbackServer, discovery: FeedDiscovery
) -> None:
    server.answers("/news/rss.xml", body=FEED)
    url = page(server, "<p><a href='/about'>About</a> <a href='/news/rss.xml'>Subscribe</a></p>")
    assert [found.url for found in await discovery.discover(url)] == [server.url("/news/rss.xml")]


async def test_the_usual_places_are_tried_last(server: LoopbackServer, discovery: FeedDiscovery) -> None:
    nothing_usual(server)
    server.answers("/index.xml", body=FEED)
    assert [found.url for found in await discovery.discover(page(server, "<p>Hello</p>"))] == [server.url("/index.xml")]


async def test_a_site_without_feeds_has_none(server: LoopbackServer, discovery: FeedDiscovery) -> None:
    nothing_usual(server)
    assert await discovery.discover(page(server, "<p>Hello</p>")) == []


TLS_HANDSHAKE = b"\x16"


async def plain_http_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """As servers do that do not speak TLS: they hang up on its first byte."""
    if await reader.read(1) != TLS_HANDSHAKE:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(FEED) + FEED)
    writer.close()


async def test_without_a_scheme_https_is_tried_and_then_http(parsers: ParserPool) -> None:
    listener = await asyncio.start_server(plain_http_only, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, GuardedClient(HttpSettings(allow=(f"127.0.0.1:{port}",))) as client:
        discovery = FeedDiscovery(client, parsers, 1_000_000)
        for spelling in (f"127.0.0.1:{port}/feed", f" feed://127.0.0.1:{port}/feed"):
            (found,) = await discovery.discover(spelling)
            assert found.url == f"http://127.0.0.1:{port}/feed"


async def test_a_feed_scheme_in_front_of_another_is_dropped(server: LoopbackServer, discovery: FeedDiscovery) -> None:
    server.answers("/feed", body=FEED)
    (found,) = await discovery.discover(f"feed:{server.url('/feed')}")
    assert found.url == server.url("/feed")


async def test_a_permanent_move_is_offered_as_the_new_address(server: LoopbackServer, discovery: FeedDiscovery) -> None:
    server.redirects("/old", "/new", "301 Moved Permanently")
    server.redirects("/today", "/new", "302 Found")
    server.answers("/new", body=FEED)
    assert [found.url for found in await discovery.discover(server.url("/old"))] == [server.url("/new")]
    assert [found.url for found in await discovery.discover(server.url("/today"))] == [server.url("/today")]


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("https://www.youtube.com/channel/UCabcdefghijklmnopqrstuv", "channel_id=UCabcdefghijklmnopqrstuv"),
        ("youtube.com/channel/UCabcdefghijklmnopqrstuv/videos", "channel_id=UCabcdefghijklmnopqrstuv"),
        ("https://www.youtube.com/playlist?list=PLabcdefghijklm", "playlist_id=PLabcdefghijklm"),
    ],
)
async def test_channels_and_playlists_of_youtube_have_feeds(address: str, asked: str, parsers: ParserPool) -> None:
    # Nobody leaves this machine: the name leads to a port where nobody answers, and the error tells who was asked.
    resolver = ScriptedResolver(www_youtube_com=["127.0.0.1"])
    async with GuardedClient(HttpSettings(), resolver=resolver) as client:
        seen: list[str] = []
        discovery = FeedDiscovery(client, parsers, 1_000_000)
        original = client.get

        async def noted(url: str, **rest: object) -> object:
            seen.append(url)
            return await original(url)

        client.get = noted  # type: ignore[method-assign, assignment]
        with pytest.raises(RefusedAddressError):
            await discovery.discover(address)
    assert seen == [f"https://www.youtube.com/feeds/videos.xml?{asked}"]


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("", InvalidInputError),
        ("   ", InvalidInputError),
        ("https://127.0.0.1:9/", RefusedAddressError),
        ("mailto:desk@example.org", RefusedAddressError),
        ("https://user:secret@127.0.0.1/", RefusedAddressError),
        ("http://[broken", InvalidInputError),
    ],
)
async def test_an_address_that_cannot_be_asked_is_refused_with_a_reason(
    discovery: FeedDiscovery, address: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await discovery.discover(address)


async def test_a_site_that_is_away_or_answers_with_an_error_says_so(
    server: LoopbackServer, discovery: FeedDiscovery
) -> None:
    server.answers("/", "404 Not Found")
    with pytest.raises(NotFoundError, match="404"):
        await discovery.discover(server.url("/"))
    server.answers("/", "503 Service Unavailable")
    with pytest.raises(TransientError, match="503"):
        await discovery.discover(server.url("/"))


async def test_the_consent_page_of_youtube_is_named_and_tracking_is_refused(parsers: ParserPool) -> None:
    sent: list[dict[str, str]] = []
    async with GuardedClient(HttpSettings()) as client:

        async def answer(url: str, *, headers: dict[str, str], **_: object) -> Response:
            sent.append(headers)
            return Response("https://consent.youtube.com/m?continue=x", 200, httpx.Headers(), b"<html></html>")

        client.get = answer  # type: ignore[method-assign, assignment]
        with pytest.raises(InvalidInputError, match="consent"):
            await FeedDiscovery(client, parsers, 1_000_000).discover("https://www.youtube.com/@somebody")
    assert sent[0]["Cookie"] == "SOCS=CAI"
