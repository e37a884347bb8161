"""Rows are the queue: who gets what, what a frozen or killed worker loses, and whose turn a fetch takes."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Interval, bindparam, text, update
from temporalio.testing import ActivityEnvironment

from pressbox.core.clock import utc_now
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.distil.activities import DistilScope
from pressbox.curator.distil.store import SqlDistilQueue
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.contracts import CrawlPageInput
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetcher import SET_ASIDE, FeedProber, HostRateLimiter
from pressbox.curator.ingest.page_activities import CrawlPages
from pressbox.curator.ingest.ports import ClaimedEntry, FetchedEntry, FetchScope
from pressbox.curator.ingest.queues import SqlCrawlQueue, SqlFetchQueue, SqlHostRateLimits
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, Distilled
from pressbox.curator.library.leases import Lease
from pressbox.curator.library.rows import EntryRow, FeedRow
from tests.fakes.curator_rows import ComparerHere, Rows, entry, read

NOW = datetime.now(UTC)
FREELY = FetchScope()
POLITELY = FetchScope(delay=timedelta(minutes=10))
HOUR = timedelta(hours=1)


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


async def waiting(rows: Rows, *hosts: str) -> list[int]:
    """Entries whose pages wait, one for each host, newest last."""
    feed_id = await rows.feed(await rows.user())
    entries = [
        entry(number, url=f"https://{host}/{number}", published_at=NOW - HOUR + timedelta(minutes=number))
        for number, host in enumerate(hosts)
    ]
    await rows.crawl(feed_id, read(*entries), policy=CuratorPolicy(unread_at_start=100))
    return list(await rows.ids(feed_id))


def ids(claimed: Sequence[ClaimedEntry]) -> set[int]:
    return {one.source.entry_id for one in claimed}


def article(entry_id: int, claimed: Sequence[ClaimedEntry] = ()) -> FetchedEntry:
    turn = next((one.turn for one in claimed if one.source.entry_id == entry_id), "")
    return FetchedEntry(entry_id, NOW, turn, FetchedArticle(html="<p>Text</p>", text=f"The text of {entry_id}."))


async def lapse(database: Database) -> None:
    """As if a minute had passed."""
    async with database.unit_of_work() as work:
        for table in (EntryRow, FeedRow):
            await work.session.execute(update(table).values(lease_until=table.lease_until - HOUR))
        await work.session.execute(text("UPDATE curator.host_turns SET busy_until = busy_until - interval '1 hour'"))


async def test_ten_workers_that_ask_at_once_share_the_entries(rows: Rows, database: Database) -> None:
    all_ids = await waiting(rows, *(f"h{number}.example.org" for number in range(30)))
    queue = SqlFetchQueue(database)
    pages = await asyncio.gather(
        *(queue.claim(Lease(f"worker {number}"), FREELY, 3, suspects=False) for number in range(10))
    )
    assert sorted(entry_id for page in pages for entry_id in ids(page)) == sorted(all_ids), "none twice, none left"


async def test_a_frozen_worker_loses_its_rows_and_its_results_are_refused(rows: Rows, database: Database) -> None:
    (entry_id,) = await waiting(rows, "a.example.org")
    queue, frozen, other = SqlFetchQueue(database), Lease("frozen"), Lease("other")
    await queue.claim(frozen, FREELY, 10, suspects=False)
    assert not await queue.claim(other, FREELY, 10, suspects=False)
    assert not await queue.claim(other, FREELY, 10, suspects=True)
    await lapse(database)
    again = await queue.claim(other, FREELY, 10, suspects=True)
    assert (ids(again), again[0].begun) == ({entry_id}, 2)
    assert await queue.record(frozen, [article(entry_id)]) == []
    assert await queue.record(other, [article(entry_id)]) == [entry_id]
    assert not await queue.claim(Lease("third"), FREELY, 10, suspects=False)


async def test_the_next_step_takes_over_at_once_and_the_one_before_never_again(rows: Rows, database: Database) -> None:
    (entry_id,) = await waiting(rows, "a.example.org")
    queue, first, second = SqlFetchQueue(database), Lease("work", 9, "2"), Lease("work", 1, "10")
    await queue.claim(first, FREELY, 10, suspects=False)
    assert ids(await queue.claim(second, FREELY, 10, suspects=True)) == {entry_id}
    assert not await queue.claim(first, FREELY, 10, suspects=True)
    assert await queue.record(first, [article(entry_id)]) == []


async def test_a_lease_that_is_renewed_does_not_lapse(rows: Rows, database: Database) -> None:
    (entry_id,) = await waiting(rows, "a.example.org")
    queue, ours = SqlFetchQueue(database), Lease("ours")
    await queue.claim(ours, FREELY, 10, suspects=False)
    await lapse(database)
    await queue.renew(ours, [entry_id])
    assert not await queue.claim(Lease("other"), FREELY, 10, suspects=True)


async def test_a_host_has_one_page_at_a_time_for_all_workers_together(rows: Rows, database: Database) -> None:
    first, second, other = await waiting(rows, "a.example.org", "a.example.org", "b.example.org")
    queue = SqlFetchQueue(database)
    pages = await asyncio.gather(
        *(queue.claim(Lease(f"worker {number}"), POLITELY, 10, suspects=False) for number in range(5))
    )
    claimed = [one for page in pages for one in page]
    assert ids(claimed) == {second, other}, "the newest of each host, once"
    owner = next(number for number, page in enumerate(pages) if second in ids(page))
    await queue.record(Lease(f"worker {owner}"), [article(second, claimed)])
    assert not await queue.claim(Lease("next"), POLITELY, 10, suspects=False), "its delay is not over"
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE curator.host_turns SET next_at = now()"))
    assert ids(await queue.claim(Lease("next"), POLITELY, 10, suspects=False)) == {first}


async def test_a_slow_host_is_not_asked_again_while_it_is_being_asked(rows: Rows, database: Database) -> None:
    await waiting(rows, "slow.example.org", "slow.example.org", "quick.example.org")
    queue = SqlFetchQueue(database)
    await queue.claim(Lease("one"), POLITELY, 10, suspects=False)
    async with database.unit_of_work() as work:
        # Its delay is over, and no answer has come.
        await work.session.execute(text("UPDATE curator.host_turns SET next_at = now()"))
    assert not await queue.claim(Lease("two"), POLITELY, 10, suspects=False)
    await lapse(database)
    assert len(await queue.claim(Lease("two"), POLITELY, 10, suspects=False)) == 1, "whoever asked is dead"


async def test_hosts_of_a_domain_with_its_own_pace_take_turns_together(rows: Rows, database: Database) -> None:
    await waiting(rows, "www.slow.org", "old.slow.org", "a.example.org", "a.example.org")
    queue = SqlFetchQueue(database, {"slow.org": HOUR})
    claimed = await queue.claim(Lease("one"), FREELY, 10, suspects=False)
    assert sorted(one.turn for one in claimed) == ["", "", "slow.org"]


async def test_who_waits_is_told_when_the_first_has_its_turn(rows: Rows, database: Database) -> None:
    await waiting(rows, "a.example.org", "a.example.org")
    queue, scope = SqlFetchQueue(database), FetchScope(delay=timedelta(seconds=30))
    await queue.claim(Lease("one"), scope, 10, suspects=False)
    turn = await queue.find_next(Lease("two"), scope, timedelta(minutes=1))
    assert turn.waiting == 1
    assert turn.at is not None
    assert timedelta(seconds=20) < turn.at - datetime.now(UTC) < timedelta(seconds=31)
    assert (await queue.find_next(Lease("two"), scope, timedelta(seconds=5))).waiting == 0


async def test_feeds_are_handed_out_once_and_stored_only_by_their_owner(rows: Rows, database: Database) -> None:
    # What is due is due by the clock of the database.
    now = datetime.now(UTC)
    reader = await rows.user()
    feeds = [await rows.feed(reader, url=f"https://f{number}.example.org/feed") for number in range(6)]
    queue, policy = SqlCrawlQueue(database), CuratorPolicy()
    pages = await asyncio.gather(*(queue.claim(Lease(f"worker {number}"), 2) for number in range(4)))
    assert sorted(feed.feed_id for page in pages for feed in page) == sorted(feeds)
    (page,) = [page for page in pages if page and page[0].feed_id == feeds[0]]
    for number, one in enumerate(pages):
        await queue.release(Lease(f"worker {number}"), [feed.feed_id for feed in one], {})
    taken = await queue.claim(Lease("other"), 10)
    assert len(taken) == 6
    late = await rows.feeds.store_crawl(page[0], read(entry(1)), policy, now, Lease("worker 0"))
    assert late.created == 0
    assert not await rows.ids(feeds[0])
    stored = await rows.feeds.store_crawl(page[0], read(entry(1)), policy, now, Lease("other"))
    assert stored.created == 1
    await rows.feeds.store_unchanged([(feed, Crawl(CrawlOutcome.UNCHANGED)) for feed in taken], policy, now)
    await queue.release(Lease("other"), feeds, {feeds[1]: now - HOUR})
    assert [feed.feed_id for feed in await queue.claim(Lease("next"), 10)] == [feeds[1], *feeds[2:]]


async def test_feeds_that_nobody_gave_back_come_alone_and_one_that_killed_so_is_named(
    rows: Rows, database: Database
) -> None:
    reader = await rows.user()
    innocent, deadly, fresh = [await rows.feed(reader) for _ in range(3)]
    queue, killed, second, third = SqlCrawlQueue(database), Lease("killed"), Lease("second"), Lease("third")
    await queue.claim(killed, 2)
    (other,) = await queue.claim(second, 10)
    assert other.feed_id == fresh
    assert await queue.claim_suspect(second) is None
    await rows.feeds.store_crawl(other, read(entry(1)), CuratorPolicy(), NOW, second)
    await queue.release(second, [fresh], {})
    await lapse(database)
    one = await queue.claim_suspect(second)
    assert one is not None
    assert (one.feed.feed_id, one.killed) == (innocent, False)
    assert (await rows.feeds.store_crawl(one.feed, read(entry(1)), CuratorPolicy(), NOW, killed)).created == 0
    assert (await rows.feeds.store_crawl(one.feed, read(entry(1)), CuratorPolicy(), NOW, one.lease)).created == 1
    await queue.release(one.lease, [innocent], {})
    one = await queue.claim_suspect(second)
    assert one is not None
    assert (one.feed.feed_id, one.killed) == (deadly, False)
    await lapse(database)
    again = await queue.claim_suspect(third)
    assert again is not None
    assert (again.feed.feed_id, again.killed) == (deadly, True)
    await rows.feeds.store_crawl(again.feed, SET_ASIDE, CuratorPolicy(), NOW, again.lease)
    await queue.release(again.lease, [deadly], {})
    state = await rows.state(deadly)
    assert (state.reason, state.next_crawl_at) == (SET_ASIDE.reason, None)
    assert not await queue.claim(Lease("fourth"), 10)
    assert await queue.claim_suspect(Lease("fourth")) is None


async def test_what_ends_in_an_error_killed_nobody(rows: Rows, database: Database) -> None:
    class Away:
        async def crawl(self, feed: FeedToCrawl) -> Crawl:
            raise TransientError("Our own parts are away.")

    feed_id = await rows.feed(await rows.user())
    queue = SqlCrawlQueue(database)
    limiter = HostRateLimiter(SqlHostRateLimits(database), lambda: NOW)
    pages = CrawlPages(queue, FeedProber(rows.feeds, Away(), limiter))
    with pytest.raises(TransientError):
        await ActivityEnvironment().run(pages.crawl_due_feeds, CrawlPageInput())
    assert [feed.feed_id for feed in await queue.claim(Lease("next"), 10)] == [feed_id]


class EmptySite:
    """A site whose feeds are empty. Remembers which were asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def crawl(self, feed: FeedToCrawl) -> Crawl:
        self.asked.append(feed.feed_id)
        return read()


async def move_clock(database: Database, by: timedelta) -> None:
    """As if so much time had passed."""
    async with database.unit_of_work() as work:
        for statement in (
            "UPDATE curator.feed_state SET next_crawl_at = next_crawl_at - :by, last_crawl_at = last_crawl_at - :by",
            "UPDATE curator.host_turns SET next_at = next_at - :by",
        ):
            await work.session.execute(text(statement).bindparams(bindparam("by", by, Interval)))


async def ask_due_feeds(database: Database, site: EmptySite, policy: CuratorPolicy, pace: timedelta) -> None:
    """One page, as a worker takes it."""
    queue, lease = SqlCrawlQueue(database), Lease("worker")
    limiter = HostRateLimiter(SqlHostRateLimits(database), utc_now, {"paced.example.org": pace})
    feeds = await queue.claim(lease, 100)
    probed = await FeedProber(SqlFeeds(database, ComparerHere()), site, limiter).probe(feeds, policy, lease)
    await queue.release(lease, [feed.feed_id for feed in feeds], probed.postponed)


@pytest.mark.parametrize("minutes", [1, 5])
async def test_fifty_feeds_of_a_host_with_a_pace_have_one_turn_each(
    rows: Rows, database: Database, minutes: int
) -> None:
    reader, site, pace = await rows.user(), EmptySite(), timedelta(minutes=1)
    feeds = [await rows.feed(reader, url=f"https://paced.example.org/{number}") for number in range(50)]
    policy = CuratorPolicy(feed_patience=timedelta(seconds=1), shortest_interval=timedelta(minutes=1))
    for _ in feeds:
        await ask_due_feeds(database, site, policy, pace)
        # Those that were asked are due again long before the last one has had its turn.
        await move_clock(database, pace * minutes)
    assert sorted(site.asked) == feeds, "one at a time, and nobody twice before all had a turn"


async def test_summaries_are_handed_out_once_and_a_poisoned_text_comes_alone(rows: Rows, database: Database) -> None:
    entry_ids = await waiting(rows, *(f"h{number}.example.org" for number in range(4)))
    for entry_id in entry_ids:
        await rows.fetched(entry_id, f"Text {entry_id}.")
    queue, scope = SqlDistilQueue(database), DistilScope()
    killed = await queue.claim(Lease("killed"), scope, 2, suspects=False)
    fresh = await queue.claim(Lease("other"), scope, 10, suspects=False)
    assert {one.entry.entry_id for one in (*killed, *fresh)} == set(entry_ids)
    await lapse(database)
    assert not await queue.claim(Lease("third"), scope, 10, suspects=False)
    (alone,) = await queue.claim(Lease("third"), scope, 1, suspects=True)
    answer = Distilled(alone.entry.entry_id, "Gist.", 0, 0, "en", "m", "1", alone.entry.content_hash)
    assert await queue.record(Lease("killed"), [answer], (), NOW) == []
    assert await queue.record(Lease("third"), [answer], (), NOW) == [alone.entry.entry_id]
    given_back = await queue.claim(Lease("third"), scope, 1, suspects=True)
    await queue.release(Lease("third"), [given_back[0].entry.entry_id])
    assert (await queue.find_next(Lease("fourth"), scope)).waiting == 3
