"""Unread counts that are kept rather than counted, and feeds that become one."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.curator.feeds.domain import Crawl
from pressbox.curator.library.domain.feeds import CrawlOutcome
from pressbox.curator.library.rows import (
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    FeedErrorRow,
    FeedRow,
    SeenGuidRow,
    SubscriptionRow,
)
from tests.fakes.curator_rows import NOW, POLICY, Rows, entry, read

NEW_HOME = "https://new.example.org/feed"


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


class Crowd:
    """Three people and three feeds, and everything that can happen to a count, in any order."""

    def __init__(self, rows: Rows, users: list[int], feeds: list[int], chance: random.Random) -> None:
        self.rows = rows
        self.users = users
        self.feeds = feeds
        self.chance = chance
        self.number = 0

    async def act(self) -> str:
        acts: list[Callable[[], Awaitable[None]]] = [
            *[self.crawl] * 4,
            *[self.read_some] * 2,
            self.unread_some,
            self.forget_states,
            self.star_some,
            self.remove_some,
            self.subscribe,
            self.unsubscribe,
            self.clean_up,
        ]
        act = self.chance.choice(acts)
        await act()
        return act.__name__

    async def crawl(self) -> None:
        found = [entry(self.number + number) for number in range(self.chance.randint(1, 4))]
        self.number += len(found)
        await self.rows.crawl(self.chance.choice(self.feeds), read(*found))

    async def some(self) -> list[int]:
        known = await self.rows.all(select(EntryRow.id))
        return self.chance.sample(known, min(len(known), self.chance.randint(0, 4)))

    async def read_some(self) -> None:
        if chosen := await self.some():
            await self.rows.do(self.chance.choice(self.users), chosen, read_at=NOW)

    async def unread_some(self) -> None:
        if chosen := await self.some():
            await self.rows.do(self.chance.choice(self.users), chosen, read_at=None)

    async def star_some(self) -> None:
        if chosen := await self.some():
            await self.rows.do(self.chance.choice(self.users), chosen, starred_at=NOW)

    async def forget_states(self) -> None:
        await self.execute(delete(EntryStateRow).where(EntryStateRow.entry_id.in_(await self.some())))

    async def remove_some(self) -> None:
        await self.execute(delete(EntryRow).where(EntryRow.id.in_((await self.some())[:1])))

    async def clean_up(self) -> None:
        await self.rows.cleanup.clean_up(NOW + timedelta(days=1), False, 3)

    async def subscribe(self) -> None:
        user, feed = self.chance.choice(self.users), self.chance.choice(self.feeds)
        if not await self.rows.all(select(SubscriptionRow).filter_by(user_id=user, feed_id=feed)):
            await self.rows.subscribe(user, feed)

    async def unsubscribe(self) -> None:
        user, feed = self.chance.choice(self.users), self.chance.choice(self.feeds)
        await self.execute(delete(SubscriptionRow).filter_by(user_id=user, feed_id=feed))

    async def execute(self, statement: object) -> None:
        async with self.rows.database.unit_of_work() as work:
            await work.session.execute(statement)  # type: ignore[call-overload]

    async def wrong(self) -> list[tuple[int, int, int, int]]:
        found = []
        for row in await self.rows.all(select(SubscriptionRow)):
            real = await self.rows.really_unread(row.user_id, row.feed_id)
            if real != row.unread:
                found.append((row.user_id, row.feed_id, row.unread, real))
        return found


@pytest.mark.parametrize("seed", range(3))
async def test_unread_counts_are_right_after_whatever_happens(rows: Rows, seed: int) -> None:
    users = [await rows.user() for _ in range(3)]
    feeds = [await rows.feed(*users[: number + 1]) for number in range(3)]
    crowd = Crowd(rows, users, feeds, random.Random(seed))
    done, counts = [], set()
    for _ in range(60):
        done.append(await crowd.act())
        assert await crowd.wrong() == [], done[-3:]
        counts |= set(await rows.all(select(SubscriptionRow.unread)))
    assert len(counts) > 5
    assert len(set(done)) == 9


async def test_unread_counts_are_right_when_everything_happens_at_once(rows: Rows) -> None:
    users = [await rows.user() for _ in range(4)]
    feed = await rows.feed(users[0])
    asked = await rows.to_crawl(feed)
    await rows.crawl(feed, read(*(entry(number) for number in range(10))))
    known = await rows.ids(feed)
    await asyncio.gather(
        *(rows.subscribe(user, feed) for user in users[1:]),
        *(
            rows.feeds.store_crawl(asked, read(*(entry(10 * part + number) for number in range(10))), POLICY, NOW)
            for part in range(4)
        ),
        *(rows.do(users[0], known[part:], read_at=NOW) for part in range(4)),
        rows.do(users[0], known[:5], starred_at=NOW),
    )
    for user in users:
        assert await rows.unread(user, feed) == await rows.really_unread(user, feed)
    assert await rows.unread(users[0], feed) == 30


async def test_a_new_reader_starts_with_what_is_there(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1), entry(2)))
    ben = await rows.user()
    await rows.subscribe(ben, feed)
    assert await rows.unread(ben, feed) == 2


async def test_a_person_who_leaves_takes_only_their_own_along(rows: Rows) -> None:
    anna, ben = await rows.user(), await rows.user()
    feed = await rows.feed(anna, ben)
    await rows.crawl(feed, read(entry(1), entry(2)))
    await rows.do(ben, await rows.ids(feed), read_at=NOW)
    async with rows.database.unit_of_work() as work:
        await work.session.execute(delete(UserRow).where(UserRow.id == ben))
    assert await rows.unread(anna, feed) == 2
    assert await rows.all(select(EntryStateRow)) == []


async def test_a_feed_that_moved_gets_its_new_address(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    stored = await rows.crawl(feed, read(entry(1), moved_to=NEW_HOME))
    assert (stored.feed_id, stored.created) == (feed, 1)
    assert (await rows.to_crawl(feed)).url == NEW_HOME


async def test_a_feed_that_failed_at_its_new_address_stays_where_it_was(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), url="https://old.example.org/feed")
    await rows.crawl(feed, Crawl(CrawlOutcome.NOT_A_FEED, reason="A page.", moved_to=NEW_HOME))
    assert (await rows.to_crawl(feed)).url == "https://old.example.org/feed"


@pytest.mark.parametrize("unchanged", [True, False])
async def test_a_feed_that_moved_to_another_becomes_one_with_it(rows: Rows, unchanged: bool) -> None:
    anna, ben, both = await rows.user(), await rows.user(), await rows.user()
    old = await rows.feed(anna, both)
    new = await rows.feed(ben, both, url=NEW_HOME)
    await rows.crawl(old, read(entry(1), entry(2), entry(3)))
    await rows.crawl(new, read(entry(2), entry(4), etag="second"))
    first, second, third = await rows.ids(old)
    twin, _ = await rows.ids(new)
    label = await rows.label(anna)
    await rows.add(EntryLabelRow(label_id=label, entry_id=second))
    await rows.do(anna, [first, second], read_at=NOW)
    await rows.do(both, [second], starred_at=NOW, note="mine")
    await rows.do(both, [twin], read_at=NOW)
    await rows.add(SeenGuidRow(feed_id=old, guid="guid-9"))
    documents = await rows.documents.load_documents([first, second, third, twin])
    await rows.documents.mark_indexed({document.entry_id: document.shown_hash for document in documents})

    if unchanged:
        moved = Crawl(CrawlOutcome.UNCHANGED, moved_to=NEW_HOME)
        await rows.feeds.store_unchanged([(await rows.to_crawl(old), moved)], POLICY, NOW)
        assert [row.guid for row in await rows.of_feed(new)] == ["guid-1", "guid-2", "guid-3", "guid-4"]
    else:
        stored = await rows.crawl(old, read(entry(2), entry(5), entry(9), moved_to=NEW_HOME))
        assert (stored.feed_id, stored.created) == (new, 1)
        found = [row.guid for row in await rows.of_feed(new)]
        assert found == ["guid-1", "guid-2", "guid-3", "guid-4", "guid-5"]

    assert await rows.one(FeedRow, old) is None
    kept = await rows.ids(new)
    assert kept[:3] == [first, twin, third]
    assert [row.entry_id for row in await rows.all(select(EntryLabelRow))] == [twin]
    state = await rows.one(EntryStateRow, (both, twin))
    assert (state.read_at, state.starred_at, state.note) == (NOW, NOW, "mine")
    for user in (anna, ben, both):
        assert await rows.unread(user, new) == await rows.really_unread(user, new)
    assert await rows.unread(anna, new) == len(kept) - 2
    assert list(await rows.documents.removed_ids(10)) == [second]
    # The index filters by feed: what came over is indexed again.
    assert {first, third} <= set(await rows.documents.unindexed_ids(10))


async def test_a_feed_that_nobody_reads_wakes_up_when_another_moves_to_it(rows: Rows) -> None:
    old = await rows.feed(await rows.user())
    kept = await rows.feed(url=NEW_HOME, paused_at=NOW)
    await rows.crawl(old, read(entry(1), moved_to=NEW_HOME))
    assert (await rows.one(FeedRow, kept)).paused_at is None


async def test_failures_move_with_the_feed(rows: Rows) -> None:
    anna = await rows.user()
    old, new = await rows.feed(anna), await rows.feed(anna, url=NEW_HOME)
    await rows.crawl(old, Crawl(CrawlOutcome.UNREACHABLE, reason="away"))
    await rows.crawl(old, read(entry(1), moved_to=NEW_HOME))
    assert [row.feed_id for row in await rows.all(select(FeedErrorRow))] == [new]


async def test_a_count_can_not_be_wrong_by_a_changed_feed(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(entry(1)))
    async with rows.database.unit_of_work() as work:
        await work.session.execute(update(EntryRow).values(title="Another"))
    assert await rows.unread(anna, feed) == 1
