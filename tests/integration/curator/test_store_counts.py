"""Unread counts that are kept rather than counted, and feeds that become one."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.curator.library.rows import (
    EntryRow,
    EntryStateRow,
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


async def test_a_count_can_not_be_wrong_by_a_changed_feed(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(entry(1)))
    async with rows.database.unit_of_work() as work:
        await work.session.execute(update(EntryRow).values(title="Another"))
    assert await rows.unread(anna, feed) == 1
