"""The change feed of one web process: listens, debounces, loads what changed once, and hands it to all listeners.

The database's NOTIFY only wakes us; what changed is read from `core.changes` by cursor. So a lost connection, a
restart of PostgreSQL or a second web process costs nothing: the next read continues where the last one ended.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import func, select

from pressbox.core.app import LiveTopic, Resources
from pressbox.core.db.changes import CHANGES_CHANNEL, ChangeRow
from pressbox.core.errors import TransientError
from pressbox.core.live.messages import Message, Wish, change_message, event, newest_of_each
from pressbox.core.logs import get_logger

log = get_logger(__name__)

DEBOUNCE_SECONDS = 0.1
RECONNECT_SECONDS = 1.0
# A look without having been woken, in case a proxy between us and PostgreSQL swallowed a notification.
LOOK_SECONDS = 15.0
QUEUE_LENGTH = 256
REPLAY_LIMIT = 1000


class Listener:
    """One browser's queue. When it is full the browser is too slow: it is told to reload and gets nothing more."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.overflowed = False
        self._queue: asyncio.Queue[Message | bytes] = asyncio.Queue(QUEUE_LENGTH)

    def offer(self, message: Message | bytes) -> None:
        if self.overflowed:
            return
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self.overflowed = True
            while not self._queue.empty():
                self._queue.get_nowait()
            # Wakes a sender that waits; it then sees the flag.
            self._queue.put_nowait(b"")

    async def next(self) -> Message | bytes:
        return await self._queue.get()


@dataclass(frozen=True)
class Replay:
    """What a reconnecting browser missed. None instead of messages: too long ago, it must reload."""

    messages: tuple[Message, ...] | None
    cursor: int


class ChangeFeed:
    def __init__(self, resources: Resources, topics: Mapping[str, LiveTopic]) -> None:
        self._resources = resources
        self.topics = topics
        self._listeners: set[Listener] = set()
        self._cursor: int | None = None
        self.connected = False

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    @contextmanager
    def listen(self, wish: Wish) -> Iterator[Listener]:
        listener = Listener(wish)
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def run(self) -> None:
        """Listen until cancelled; come back by itself when the database was away."""
        while True:
            try:
                await self._listen()
            except (psycopg.OperationalError, TransientError) as error:
                if self.connected:
                    log.warning("feed_lost", msg=f"Lost the change feed, reconnecting: {error}")
                self._set_connected(False)
                await asyncio.sleep(RECONNECT_SECONDS)

    async def replay(self, after: int, wish: Wish) -> Replay:
        """Everything since the cursor `after`, in its present state."""
        async with self._resources.database.unit_of_work() as work:
            oldest, newest = (
                await work.session.execute(
                    select(func.coalesce(func.min(ChangeRow.id), 0), func.coalesce(func.max(ChangeRow.id), 0))
                )
            ).one()
            # A cursor from the future is one from before a restored backup.
            if not oldest - 1 <= after <= newest:
                return Replay(None, newest)
            rows = await work.session.execute(
                select(ChangeRow.id, ChangeRow.kind, ChangeRow.key)
                .where(ChangeRow.id > after, ChangeRow.id <= newest, ChangeRow.kind.in_(wish.all_kinds))
                .order_by(ChangeRow.id)
            )
            missed = newest_of_each(row for row in rows.tuples() if wish.matches(row[1], row[2]))
        if len(missed) > REPLAY_LIMIT:
            return Replay(None, newest)
        return Replay(tuple([await self._load(*change) for change in missed]), newest)

    async def newest(self) -> int:
        async with self._resources.database.unit_of_work() as work:
            return await work.session.scalar(select(func.coalesce(func.max(ChangeRow.id), 0))) or 0

    async def _listen(self) -> None:
        url = self._resources.database.driver_url
        async with await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=5) as connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANGES_CHANNEL)))
            if self._cursor is None:
                self._cursor = await self.newest()
            self._set_connected(True)
            while True:
                await self._catch_up()
                if await _wait_for_notification(connection, LOOK_SECONDS):
                    await asyncio.sleep(DEBOUNCE_SECONDS)
                    # What arrived meanwhile is read in one go with what woke us.
                    while await _wait_for_notification(connection, 0):
                        pass

    async def _catch_up(self) -> None:
        async for batch in self._batches():
            wanted = [change for change in newest_of_each(batch) if self._anybody_wants(change[1], change[2])]
            for change in wanted:
                # Loading one by one lets the senders run in between: a burst does not look like a slow browser.
                message = await self._load(*change)
                for listener in tuple(self._listeners):
                    if listener.wish.matches(message.kind, message.key):
                        listener.offer(message)
            # Moved only after everything was handed over: a failure in between repeats instead of losing.
            self._cursor = batch[-1][0]

    async def _batches(self) -> AsyncIterator[list[tuple[int, str, str]]]:
        while True:
            async with self._resources.database.unit_of_work() as work:
                rows = await work.session.execute(
                    select(ChangeRow.id, ChangeRow.kind, ChangeRow.key)
                    .where(ChangeRow.id > (self._cursor or 0))
                    .order_by(ChangeRow.id)
                    .limit(REPLAY_LIMIT)
                )
                batch = [(id, kind, key) for id, kind, key in rows.tuples()]
            if not batch:
                return
            yield batch

    def _anybody_wants(self, kind: str, key: str) -> bool:
        return kind in self.topics and any(listener.wish.matches(kind, key) for listener in self._listeners)

    async def _load(self, id: int, kind: str, key: str) -> Message:
        item: Mapping[str, Any] | None = await self.topics[kind].load(self._resources, key)
        return change_message(id, kind, key, item)

    def _set_connected(self, connected: bool) -> None:
        if connected == self.connected:
            return
        self.connected = connected
        for listener in tuple(self._listeners):
            listener.offer(event("fresh" if connected else "stale", {}))


async def _wait_for_notification(connection: psycopg.AsyncConnection[Any], seconds: float) -> bool:
    async for _ in connection.notifies(timeout=seconds, stop_after=1):
        return True
    return False
