"""The change feed: commit order, no gap for who reconnects, and an end for who is too slow."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import delete, event

from pressbox.core.app import LiveTopic, LoadMany, Resources
from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.audiences.members import Viewer
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError
from pressbox.core.live import feed as feed_module
from pressbox.core.live.feed import QUEUE_LENGTH, ChangeFeed
from pressbox.core.live.loading import MessageLoader
from pressbox.core.live.log import ChangeLog
from pressbox.core.live.messages import Change, Message, Wish, parse_topics
from tests.waiting import PATIENCE_SECONDS, until

ANYBODY = Viewer(user_id=1)
ALL = Wish(frozenset({"thing"}), frozenset())
FEED_TASK = "feed"


async def load(_: Resources, keys: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    return {key: {"name": key} for key in keys if key != "gone"}


async def replay(feed: ChangeFeed, after: int, wish: Wish = ALL) -> list[Message] | None:
    missed = await feed.missed(after, wish)
    if missed.changes is None:
        return None
    return [message async for messages in feed.load(missed.changes, ANYBODY) for message in messages]


@asynccontextmanager
async def running_feed(resources: Resources, load: LoadMany = load) -> AsyncIterator[ChangeFeed]:
    feed = ChangeFeed(resources, {"thing": LiveTopic("thing", load, EVERYONE)})
    task = asyncio.create_task(feed.run(), name=FEED_TASK)
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
        with first.listen(ALL, ANYBODY) as here, second.listen(ALL, ANYBODY) as there:
            await change(resources.database, "a")
            messages = [await asyncio.wait_for(listener.next(), PATIENCE_SECONDS) for listener in (here, there)]
    assert [message.key for message in messages if isinstance(message, Message)] == ["a", "a"]


async def test_a_change_that_was_rolled_back_is_never_heard(resources: Resources) -> None:
    with pytest.raises(ZeroDivisionError):
        async with resources.database.unit_of_work() as work:
            work.changed("thing", "rolled back")
            raise ZeroDivisionError
    async with running_feed(resources) as feed:
        assert await replay(feed, 0) == []


async def test_what_is_gone_is_said_to_be_gone(resources: Resources) -> None:
    await change(resources.database, "gone")
    async with running_feed(resources) as feed:
        messages = await replay(feed, 0)
    assert messages
    data = messages[0].wire.decode().split("data: ")[1]
    assert json.loads(data) == {"kind": "thing", "key": "gone", "item": None}


async def test_a_reconnecting_browser_gets_each_thing_once_in_its_present_state(resources: Resources) -> None:
    await change(resources.database, "a")
    async with running_feed(resources) as feed:
        seen = await feed.newest()
        await change(resources.database, "b")
        await change(resources.database, "c", "b")
        # A cursor of now: what it names is looked for, even before this process was told of it.
        assert await replay(feed, await feed.newest()) == []
        messages = await replay(feed, seen)
    assert messages is not None
    assert [message.key for message in messages] == ["c", "b"]
    assert [message.id for message in messages] == sorted(message.id for message in messages)


async def test_a_cursor_older_than_the_log_or_from_the_future_means_reload(resources: Resources) -> None:
    await change(resources.database, "a")
    await change(resources.database, "b")
    async with resources.database.unit_of_work() as work:
        await work.session.execute(delete(ChangeRow).where(ChangeRow.key == "a"))
    async with running_feed(resources) as feed:
        assert await replay(feed, 0) is None
        assert await replay(feed, 99) is None
        assert await replay(feed, 1) is not None


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
            missed = await feed.missed(cursor, ALL)
            assert missed.changes is not None
            seen.extend(change.id for change in missed.changes)
            cursor = missed.cursor
            await asyncio.sleep(0)

    async with running_feed(resources) as feed:
        reading = asyncio.create_task(reader(feed))
        await asyncio.gather(*(writer(name) for name in range(6)))
        stop.set()
        await reading
    assert sorted(seen) == list(range(1, 91))


async def test_a_listener_that_does_not_read_is_cut_off_and_holds_no_memory(resources: Resources) -> None:
    async with running_feed(resources) as feed:
        with feed.listen(ALL, ANYBODY) as slow:
            for start in range(0, QUEUE_LENGTH * 2, 128):
                await change(resources.database, *(f"{number}" for number in range(start, start + 128)))
            await until(lambda: slow.overflowed)
            assert slow._queue.qsize() == 1


async def test_neither_listeners_nor_their_coming_back_ask_the_database(resources: Resources) -> None:
    """400 streams from the beginning cost what one costs: things are loaded many at a time, and once for all."""
    asked: list[int] = []

    async def counted(_: Resources, keys: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        asked.append(len(keys))
        await asyncio.sleep(0)
        return await load(_, keys)

    statements: list[str] = []

    def note(*arguments: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        # The feed itself looks into the log now and then, whoever listens.
        if task.get_name() != FEED_TASK:
            statements.append(arguments[2])

    await change(resources.database, *(f"{number}" for number in range(950)))
    async with running_feed(resources, counted) as feed:
        event.listen(resources.database.engine.sync_engine, "before_cursor_execute", note)
        try:
            found = await asyncio.gather(*(replay(feed, 0) for _ in range(400)))
        finally:
            event.remove(resources.database.engine.sync_engine, "before_cursor_execute", note)
    assert {len(messages or ()) for messages in found} == {950}
    assert asked == [100] * 9 + [50]
    assert statements == []
    assert found[0] is not None
    assert found[399] is not None
    assert found[0][7] is found[399][7], "one message for all of them"


async def test_a_burst_is_loaded_in_portions_and_reaches_everybody(resources: Resources) -> None:
    asked: list[int] = []

    async def counted(_: Resources, keys: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        asked.append(len(keys))
        return await load(_, keys)

    async with running_feed(resources, counted) as feed:
        with feed.listen(ALL, ANYBODY) as here, feed.listen(ALL, ANYBODY) as there:
            await change(resources.database, *(f"{number}" for number in range(200)))
            for listener in (here, there):
                for _ in range(200):
                    await asyncio.wait_for(listener.next(), PATIENCE_SECONDS)
    assert asked == [100, 100]


async def test_what_a_listener_leaves_in_its_queue_is_bounded_in_bytes(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "QUEUE_BYTES", 200)
    async with running_feed(resources) as feed:
        with feed.listen(ALL, ANYBODY) as slow:
            await change(resources.database, "a" * 90, "b" * 90)
            await until(lambda: slow.overflowed)
            assert slow._queue.qsize() == 1


def test_the_log_forgets_the_oldest_things_and_says_so() -> None:
    log = ChangeLog(0, longest=2)
    log.append([Change(1, "thing", "a"), Change(2, "thing", "b"), Change(3, "thing", "a"), Change(4, "thing", "c")])
    assert (log.floor, log.newest) == (2, 4)
    assert log.since(1, ALL, 10) is None
    assert log.since(2, ALL, 10) == [Change(3, "thing", "a"), Change(4, "thing", "c")]
    assert log.since(3, ALL, 10) == [Change(4, "thing", "c")]
    assert log.since(2, ALL, 1) is None, "too much is as bad as too long ago"


async def test_kept_messages_are_bounded_in_bytes(resources: Resources) -> None:
    loader = MessageLoader(resources, {"thing": LiveTopic("thing", load, EVERYONE)}, most_bytes=500)
    for number in range(1, 50):
        await loader.load([Change(number, "thing", f"{number}")])
    assert 0 < sum(len(message.wire) for message in loader._kept.values()) <= 500


@pytest.mark.parametrize("text", ["", " , ", "unknown", "unknown:3", ",".join(["thing"] * 21)])
def test_a_topic_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        parse_topics(text, {"thing"})
    assert refusal.value.field == "topics"


def test_a_wish_for_one_thing_does_not_match_another() -> None:
    wish = parse_topics("thing:7", {"thing"})
    assert wish.matches("thing", "7")
    assert not wish.matches("thing", "8")
