"""A place where all notices arrive, and senders that freeze or die on the way to it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.core.notices.ways import add_ways
from pressbox.delivery.activities.notices import NoticeActivities
from pressbox.delivery.adapters.address_book import AddressBook, UnwantedError
from pressbox.delivery.adapters.notice_ledger import SqlNoticeLedger
from pressbox.delivery.adapters.notice_wording import NoticeWords
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.notice_ports import PlannedSend
from pressbox.delivery.ports import Attempt, Claim, DeliveryResult, OutgoingMessage, SendNow
from tests.patience import patience

# Long enough for a loaded machine to renew three times, short enough to wait for.
LEASE = timedelta(seconds=3)
NOWHERE = "http://pressbox.example"


@dataclass
class Place:
    """Where all notices arrive, whoever sends them: the way and the title."""

    received: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)

    def titles(self, way: str) -> list[str]:
        return [title for key, title in self.received if key == way]


@dataclass
class Sender:
    """Puts messages into the place, after the last look that the real one takes. It can freeze at a step, or answer."""

    place: Place
    book: AddressBook
    freeze_at: str = ""
    frozen: asyncio.Event = field(default_factory=asyncio.Event)
    thawed: asyncio.Event = field(default_factory=asyncio.Event)
    answers: list[Attempt] = field(default_factory=list)

    async def step(self, name: str) -> None:
        if name == self.freeze_at:
            self.frozen.set()
            await self.thawed.wait()

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        await self.step("turn")
        yield partial(self.send, channel_key)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        await self.step("look")
        try:
            await self.book.find(channel_key, message.recipient_id)
        except UnwantedError as error:
            return Attempt(AttemptResult.UNWANTED, error.reason)
        await self.step("before")
        if message.is_too_late:
            return Attempt(AttemptResult.UNAVAILABLE, "too late", is_own_fault=True)
        if self.answers:
            return self.answers.pop(0)
        self.place.received.append((channel_key, message.title))
        self.place.bodies.append(message.body)
        await self.step("after")
        return Attempt(AttemptResult.ACCEPTED)


class FrozenLedger(SqlNoticeLedger):
    """What belongs to a frozen process stands still too: it neither renews nor records."""

    def __init__(self, database: Database, sender: Sender) -> None:
        super().__init__(database)
        self._sender = sender

    async def renew(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        if not self._sender.frozen.is_set() or self._sender.thawed.is_set():
            await super().renew(delivery_ids, claim)

    async def record_results(self, results: Sequence[DeliveryResult], claim: Claim) -> None:
        if self._sender.frozen.is_set():
            await self._sender.thawed.wait()
        await super().record_results(results, claim)


@dataclass(frozen=True)
class SendRow:
    """A row of the ledger, as far as tests look."""

    user_id: int
    channel_key: str
    step: int
    state: str
    reason: str
    maybe_twice: bool


@dataclass(frozen=True)
class Post:
    """The sending side of one instance: any number of senders on one ledger."""

    database: Database
    place: Place = field(default_factory=Place)

    def sender(self, freeze_at: str = "", answers: Sequence[Attempt] = ()) -> Sender:
        ledger = SqlNoticeLedger(self.database)
        book = AddressBook(self.database, lambda encrypted, _: encrypted.decode(), ledger.find_unwanted)
        return Sender(self.place, book, freeze_at, answers=list(answers))

    def start(self, sender: Sender, at_once: int = 8, page: int = 10) -> "asyncio.Task[int]":
        ledger = FrozenLedger(self.database, sender)
        activities = NoticeActivities(ledger, sender, NoticeWords(NOWHERE), lease=LEASE)
        return asyncio.create_task(activities.send_due(at_once, page))

    async def send(self, *answers: Attempt) -> int:
        """A worker that is never frozen sends what is due."""
        return await self.start(self.sender(answers=answers))

    async def send_until_all(self) -> None:
        """The same until nothing waits, also not for a claim that lapses."""
        async with asyncio.timeout(patience(60)):
            while any(row.state == "pending" for row in await self.rows()):
                await self.send()
                await asyncio.sleep(0.2)

    async def choose(self, user_id: int, *ways: str) -> None:
        async with self.database.unit_of_work() as work:
            await add_ways(work.session, user_id, ways)

    async def rows(self) -> list[SendRow]:
        statement = "SELECT user_id, channel_key, step, state, reason, maybe_twice FROM core.notice_sends ORDER BY id"
        async with self.database.unit_of_work() as work:
            return [SendRow(*row) for row in await work.session.execute(text(statement))]

    async def hurry(self) -> None:
        """Let what is due later be due now."""
        async with self.database.unit_of_work() as work:
            await work.session.execute(text("UPDATE core.notice_sends SET next_try_at = now() WHERE state = 'pending'"))


class PagesOfNotices(SqlNoticeLedger):
    """Holds nothing to send, and says that so many wait after each page: for the workflow alone."""

    def __init__(self, *waiting: int) -> None:
        self._waiting = list(waiting)

    async def claim_due(self, claim: Claim, limit: int) -> Sequence[PlannedSend]:
        return ()

    async def count_waiting(self) -> int:
        return self._waiting.pop(0) if self._waiting else 0


class NobodySends:
    """Where nothing is to be sent."""

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        raise AssertionError(f"nothing was to be sent to {channel_key}")

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        yield partial(self.send, channel_key)
