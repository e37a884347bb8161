"""What a feed's server does, and what a crawl makes of it: every outcome against a real server on loopback."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from pressbox.core.processes.pool import ChildNotStartedError
from pressbox.curator.feeds.crawler import FeedCrawler
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl, Validators
from pressbox.curator.feeds.parser import FeedParser
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy
from pressbox.curator.library.parser_pool import ParserPool
from tests.fakes.child_functions import parse_by_accident
from tests.integration.http.loopback import LoopbackServer, running
from tests.patience import patience

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
POLICY = CuratorPolicy(feed_bytes=100_000, entries_per_crawl=3)
FEED = b"<rss><channel><title>News</title><item><guid>1</guid><title>One</title></item></channel></rss>"


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with running() as server:
        yield server


@pytest.fixture
async def crawler(server: LoopbackServer, parsers: ParserPool) -> AsyncIterator[FeedCrawler]:
    settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",), timeout_seconds=patience(5))
    async with GuardedClient(settings) as client:
        yield FeedCrawler(client, FeedParser(parsers), POLICY, lambda: NOW)


def feed(server: LoopbackServer, path: str = "/feed", validators: Validators | None = None) -> FeedToCrawl:
    return FeedToCrawl(7, server.url(path), validators or Validators())


async def test_a_feed_is_read_with_its_validators(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.answers("/feed", body=FEED, ETag='W/"a1"', Last_Modified="Sat, 28 Feb 2026 10:00:00 GMT")
    crawl = await crawler.crawl(feed(server))
    assert (crawl.outcome, crawl.status, crawl.moved_to) == (CrawlOutcome.NEW, 200, None)
    assert crawl.parsed is not None
    assert [entry.title for entry in crawl.parsed.entries] == ["One"]
    assert crawl.validators.etag == 'W/"a1"'
    assert crawl.validators.last_modified == "Sat, 28 Feb 2026 10:00:00 GMT"
    assert len(crawl.validators.content_hash) == 64
    assert "if-none-match" not in server.requests[0].headers


async def test_the_second_request_asks_only_for_what_changed(server: LoopbackServer, crawler: FeedCrawler) -> None:
    known = Validators('W/"a1"', "Sat, 28 Feb 2026 10:00:00 GMT", "hash")
    server.answers("/feed", "304 Not Modified", ETag='W/"a2"')
    crawl = await crawler.crawl(feed(server, validators=known))
    assert crawl == Crawl(CrawlOutcome.UNCHANGED, validators=replace(known, etag='W/"a2"'), status=304)
    assert server.requests[0].headers["if-none-match"] == 'W/"a1"'
    assert server.requests[0].headers["if-modified-since"] == "Sat, 28 Feb 2026 10:00:00 GMT"


async def test_the_same_bytes_are_unchanged_although_the_server_sends_them_again(
    server: LoopbackServer, crawler: FeedCrawler
) -> None:
    server.answers("/feed", body=FEED)
    first = await crawler.crawl(feed(server))
    server.answers("/feed", body=FEED, ETag='"new"')
    again = await crawler.crawl(feed(server, validators=first.validators))
    assert again.outcome is CrawlOutcome.UNCHANGED
    assert again.validators == replace(first.validators, etag='"new"')


async def test_not_modified_to_a_question_that_nobody_asked_is_a_fault(
    server: LoopbackServer, crawler: FeedCrawler
) -> None:
    server.answers("/feed", "304 Not Modified")
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.SERVER_ERROR


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.compress)]
)
async def test_packed_feeds_are_read(
    server: LoopbackServer, crawler: FeedCrawler, coding: str, pack: Callable[[bytes], bytes]
) -> None:
    server.answers("/feed", body=pack(FEED), Content_Encoding=coding)
    assert (await crawler.crawl(feed(server))).outcome is CrawlOutcome.NEW


async def test_a_permanent_move_is_remembered_and_a_temporary_one_is_not(
    server: LoopbackServer, crawler: FeedCrawler
) -> None:
    server.answers("/new", body=FEED)
    for path, status in {"/a": "301 Moved Permanently", "/b": "308 Permanent Redirect"}.items():
        server.redirects(path, "/new", status)
        assert (await crawler.crawl(feed(server, path))).moved_to == server.url("/new")
    for path, status in {"/c": "302 Found", "/d": "307 Temporary Redirect"}.items():
        server.redirects(path, "/new", status)
        crawl = await crawler.crawl(feed(server, path))
        assert (crawl.outcome, crawl.moved_to) == (CrawlOutcome.NEW, None)


async def test_a_move_to_something_that_is_no_feed_is_not_remembered(
    server: LoopbackServer, crawler: FeedCrawler
) -> None:
    server.redirects("/feed", "/home", "301 Moved Permanently")
    server.answers("/home", body=b"<html><body>Welcome</body></html>", Content_Type="text/html")
    crawl = await crawler.crawl(feed(server))
    assert (crawl.outcome, crawl.moved_to) == (CrawlOutcome.NOT_A_FEED, None)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("400 Bad Request", CrawlOutcome.REFUSED),
        ("401 Unauthorized", CrawlOutcome.REFUSED),
        ("403 Forbidden", CrawlOutcome.REFUSED),
        ("404 Not Found", CrawlOutcome.NOT_FOUND),
        ("408 Request Timeout", CrawlOutcome.UNREACHABLE),
        ("410 Gone", CrawlOutcome.GONE),
        ("429 Too Many Requests", CrawlOutcome.RATE_LIMITED),
        ("451 Unavailable For Legal Reasons", CrawlOutcome.REFUSED),
        ("500 Internal Server Error", CrawlOutcome.SERVER_ERROR),
        ("503 Service Unavailable", CrawlOutcome.SERVER_ERROR),
        ("300 Multiple Choices", CrawlOutcome.SERVER_ERROR),
    ],
)
async def test_every_status_has_an_outcome_with_a_reason(
    server: LoopbackServer, crawler: FeedCrawler, status: str, outcome: CrawlOutcome
) -> None:
    server.answers("/feed", status, body=FEED)
    crawl = await crawler.crawl(feed(server))
    assert (crawl.outcome, crawl.status, crawl.parsed) == (outcome, int(status[:3]), None)
    assert crawl.reason.endswith(".")


@pytest.mark.parametrize(
    ("status", "stated", "seconds"),
    [
        ("429 Too Many Requests", "120", 120),
        ("503 Service Unavailable", "120", 120),
        ("429 Too Many Requests", "Sun, 01 Mar 2026 13:00:00 GMT", 3600),
        ("429 Too Many Requests", "soon", None),
        ("429 Too Many Requests", "-5", None),
        ("429 Too Many Requests", "99999999999999", 31 * 86400),
        ("429 Too Many Requests", "inf", None),
        ("429 Too Many Requests", "1e400", None),
        ("429 Too Many Requests", "7.5", 7.5),
        ("404 Not Found", "120", None),
    ],
)
async def test_retry_after_is_obeyed(
    server: LoopbackServer, crawler: FeedCrawler, status: str, stated: str, seconds: float | None
) -> None:
    server.answers("/feed", status, Retry_After=stated)
    crawl = await crawler.crawl(feed(server))
    assert crawl.not_before == (None if seconds is None else NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Cache_Control": "public, max-age=600"}, 600),
        ({"Cache_Control": "max-age=600", "Age": "200"}, 400),
        ({"Cache_Control": "max-age=600, no-cache"}, None),
        ({"Cache_Control": "s-maxage=600"}, None),
        ({"Cache_Control": "max-age=0"}, None),
        ({"Cache_Control": "max-age=99999999999999"}, 366 * 86400),
        ({"Expires": "Sun, 01 Mar 2026 11:20:00 GMT", "Date": "Sun, 01 Mar 2026 11:00:00 GMT"}, 1200),
        ({"Expires": "Sun, 01 Mar 2026 12:20:00 GMT"}, 1200),
        ({"Expires": "0"}, None),
        ({"Expires": "Sun, 01 Mar 2020 12:20:00 GMT"}, None),
        ({}, None),
    ],
)
async def test_how_long_an_answer_is_fresh_is_obeyed(
    server: LoopbackServer, crawler: FeedCrawler, headers: dict[str, str], seconds: int | None
) -> None:
    server.answers("/feed", body=FEED, **headers)
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.NEW
    assert crawl.not_before == (None if seconds is None else NOW + timedelta(seconds=seconds))


async def test_a_page_instead_of_a_feed_says_what_to_do(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.answers("/feed", body=b"<!doctype html><html><body>Hi</body></html>", Content_Type="text/html")
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.NOT_A_FEED
    assert "Add the site again" in crawl.reason


async def test_a_login_page_is_a_refusal(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.redirects("/feed", "/login")
    server.answers("/login", body=b"<html><form><input type=password></form></html>", Content_Type="text/html")
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.REFUSED
    assert "sign in" in crawl.reason


async def test_an_announced_size_that_is_too_large_is_not_read(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.sends("/feed", "HTTP/1.1 200 OK", "Content-Length: 200000000")
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.TOO_LARGE
    assert "100,000 bytes" in crawl.reason


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_a_bomb_is_too_large(server: LoopbackServer, crawler: FeedCrawler, coding: str) -> None:
    pack = gzip.compress if coding == "gzip" else zstandard.compress
    server.answers("/feed", body=pack(bytes(20_000_000)), Content_Encoding=coding)
    assert (await crawler.crawl(feed(server))).outcome is CrawlOutcome.TOO_LARGE


async def test_a_redirect_into_our_own_network_is_refused(server: LoopbackServer, crawler: FeedCrawler) -> None:
    for target in ("http://127.0.0.1:9/", "http://169.254.169.254/latest/", "http://[::1]/", "file:///etc/passwd"):
        server.redirects("/feed", target, "301 Moved Permanently")
        crawl = await crawler.crawl(feed(server))
        assert (crawl.outcome, crawl.moved_to) == (CrawlOutcome.REFUSED_ADDRESS, None)


async def test_an_address_that_is_none_is_refused(crawler: FeedCrawler) -> None:
    for url in ("ftp://example.org/feed", "https://user:secret@example.org/feed", "nonsense"):
        crawl = await crawler.crawl(FeedToCrawl(7, url, Validators()))
        assert crawl.outcome is CrawlOutcome.REFUSED_ADDRESS
        assert "secret" not in crawl.reason


async def test_a_loop_of_redirects_ends(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.redirects("/feed", "/feed", "301 Moved Permanently")
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.UNREACHABLE
    assert "redirects" in crawl.reason


async def test_damaged_packing_is_a_fault_of_the_server(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.answers("/feed", body=b"\xff\xff not gzip", Content_Encoding="gzip")
    assert (await crawler.crawl(feed(server))).outcome is CrawlOutcome.SERVER_ERROR


async def test_a_server_that_is_away_or_silent_is_unreachable(server: LoopbackServer, parsers: ParserPool) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    server.routes["/feed"] = silent
    settings = HttpSettings(allow=("127.0.0.0/8",), timeout_seconds=0.3)
    async with GuardedClient(settings) as client:
        crawler = FeedCrawler(client, FeedParser(parsers), POLICY)
        crawl = await crawler.crawl(feed(server))
        assert crawl.outcome is CrawlOutcome.UNREACHABLE
        assert "did not answer" in crawl.reason
        closed = await crawler.crawl(FeedToCrawl(7, "http://127.0.0.1:9/feed", Validators()))
        assert closed.outcome is CrawlOutcome.UNREACHABLE


async def test_no_more_entries_are_taken_than_the_policy_and_the_feed_allow(
    server: LoopbackServer, crawler: FeedCrawler
) -> None:
    items = b"".join(b"<item><guid>%d</guid></item>" % number for number in range(10))
    server.answers("/feed", body=b"<rss><channel><title>N</title>" + items + b"</channel></rss>")
    crawl = await crawler.crawl(feed(server))
    assert crawl.parsed is not None
    assert len(crawl.parsed.entries) == 3
    fewer = await crawler.crawl(replace(feed(server), entry_limit=2))
    assert fewer.parsed is not None
    assert len(fewer.parsed.entries) == 2


async def test_validators_that_cannot_be_sent_back_are_not_kept(server: LoopbackServer, crawler: FeedCrawler) -> None:
    server.answers("/feed", body=FEED, ETag='"' + "x" * 2000 + '"', Last_Modified="März")
    crawl = await crawler.crawl(feed(server))
    assert (crawl.validators.etag, crawl.validators.last_modified) == ("", "")


async def test_a_document_that_breaks_the_reader_fails_alone(
    server: LoopbackServer, crawler: FeedCrawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressbox.curator.feeds.parser.parse_feed", parse_by_accident)
    server.answers("/feed", body=FEED)
    crawl = await crawler.crawl(feed(server))
    assert crawl.outcome is CrawlOutcome.NOT_A_FEED
    assert "ZeroDivisionError" in crawl.reason


async def test_a_parser_that_does_not_start_is_our_fault_and_not_the_feeds(
    server: LoopbackServer, crawler: FeedCrawler, parsers: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start_nothing(*_: object, **__: object) -> None:
        raise ChildNotStartedError("The parsers do not start in time; the machine is busy.")

    monkeypatch.setattr(parsers, "run_by", start_nothing)
    server.answers("/feed", body=FEED)
    with pytest.raises(ChildNotStartedError):
        await crawler.crawl(feed(server))


@pytest.mark.parametrize(("days", "conditional"), [(1, True), (4, False)])
async def test_after_some_days_of_not_modified_the_whole_feed_is_asked_for(
    server: LoopbackServer, crawler: FeedCrawler, days: int, conditional: bool
) -> None:
    server.answers("/feed", "304 Not Modified")
    known = replace(feed(server, validators=Validators("tag", "then", "")), last_read_at=NOW - timedelta(days=days))
    crawl = await crawler.crawl(known)
    # A server that says so without being asked has a fault, which people see.
    assert crawl.outcome is (CrawlOutcome.UNCHANGED if conditional else CrawlOutcome.SERVER_ERROR)
