"""The change feed: commit order, no gap for who reconnects, and an end for who is too slow."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import delete

from pressbox.core.app import LiveTopic, Resources
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError
from pressbox.core.live.feed import QUEUE_LENGTH, ChangeFeed
from pressbox.core.live.messages import Message, Wish, parse_topics
from tests.waiting import until

ALL = Wish(frozenset({"thing"}), frozenset())


async def load(_: Resources, key: str) -> Mapping[str, Any] | None:
    return None if key == "gone" else {"name": key}


@asynccontextmanager
async def running_feed(resources: Resources) -> AsyncIterator[ChangeFeed]:
    feed = ChangeFeed(resources, {"thing": LiveTopic("thing", load)})
    task = asyncio.create_task(feed.run())
    try:
        await until(lambda: feed.connected)
        yield feed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def change(database: Database, *keys: str) -> None:
    async with database.unit_of_work() as work:
        for key in keys:
            work.changed("thing", key)


async def test_a_committed_change_reaches_listeners_of_two_processes(resources: Resources) -> None:
    async with running_feed(resources) as first, running_feed(resources) as second:
        with first.listen(ALL) as here, second.listen(ALL) as there:
            await change(resources.database, "a")
            messages = [await asyncio.wait_for(listener.next(), 5) for listener in (here, there)]
    assert [message.key for message in messages if isinstance(message, Message)] == ["a", "a"]


async def test_a_change_that_was_rolled_back_is_never_heard(resources: Resources) -> None:
    with pytest.raises(ZeroDivisionError):
        async with resources.database.unit_of_work() as work:
            work.changed("thing", "rolled back")
            raise ZeroDivisionError
    async with running_feed(resources) as feed:
        assert (await feed.replay(0, ALL)).messages == ()


async def test_what_is_gone_is_said_to_be_gone(resources: Resources) -> None:
    await change(resources.database, "gone")
    async with running_feed(resources) as feed:
        messages = (await feed.replay(0, ALL)).messages
    assert messages is not None
    data = messages[0].wire.decode().split("data: ")[1]
    assert json.loads(data) == {"kind": "thing", "key": "gone", "item": None}


async def test_a_reconnecting_browser_gets_each_thing_once_in_its_present_state(resources: Resources) -> None:
    await change(resources.database, "a")
    async with running_feed(resources) as feed:
        seen = await feed.newest()
        await change(resources.database, "b")
        await change(resources.database, "c", "b")
        replay = await feed.replay(seen, ALL)
    assert replay.messages is not None
    assert [message.key for message in replay.messages] == ["c", "b"]
    assert [message.id for message in replay.messages] == sorted(message.id for message in replay.messages)


async def test_a_cursor_older_than_the_log_or_from_the_future_means_reload(resources: Resources) -> None:
    await change(resources.database, "a")
    await change(resources.database, "b")
    async with resources.database.unit_of_work() as work:
        await work.session.execute(delete(ChangeRow).where(ChangeRow.key == "a"))
    async with running_feed(resources) as feed:
        assert (await feed.replay(0, ALL)).messages is None
        assert (await feed.replay(99, ALL)).messages is None
        assert (await feed.replay(1, ALL)).messages is not None


async def test_numbers_become_visible_in_order_even_when_writers_overlap(resources: Resources) -> None:
    """A long transaction that noted a change must not slip a smaller number behind a reader's cursor."""
    seen: list[int] = []
    stop = asyncio.Event()

    async def writer(name: int) -> None:
        for number in range(15):
            async with resources.database.unit_of_work() as work:
                work.changed("thing", f"{name}-{number}")
                await asyncio.sleep(0.001 * (name % 3))

    async def reader(feed: ChangeFeed) -> None:
        cursor = 0
        while not stop.is_set() or cursor < await feed.newest():
            replay = await feed.replay(cursor, ALL)
            assert replay.messages is not None
            seen.extend(message.id for message in replay.messages)
            cursor = replay.cursor

    async with running_feed(resources) as feed:
        reading = asyncio.create_task(reader(feed))
        await asyncio.gather(*(writer(name) for name in range(6)))
        stop.set()
        await reading
    assert sorted(seen) == list(range(1, 91))


async def test_a_listener_that_does_not_read_is_cut_off_and_holds_no_memory(resources: Resources) -> None:
    async with running_feed(resources) as feed:
        with feed.listen(ALL) as slow:
            for start in range(0, QUEUE_LENGTH * 2, 128):
                await change(resources.database, *(f"{number}" for number in range(start, start + 128)))
            await until(lambda: slow.overflowed)
            assert slow._queue.qsize() == 1


@pytest.mark.parametrize("text", ["", " , ", "unknown", "unknown:3", ",".join(["thing"] * 21)])
def test_a_topic_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        parse_topics(text, {"thing"})
    assert refusal.value.field == "topics"


def test_a_wish_for_one_thing_does_not_match_another() -> None:
    wish = parse_topics("thing:7", {"thing"})
    assert wish.matches("thing", "7")
    assert not wish.matches("thing", "8")
