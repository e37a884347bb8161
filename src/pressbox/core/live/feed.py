"""The change feed of one web process: listens, debounces, loads what changed once, and hands it to all listeners.

Neither a listener nor its coming back costs a load of its own: what was missed is known from the log in memory, and
what it looks like was loaded for the first who wanted it. Who belongs to the audience of a message is asked for many at
once, and only where an application decides it.

The database's NOTIFY only wakes us; what changed is read from `core.changes` by cursor. So a lost connection, a
restart of PostgreSQL or a second web process costs nothing: the next read continues where the last one ended.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import func, select

from pressbox.core.app import LiveTopic, Resources
from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import BUILT_IN, AudienceKind, Members, Viewer, find_members
from pressbox.core.db.changes import CHANGES_CHANNEL, ChangeRow
from pressbox.core.errors import NotFoundError, TransientError
from pressbox.core.live.admission import find_audiences, shown_to
from pressbox.core.live.loading import LOAD_TOGETHER, MessageLoader
from pressbox.core.live.log import LONGEST_LOG, ChangeLog
from pressbox.core.live.messages import Change, Message, Wish, event, newest_of_each
from pressbox.core.logs import get_logger

log = get_logger(__name__)

DEBOUNCE_SECONDS = 0.1
RECONNECT_SECONDS = 1.0
# A look without having been woken, in case a proxy between us and PostgreSQL swallowed a notification.
LOOK_SECONDS = 15.0
QUEUE_LENGTH = 256
QUEUE_BYTES = 1_000_000
READ_TOGETHER = 1000
# Who missed more things than this is quicker with a new page.
REPLAY_LIMIT = 1000


class Listener:
    """One browser's queue. When it is full the browser is too slow: it is told to reload and gets nothing more."""

    def __init__(self, wish: Wish, viewer: Viewer) -> None:
        self.wish = wish
        self.viewer = viewer
        self.overflowed = False
        self._queue: asyncio.Queue[Message | bytes] = asyncio.Queue(QUEUE_LENGTH)
        self._bytes = 0

    def offer(self, message: Message | bytes) -> None:
        if self.overflowed:
            return
        size = _size(message)
        if self._queue.full() or self._bytes + size > QUEUE_BYTES:
            self.overflowed = True
            while not self._queue.empty():
                self._queue.get_nowait()
            # Wakes a sender that waits; it then sees the flag.
            message, size, self._bytes = b"", 0, 0
        self._queue.put_nowait(message)
        self._bytes += size

    async def next(self) -> Message | bytes:
        message = await self._queue.get()
        self._bytes = max(0, self._bytes - _size(message))
        return message


@dataclass(frozen=True)
class Missed:
    """What a reconnecting browser missed. None instead of changes: too long ago or too much, it must reload."""

    changes: Sequence[Change] | None
    cursor: int


class ChangeFeed:
    def __init__(
        self, resources: Resources, topics: Mapping[str, LiveTopic], audiences: Sequence[AudienceKind] = ()
    ) -> None:
        self._resources = resources
        self._audiences = audiences
        self.topics = topics
        self._listeners: set[Listener] = set()
        self._loader = MessageLoader(resources, topics)
        self._log: ChangeLog | None = None
        self._reading = asyncio.Lock()
        # Up to where changes were handed to listeners; the log may know more.
        self._cursor: int | None = None
        self.connected = False

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    @contextmanager
    def listen(self, wish: Wish, viewer: Viewer) -> Iterator[Listener]:
        listener = Listener(wish, viewer)
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

    async def missed(self, after: int, wish: Wish) -> Missed:
        """What changed since the cursor `after`: `load` says how it looks now."""
        log = await self._known_up_to(after)
        return Missed(log.since(after, wish, REPLAY_LIMIT), log.newest)

    async def load(self, changes: Sequence[Change], viewer: Viewer) -> AsyncIterator[list[Message]]:
        """The messages of these changes that are for this person, in portions."""
        async for messages in self._load(changes):
            members = await self._members((message.audience for message in messages), {viewer.user_id})
            shown = (shown_to(viewer, message, members) for message in messages)
            yield [message for message in shown if message is not None]

    async def demand_admission(self, wish: Wish, viewer: Viewer) -> None:
        """Refuse things that have to be named and are not this person's; whether there are such is not told."""
        named = sorted(thing for thing in wish.things if self.topics[thing[0]].by_name)
        async with self._resources.database.unit_of_work() as work:
            found = [(await find_audiences(work, self.topics[kind], [key])).get(key) for kind, key in named]
        members = await self._members(found, {viewer.user_id})
        for (kind, key), audience in zip(named, found, strict=True):
            if not members.include(audience, viewer):
                raise NotFoundError(f"There is no {kind}:{key}, or it is not yours to follow.")

    async def newest(self) -> int:
        async with self._resources.database.unit_of_work() as work:
            return await work.session.scalar(select(func.coalesce(func.max(ChangeRow.id), 0))) or 0

    async def _listen(self) -> None:
        url = self._resources.database.driver_url
        async with await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=5) as connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANGES_CHANNEL)))
            if self._cursor is None:
                self._cursor = (await self._known_up_to(0)).newest
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
            wanted = [change for change in newest_of_each(batch) if self._anybody_wants(change)]
            async for messages in self._load(wanted):
                await self._hand_over(messages)
            # Moved only after everything was handed over: a failure in between repeats instead of losing.
            self._cursor = batch[-1].id

    async def _load(self, changes: Sequence[Change]) -> AsyncIterator[list[Message]]:
        for start in range(0, len(changes), LOAD_TOGETHER):
            yield await self._loader.load(changes[start : start + LOAD_TOGETHER])

    async def _members(self, audiences: Iterable[Audience | None], people: Collection[int]) -> Members:
        of_applications = {one for one in audiences if one is not None and one.kind not in BUILT_IN}
        if not of_applications:
            return Members()
        async with self._resources.database.unit_of_work() as work:
            return await find_members(work.session, self._audiences, of_applications, people)

    async def _hand_over(self, messages: Sequence[Message]) -> None:
        # Who comes after this look needs none of these: they are in what it missed.
        people = {listener.viewer.user_id for listener in self._listeners}
        members = await self._members((message.audience for message in messages), people)
        portion = max(1, QUEUE_LENGTH // 4)
        for start in range(0, len(messages), portion):
            for listener in tuple(self._listeners):
                for message in messages[start : start + portion]:
                    if listener.wish.matches(message.kind, message.key):
                        shown = shown_to(listener.viewer, message, members)
                        if shown is not None:
                            listener.offer(shown)
            # Senders run between two portions: a burst does not look like a slow browser.
            await asyncio.sleep(0)

    async def _batches(self) -> AsyncIterator[list[Change]]:
        while batch := await self._read(self._cursor or 0):
            # In the log before anybody hears of it: a listener that comes now finds in one or the other what it needs.
            if self._log is not None:
                self._log.append(batch)
            yield batch

    async def _known_up_to(self, number: int) -> ChangeLog:
        """The log. A page may know of a change before this process was told, so it looks for a number not yet seen."""
        if self._log is None or number > self._log.newest:
            async with self._reading:
                if self._log is None:
                    self._log = await self._read_log()
                while number > self._log.newest and (batch := await self._read(self._log.newest)):
                    self._log.append(batch)
        return self._log

    async def _read_log(self) -> ChangeLog:
        """The end of the change log in the database."""
        async with self._resources.database.unit_of_work() as work:
            found = await work.session.execute(
                select(ChangeRow.id, ChangeRow.kind, ChangeRow.key).order_by(ChangeRow.id.desc()).limit(LONGEST_LOG)
            )
            changes = [Change(*row) for row in found.tuples()]
        log = ChangeLog(changes[-1].id - 1 if changes else 0)
        log.append(reversed(changes))
        return log

    async def _read(self, after: int) -> list[Change]:
        async with self._resources.database.unit_of_work() as work:
            rows = await work.session.execute(
                select(ChangeRow.id, ChangeRow.kind, ChangeRow.key)
                .where(ChangeRow.id > after)
                .order_by(ChangeRow.id)
                .limit(READ_TOGETHER)
            )
            return [Change(*row) for row in rows.tuples()]

    def _anybody_wants(self, change: Change) -> bool:
        return change.kind in self.topics and any(
            listener.wish.matches(change.kind, change.key) for listener in self._listeners
        )

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


def _size(message: Message | bytes) -> int:
    return len(message if isinstance(message, bytes) else message.wire)
