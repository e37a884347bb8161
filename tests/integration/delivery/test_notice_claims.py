"""Two senders on one ledger of notices, one frozen or killed at every step: nobody is lost, every copy admitted."""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.core.notices.publish import withdraw
from tests.fakes.notice_sending import Post
from tests.fakes.notices import GOAL, TEAM, tell

PEOPLE = 30
TITLE = "Goal for Liverpool by Salah, 23′"

_FOLLOWERS = """
    WITH people AS (
        INSERT INTO core.users (email, password_hash, role)
        SELECT concat('person-', n, '@example.org'), 'unusable', 'member' FROM generate_series(1, :people) AS n
        RETURNING id
    ), following AS (
        INSERT INTO core.follows (user_id, subject, name, path) SELECT id, :team, 'Liverpool', '/footy' FROM people
    )
    INSERT INTO core.notice_ways (user_id, channel_key) SELECT id, concat('account:', id) FROM people
"""


@dataclass(frozen=True)
class Crowd:
    database: Database
    post: Post

    async def judge(self) -> int:
        """Everybody was told, every copy is admitted; returns how many copies there are."""
        rows = {row.channel_key: row for row in await self.post.rows()}
        received = Counter(way for way, _ in self.post.place.received)
        assert set(received) == set(rows), "nobody is lost"
        assert {row.state for row in rows.values()} == {"sent"}
        copies = {way for way, count in received.items() if count > 1}
        assert copies <= {way for way, row in rows.items() if row.maybe_twice}, "every copy is admitted"
        return sum(received.values()) - len(received)


@pytest.fixture
async def crowd(database: Database) -> Crowd:
    async with database.unit_of_work() as work:
        await work.session.execute(text(_FOLLOWERS), {"people": PEOPLE, "team": TEAM})
    await tell(database, GOAL)
    return Crowd(database, Post(database))


async def test_four_senders_share_the_rows_and_double_nothing(crowd: Crowd) -> None:
    await asyncio.gather(*(crowd.post.send() for _ in range(4)))
    assert await crowd.judge() == 0
    assert not any(row.maybe_twice for row in await crowd.post.rows())


@pytest.mark.parametrize("step", ["turn", "look", "before"])
async def test_a_sender_that_froze_before_the_effect_doubles_nothing(crowd: Crowd, step: str) -> None:
    frozen = crowd.post.sender(freeze_at=step)
    running = crowd.post.start(frozen)
    await frozen.frozen.wait()
    await crowd.post.send_until_all()
    frozen.thawed.set()
    await running
    assert await crowd.judge() == 0


async def test_a_sender_that_froze_after_the_effect_leaves_copies_that_the_ledger_admits(crowd: Crowd) -> None:
    frozen = crowd.post.sender(freeze_at="after")
    running = crowd.post.start(frozen, at_once=4)
    await frozen.frozen.wait()
    await crowd.post.send_until_all()
    frozen.thawed.set()
    await running
    assert 1 <= await crowd.judge() <= 4


async def test_a_killed_sender_loses_nobody_and_what_it_was_doing_may_come_twice(crowd: Crowd) -> None:
    killed = crowd.post.sender(freeze_at="after")
    running = crowd.post.start(killed, at_once=4)
    await killed.frozen.wait()
    # As of a process that is killed, nothing of it is recorded before the judgement.
    await crowd.post.send_until_all()
    assert 1 <= await crowd.judge() <= 4
    killed.thawed.set()
    await running


async def test_what_a_dead_sender_may_have_told_is_taken_back(crowd: Crowd) -> None:
    killed = crowd.post.sender(freeze_at="after")
    running = crowd.post.start(killed, at_once=2, page=2)
    await killed.frozen.wait()
    told = {way for way, _ in crowd.post.place.received}
    assert told
    async with crowd.database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    await crowd.post.send_until_all()
    taken_back = {way for way, title in crowd.post.place.received if title == f"Taken back: {TITLE}"}
    assert told <= taken_back, "whoever may have been told hears of it"
    never_tried = {row.channel_key for row in await crowd.post.rows() if row.reason == "withdrawn"}
    assert never_tried
    assert never_tried.isdisjoint(way for way, _ in crowd.post.place.received)
    killed.thawed.set()
    await running


async def test_a_notice_that_changes_while_it_waits_for_its_turn_leaves_as_it_is_now(crowd: Crowd) -> None:
    slow = crowd.post.sender(freeze_at="look")
    running = crowd.post.start(slow)
    await slow.frozen.wait()
    await tell(crowd.database, replace(GOAL, title="Goal for Liverpool by Jota, 23′"))
    slow.thawed.set()
    await running
    await crowd.post.send_until_all()
    assert {title for _, title in crowd.post.place.received} == {"Goal for Liverpool by Jota, 23′"}
    assert await crowd.judge() == 0
