"""Three hundred feeds by OPML: all of them shown at once, a sane number unread, and pages that cost the same."""

from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.http.client import GuardedClient
from pressbox.curator.articles.wiring import parser_pool
from pressbox.curator.feeds.crawler import FeedCrawler
from pressbox.curator.feeds.parser import FeedParser
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.library.rows import EntryRow, FeedRow, FeedStateRow, SubscriptionRow
from pressbox.curator.sources.pages import SOURCES_SHOWN
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from tests.fakes.curator_rows import POLICY, Rows
from tests.fakes.reader import NOW, Library
from tests.shared_data import shared
from tests.site import Browser, browsing, serving
from tests.statements import count_statements

FEEDS = 300
CATEGORIES = 12
# As many as the panes need for anybody; what grows with the number of feeds would be hundreds.
MOST_STATEMENTS = 40

OWN = """<rss version="2.0"><channel><title>Own {number}</title>{items}</channel></rss>"""
OWN_ITEM = (
    "<item><guid>{number}-{item}</guid><title>Report {item}</title><description>Text {item}.</description></item>"
)


def recordings() -> list[bytes]:
    """Real feeds, where they are at hand; otherwise some of our own with many entries."""
    folders = [shared("feeds"), shared("providers/feeds")]
    files = [file for folder in folders if folder for file in sorted(Path(folder).iterdir()) if file.suffix != ".md"]
    if files:
        return [file.read_bytes() for file in files]
    return [
        OWN.format(number=n, items="".join(OWN_ITEM.format(number=n, item=item) for item in range(40))).encode()
        for n in range(30)
    ]


class Press(HttpService):
    """Every recording at as many addresses as it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.recordings = recordings()

    async def answer(self, request: Request) -> Answer:
        number = int(request.path.strip("/"))
        return Answer(200, self.recordings[number % len(self.recordings)], {"Content-Type": "application/xml"})


@pytest.fixture
async def press() -> AsyncIterator[Press]:
    async with Press() as press:
        yield press


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def person(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "reader") as person:
        yield person


def opml(press: Press) -> bytes:
    folders = []
    for category in range(CATEGORIES):
        lines = "".join(
            f'<outline type="rss" text="Source {number:03}" xmlUrl="{press.url}/{number}"/>'
            for number in range(category, FEEDS, CATEGORIES)
        )
        folders.append(f'<outline text="Folder {category}">{lines}</outline>')
    return f'<opml version="2.0"><body>{"".join(folders)}</body></opml>'.encode()


def names_in(page: str) -> set[str]:
    text = unescape(page)
    return {f"Source {number:03}" for number in range(FEEDS) if f"Source {number:03}" in text}


async def crawl(resources: Resources, press: Press, feed_ids: list[int]) -> None:
    rows, policy = Rows(resources.database), POLICY
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{press.port}",))) as http:
        crawler = FeedCrawler(http, FeedParser(parser_pool(resources)), policy)
        for feed in await rows.feeds.load_to_crawl(feed_ids):
            await rows.feeds.store_crawl(feed, await crawler.crawl(feed), policy, NOW)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_three_hundred_feeds_are_shown_at_once_and_readable_while_they_arrive(
    resources: Resources, press: Press, person: Browser
) -> None:
    report = await Library(resources).service.outlines.take(person.user_id, opml(press))
    assert (report.added, report.known, report.broken, report.waiting) == (FEEDS, 0, (), FEEDS)

    # Before a single one was read: all are named, and the page says that they are coming.
    empty = await person.get("/reader", headers={"Accept": "text/html"})
    assert len(names_in(empty.text)) == FEEDS
    async with resources.database.unit_of_work() as work:
        feed_ids = list(await work.session.scalars(select(FeedRow.id).order_by(FeedRow.id)))

    # With the first ten there is something to read, as quickly as with all of them.
    await crawl(resources, press, feed_ids[:10])
    with count_statements(resources.database) as few:
        first = await person.get("/reader?list=unread", headers={"Accept": "text/html"})
    assert "/reader/entries/" in first.text

    await crawl(resources, press, feed_ids[10:])
    with count_statements(resources.database) as many:
        full = await person.get("/reader?list=unread", headers={"Accept": "text/html"})
    assert len(names_in(full.text)) == FEEDS
    assert "/reader/entries/" in full.text
    assert len(many) <= min(MOST_STATEMENTS, len(few) + 2), "no statement per feed"
    listed: set[str] = set()
    for number in range(1, FEEDS // SOURCES_SHOWN + 1):
        page = await person.get(f"/reader/sources?page={number}", headers={"Accept": "text/html"})
        listed |= names_in(page.text)
    assert len(listed) == FEEDS

    async with resources.database.unit_of_work() as work:
        states = (await work.session.execute(select(FeedStateRow.outcome, FeedStateRow.reason))).tuples().all()
        unread = (await work.session.execute(select(SubscriptionRow.feed_id, SubscriptionRow.unread))).tuples().all()
        entries = await work.session.scalar(select(func.count()).select_from(EntryRow)) or 0
    # Each was read, or says why not; none is left out silently.
    assert len(states) == FEEDS
    failed = [(outcome, reason) for outcome, reason in states if CrawlOutcome(outcome).failed]
    assert all(reason for _, reason in failed)
    assert {outcome for outcome, _ in failed} <= {CrawlOutcome.NOT_A_FEED}
    assert len(failed) < FEEDS / 10
    # Older articles are there too; unread are the newest few of each.
    total = sum(count for _, count in unread)
    assert 0 < total < entries
    assert max(count for _, count in unread) <= POLICY.unread_at_start
