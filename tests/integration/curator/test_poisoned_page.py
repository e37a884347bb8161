"""A page of a hundred feeds, of which many are poison: each fails at most itself, with a reason of its own."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text
from temporalio.testing import ActivityEnvironment

from pressbox.core.config import HttpSettings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.processes.pool import ChildNotStartedError
from pressbox.curator.feeds.crawler import FeedCrawler
from pressbox.curator.feeds.parser import FeedParser
from pressbox.curator.ingest.activities import CrawlActivities
from pressbox.curator.ingest.comparer import PooledComparer
from pressbox.curator.ingest.contracts import ListFeedsInput, ProbeFeedsInput, ProbeFeedsResult
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetch_store import SqlFetchStore
from pressbox.curator.ingest.fetcher import HostRateLimiter
from pressbox.curator.ingest.queues import SqlHostRateLimits
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.rows import EntryBodyRow, FeedStateRow
from tests.fakes.curator_rows import Rows
from tests.fakes.poisons import POISONS, rss
from tests.integration.http.loopback import LoopbackServer, running
from tests.patience import patience

PAGE = 100
POLICY = CuratorPolicy(page_size=PAGE, feed_delay=timedelta(0))
NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
# As the database refuses what no rule of ours foresees.
_REFUSE = """
    CREATE FUNCTION curator.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'index row size 5000 exceeds maximum 2704' USING ERRCODE = '54000'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON curator.entries FOR EACH ROW
    WHEN (NEW.title = 'unstorable') EXECUTE FUNCTION curator.refuse()
"""


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with running() as server:
        yield server


@pytest.fixture
async def crawl(server: LoopbackServer, database: Database, parsers: ParserPool) -> AsyncIterator[CrawlActivities]:
    settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",), timeout_seconds=patience(10))
    async with GuardedClient(settings) as client:
        crawler = FeedCrawler(client, FeedParser(parsers), POLICY, lambda: NOW)
        limiter = HostRateLimiter(SqlHostRateLimits(database), lambda: NOW)
        yield CrawlActivities(
            SqlFeeds(database, PooledComparer(parsers)), SqlFetchStore(database), crawler, limiter, lambda: NOW
        )


async def run_round(crawl: CrawlActivities) -> list[ProbeFeedsResult]:
    """As the workflow does: page after page, until there is none."""
    results, after = [], 0
    while True:
        page = await crawl.list_feeds(ListFeedsInput(after_feed_id=after, limit=PAGE, due_at=NOW))
        wanted = ProbeFeedsInput(feed_ids=page.feed_ids, policy=POLICY)
        results.append(await ActivityEnvironment().run(crawl.probe_feeds, wanted))
        if not page.more:
            return results
        after = page.feed_ids[-1]


async def test_every_poison_fails_alone_and_the_round_goes_on(
    server: LoopbackServer, crawl: CrawlActivities, database: Database
) -> None:
    rows = Rows(database)
    async with database.unit_of_work() as work:
        await work.session.execute(text(_REFUSE))
    reader = await rows.user()
    honest, poisoned = [], {}
    for number, (name, poison) in enumerate(POISONS.items()):
        path = poison.path or f"/poison/{number}"
        poison.plant(server, path)
        poisoned[name] = await rows.feed(reader, url=server.url(path))
        honest.append(await plant_honest(rows, server, reader, 2 * number))
    honest += [await plant_honest(rows, server, reader, 1_000 + number) for number in range(PAGE - 2 * len(POISONS))]
    later = [await plant_honest(rows, server, reader, 2_000 + number) for number in range(3)]

    first, second = await run_round(crawl)

    for feed_id in (*honest, *later):
        assert (await rows.state(feed_id)).outcome == CrawlOutcome.NEW
        assert len(await rows.ids(feed_id)) == 1
    failed = sum(poison.outcome.failed for poison in POISONS.values())
    states = {name: await rows.state(feed_id) for name, feed_id in poisoned.items()}
    assert [(name, state.reason) for name, state in states.items() if state.outcome != POISONS[name].outcome] == []
    assert {name for name, state in states.items() if POISONS[name].reason not in state.reason} == set()
    assert {name for name, state in states.items() if bool(state.failures) != POISONS[name].outcome.failed} == set()
    latest = NOW + 2 * POLICY.longest_backoff
    assert {name for name, state in states.items() if not NOW < (state.next_crawl_at or NOW) < latest} == set()
    assert (first.failed, second.failed, second.created) == (failed, 0, len(later))
    stored = await rows.all(select(EntryBodyRow.feed_content))
    assert max(len(content) for content in stored) < 1_000_000
    assert (await crawl.list_feeds(ListFeedsInput(limit=PAGE, due_at=NOW))).feed_ids == ()


async def test_parsers_that_do_not_start_leave_every_feed_as_it_was(
    server: LoopbackServer,
    crawl: CrawlActivities,
    database: Database,
    parsers: ParserPool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def start_nothing(*_: object, **__: object) -> None:
        raise ChildNotStartedError("The parsers do not start in time; the machine is busy.")

    rows = Rows(database)
    feed_id = await plant_honest(rows, server, await rows.user(), 1)
    with monkeypatch.context() as patched:
        patched.setattr(parsers, "run_by", start_nothing)
        with pytest.raises(ChildNotStartedError):
            await run_round(crawl)
    assert list(await rows.all(select(FeedStateRow.feed_id))) == []
    await run_round(crawl)
    assert (await rows.state(feed_id)).outcome == CrawlOutcome.NEW


async def plant_honest(rows: Rows, server: LoopbackServer, reader: int, number: int) -> int:
    server.answers(f"/honest/{number}", body=rss(title=f"Honest {number}"))
    return await rows.feed(reader, url=server.url(f"/honest/{number}"))
