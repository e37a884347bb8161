"""Feeds and pages that misbehave, each in its own way and under its own address: `/evil/NAME`."""

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from http import HTTPStatus

from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.news_feeds import Channel, Form, Item, write_feed
from pressbox.demo.simulators.news_pages import login_page

RSS = {"Content-Type": "application/rss+xml; charset=utf-8"}
HTML = {"Content-Type": "text/html; charset=utf-8"}
# The size of the endless stream, and of the bomb when unpacked.
HUGE_BYTES = 200_000_000
RETRY_SECONDS = 7200
# Addresses that a crawler must refuse: another port of this machine, and the metadata service of clouds.
PRIVATE = "http://127.0.0.1:9/feed.xml"
METADATA = "http://169.254.169.254/latest/meta-data/"
ETAG = '"the only one"'
SCRIPT = "document.title = 'owned'"
_BLOCK = 1_000_000


class Evil(StrEnum):
    """What is wrong; the value is the last part of the address."""

    NOT_MODIFIED = "not-modified"  # 304 whenever the request is conditional
    ALWAYS_NOT_MODIFIED = "always-not-modified"  # 304 to those who never had it
    MOVED = "moved"  # 301
    MOVED_FOR_NOW = "moved-for-now"  # 302
    LOOP = "loop"  # 301 to itself
    GONE = "gone"
    NOT_FOUND = "not-found"
    FORBIDDEN = "forbidden"
    BUSY = "busy"  # 429 with Retry-After
    UNAVAILABLE = "unavailable"  # 503 with Retry-After as a date
    FAILING = "failing"  # 500
    LOGIN = "login"  # a page to sign in, with status 200
    HUGE = "huge"  # streamed
    BOMB = "bomb"  # small on the wire
    PRIVATE = "private"  # leads to another port of this machine
    METADATA = "metadata"
    INVALID_XML = "invalid-xml"  # tags and ampersands wrong; entries can be read all the same
    NOT_A_FEED = "not-a-feed"
    EMPTY = "empty"  # 200 without a byte
    NO_ENTRIES = "no-entries"  # a good feed, and nothing in it
    CHARSET = "charset"  # says UTF-8, is Windows-1252
    BARE = "bare"  # entries without date, guid, link
    TWICE = "twice"  # the same guid twice
    DATES = "dates"  # 1970 and 2099
    SCRIPTS = "scripts"
    SILENT = "silent"  # never answers
    TRUNCATED = "truncated"  # breaks off in the middle
    BROKEN_PAGES = "broken-pages"  # a good feed whose articles cannot be had


class EvilPage(StrEnum):
    """Articles of `broken-pages`."""

    NOT_FOUND = "not-found"
    FAILING = "failing"
    HUGE = "huge"
    LOGIN = "login"
    BINARY = "binary"
    PRIVATE = "private"
    GOOD = "good"


@dataclass(frozen=True)
class Asking:
    """One request for an evil feed; `base_url` is where the site is."""

    name: Evil
    base_url: str
    request: Request
    now: datetime

    def items(self, number: int = 2) -> list[Item]:
        return [self.item(place) for place in range(1, number + 1)]

    def item(self, place: int) -> Item:
        return Item(
            title=f"{self.name.value.capitalize()} story {place}",
            guid=f"{self.name.value}-{place}",
            url=f"{self.base_url}/evil/articles/{self.name.value}-{place}",
            published_at=self.now.replace(microsecond=0) - timedelta(hours=place),
            summary=f"What story {place} of {self.name.value} is about.",
        )

    def feed(self, items: list[Item]) -> bytes:
        channel = Channel(f"Evil: {self.name.value}", f"{self.base_url}/evil/{self.name.value}", "en")
        return write_feed(Form.RSS, channel, items)

    def good(self, items: list[Item] | None = None) -> Answer:
        return Answer(200, self.feed(self.items() if items is None else items), RSS)


def _not_modified(asking: Asking) -> Answer:
    if asking.request.headers.get("if-none-match") == ETAG:
        return Answer(HTTPStatus.NOT_MODIFIED, b"", {"ETag": ETAG})
    return replace(asking.good(), headers={**RSS, "ETag": ETAG})


def _redirect(status: HTTPStatus, target: str) -> Answer:
    return Answer(status, b"", {"Location": target})


def _unavailable(asking: Asking) -> Answer:
    until = (asking.now + timedelta(seconds=RETRY_SECONDS)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    return Answer(HTTPStatus.SERVICE_UNAVAILABLE, b"", {"Retry-After": until})


def _huge(kind: Mapping[str, str]) -> Answer:
    def blocks() -> Iterator[bytes]:
        yield b'<?xml version="1.0"?><rss version="2.0"><channel><title>Huge</title><description>'
        block = b"all work and no play " * (_BLOCK // 21)
        for _ in range(HUGE_BYTES // len(block)):
            yield block

    return Answer(200, b"", kind, stream=blocks())


@cache
def _bomb() -> bytes:
    """Repeat one compressed block, because compressing everything would take a second."""
    block = b"a" * _BLOCK
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = compressor.compress(block) + compressor.flush(zlib.Z_FULL_FLUSH)
    times, check = HUGE_BYTES // _BLOCK, 0
    for _ in range(times):
        check = zlib.crc32(block, check)
    # The end of an empty file ends any file; only the checksum and the length differ.
    head, end = gzip.compress(b"", mtime=0)[:10], gzip.compress(b"", mtime=0)[10:-8]
    return head + packed * times + end + check.to_bytes(4, "little") + HUGE_BYTES.to_bytes(4, "little")


def _invalid_xml(asking: Asking) -> Answer:
    body = asking.feed(asking.items()).decode()
    body = body.replace("story 1</title>", "story 1 & more <b>of it</title>", 1).replace(
        "</channel></rss>", "</channel>"
    )
    return Answer(200, body.encode(), RSS)


def _charset(asking: Asking) -> Answer:
    items = [replace(asking.item(1), title="Größenwahn im Café", summary="Übermäßig schöne Straßen – für 5 €.")]
    return Answer(200, asking.feed(items).decode().encode("cp1252"), RSS)


def _bare(asking: Asking) -> Answer:
    whole = asking.item(1)
    undated = replace(asking.item(2), published_at=None)
    unnamed = replace(asking.item(3), guid="")
    unlinked = replace(asking.item(4), url="", content="<p>There is no page for this; the feed says it all.</p>")
    nothing = Item(title="Bare story 5", summary="Neither date, nor guid, nor link.")
    return asking.good([whole, undated, unnamed, unlinked, nothing])


def _twice(asking: Asking) -> Answer:
    first, second = asking.items()
    return asking.good([first, replace(first, title="Twice story 1, told again"), second])


def _dates(asking: Asking) -> Answer:
    return asking.good(
        [
            replace(asking.item(1), published_at=datetime(1970, 1, 1, tzinfo=UTC)),
            replace(asking.item(2), published_at=datetime(2099, 12, 31, 23, 59, tzinfo=UTC)),
        ]
    )


def _scripts(asking: Asking) -> Answer:
    content = (
        f'<p onclick="{SCRIPT}">Harmless words.</p><script>{SCRIPT}</script>'
        f'<img src="x" onerror="{SCRIPT}"><a href="javascript:{SCRIPT}">a link</a>'
        f'<iframe src="{PRIVATE}"></iframe><style>body {{ display: none }}</style>'
        f'<form action="{PRIVATE}"><input name="password"></form><svg><script>{SCRIPT}</script></svg>'
    )
    title = f"<script>{SCRIPT}</script>Scripts story 1"
    return asking.good([replace(asking.item(1), title=title, content=content, summary=content), asking.item(2)])


def _truncated(asking: Asking) -> Answer:
    body = asking.feed(asking.items())
    return Answer(200, body[: len(body) // 2], {**RSS, "Content-Length": str(len(body))})


def _broken_pages(asking: Asking) -> Answer:
    return asking.good(
        [
            replace(asking.item(place), url=f"{asking.base_url}/evil/pages/{kind.value}", guid=f"page-{kind.value}")
            for place, kind in enumerate(EvilPage, start=1)
        ]
    )


_FEEDS: Mapping[Evil, Callable[[Asking], Answer]] = {
    Evil.NOT_MODIFIED: _not_modified,
    Evil.ALWAYS_NOT_MODIFIED: lambda _: Answer(HTTPStatus.NOT_MODIFIED),
    Evil.MOVED: lambda asking: _redirect(HTTPStatus.MOVED_PERMANENTLY, f"{asking.base_url}/evil/new-home"),
    Evil.MOVED_FOR_NOW: lambda asking: _redirect(HTTPStatus.FOUND, f"{asking.base_url}/evil/new-home"),
    Evil.LOOP: lambda asking: _redirect(HTTPStatus.MOVED_PERMANENTLY, f"{asking.base_url}/evil/loop"),
    Evil.GONE: lambda _: Answer(HTTPStatus.GONE),
    Evil.NOT_FOUND: lambda _: Answer(HTTPStatus.NOT_FOUND, b"Not here.", HTML),
    Evil.FORBIDDEN: lambda _: Answer(HTTPStatus.FORBIDDEN),
    Evil.BUSY: lambda _: Answer(HTTPStatus.TOO_MANY_REQUESTS, b"", {"Retry-After": str(RETRY_SECONDS)}),
    Evil.UNAVAILABLE: _unavailable,
    Evil.FAILING: lambda _: Answer(HTTPStatus.INTERNAL_SERVER_ERROR, b"It broke.", HTML),
    Evil.LOGIN: lambda _: Answer(200, login_page(), HTML),
    Evil.HUGE: lambda _: _huge(RSS),
    Evil.BOMB: lambda _: Answer(200, _bomb(), {**RSS, "Content-Encoding": "gzip"}),
    Evil.PRIVATE: lambda _: _redirect(HTTPStatus.FOUND, PRIVATE),
    Evil.METADATA: lambda _: _redirect(HTTPStatus.MOVED_PERMANENTLY, METADATA),
    Evil.INVALID_XML: _invalid_xml,
    Evil.NOT_A_FEED: lambda _: Answer(200, b"Once upon a time there was a text file.", {"Content-Type": "text/plain"}),
    Evil.EMPTY: lambda _: Answer(200, b"", RSS),
    Evil.NO_ENTRIES: lambda asking: asking.good([]),
    Evil.CHARSET: _charset,
    Evil.BARE: _bare,
    Evil.TWICE: _twice,
    Evil.DATES: _dates,
    Evil.SCRIPTS: _scripts,
    Evil.TRUNCATED: _truncated,
    Evil.BROKEN_PAGES: _broken_pages,
}


def evil_feed(asking: Asking) -> Answer | None:
    """The answer, or None if there is never one."""
    return _FEEDS[asking.name](asking) if asking.name in _FEEDS else None


def evil_page(kind: EvilPage, good: bytes) -> Answer:
    match kind:
        case EvilPage.NOT_FOUND:
            return Answer(HTTPStatus.NOT_FOUND, b"<h1>Not here</h1>", HTML)
        case EvilPage.FAILING:
            return Answer(HTTPStatus.INTERNAL_SERVER_ERROR)
        case EvilPage.HUGE:
            return _huge(HTML)
        case EvilPage.LOGIN:
            return Answer(200, login_page(), HTML)
        case EvilPage.BINARY:
            return Answer(200, bytes(range(256)) * 64, {"Content-Type": "application/octet-stream"})
        case EvilPage.PRIVATE:
            return _redirect(HTTPStatus.FOUND, PRIVATE)
        case EvilPage.GOOD:
            return Answer(200, good, HTML)
