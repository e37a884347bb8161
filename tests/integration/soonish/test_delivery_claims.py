"""Two senders on one ledger, one of them frozen or killed at every step: what a claim can prevent does not happen."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import text

from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState, Level, Verdict
from pressbox.delivery.ports import Attempt, Claim, DeliveryResult, NoTurnError, OutgoingMessage, SendNow
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.wordings import SqlWordings
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from tests.integration.soonish.conftest import World, claim
from tests.patience import patience
from tests.waiting import until

PEOPLE = 40
# Long enough for a loaded machine to renew three times, short enough to wait for.
LEASE = timedelta(seconds=3)
LINKS = SignedLinks("https://events.example.org", ("a key of at least thirty-two characters",))
TEXT = MessageText("Room change", "We meet in room 2.")


@dataclass
class Place:
    """Where all messages arrive, whoever sends them."""

    received: list[str] = field(default_factory=list)


@dataclass
class Sender:
    """Puts messages into the place. It freezes at a step until it is thawed, as a stopped process does."""

    place: Place
    freeze_at: str = ""
    frozen: asyncio.Event = field(default_factory=asyncio.Event)
    thawed: asyncio.Event = field(default_factory=asyncio.Event)
    without_turn: set[str] = field(default_factory=set)

    async def step(self, name: str) -> None:
        if name == self.freeze_at:
            self.frozen.set()
            await self.thawed.wait()

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        if channel_key in self.without_turn:
            raise NoTurnError(timedelta(hours=1))
        await self.step("turn")
        yield partial(self.send, channel_key)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        await self.step("before")
        if message.is_too_late:
            return Attempt(AttemptResult.UNAVAILABLE, "too late", is_own_fault=True)
        self.place.received.append(channel_key)
        await self.step("after")
        return Attempt(AttemptResult.ACCEPTED)


class FrozenLedger(SqlLedger):
    """What belongs to a frozen process stands still too: it neither renews nor records."""

    def __init__(self, world: World, sender: Sender) -> None:
        super().__init__(world.database)
        self._sender = sender

    async def renew(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        if not self._sender.frozen.is_set() or self._sender.thawed.is_set():
            await super().renew(delivery_ids, claim)

    async def record_results(self, results: Sequence[DeliveryResult], claim: Claim) -> None:
        if self._sender.frozen.is_set():
            await self._sender.thawed.wait()
        await super().record_results(results, claim)


@dataclass(frozen=True)
class Crowd:
    world: World
    notification_id: int
    people: Sequence[int]
    place: Place = field(default_factory=Place)

    def send(self, sender: Sender) -> "asyncio.Task[bool]":
        ledger = FrozenLedger(self.world, sender)
        dispatcher = Dispatcher(ledger, sender, LINKS, SqlWordings(self.world.database, LINKS), lease=LEASE)
        return asyncio.create_task(dispatcher.send_due(self.notification_id, 8, window=10, opens=True))

    async def send_until_all(self) -> None:
        """Another worker, which is never frozen, goes on until everybody has an answer."""
        async with asyncio.timeout(patience(60)):
            while await self.count(DeliveryState.SENT) < PEOPLE:
                await self.send(Sender(self.place))
                await asyncio.sleep(0.2)

    async def count(self, state: DeliveryState) -> int:
        return sum(row.state == state for row in await self.world.ledger(self.notification_id))

    async def judge(self) -> int:
        """Nobody is missing, every copy is admitted; returns how many copies there are."""
        ledger = {row.channel_key: row for row in await self.world.ledger(self.notification_id)}
        received = Counter(self.place.received)
        assert set(received) == set(ledger), "nobody is lost"
        assert {row.state for row in ledger.values()} == {DeliveryState.SENT}
        copies = {key for key, count in received.items() if count > 1}
        assert copies <= {key for key, row in ledger.items() if row.maybe_twice}, "every copy is admitted"
        return sum(received.values()) - len(received)


@pytest.fixture
async def crowd(world: World) -> Crowd:
    people = [await world.by_address() for _ in range(PEOPLE)]
    number = await SqlLedger(world.database).accept_message(
        world.event_id, Cause.ANNOUNCEMENT, "a", Level.INFO, TEXT, people
    )
    return Crowd(world, number, people)


async def test_two_senders_share_a_message_and_double_nothing(crowd: Crowd) -> None:
    senders = [Sender(crowd.place) for _ in range(4)]
    await asyncio.gather(*(crowd.send(sender) for sender in senders))
    assert await crowd.judge() == 0
    assert not any(row.maybe_twice for row in await crowd.world.ledger(crowd.notification_id))


@pytest.mark.parametrize("step", ["turn", "before"])
async def test_a_sender_that_froze_before_the_effect_doubles_nothing(crowd: Crowd, step: str) -> None:
    frozen = Sender(crowd.place, freeze_at=step)
    running = crowd.send(frozen)
    await frozen.frozen.wait()
    await crowd.send_until_all()
    frozen.thawed.set()
    await running
    assert await crowd.judge() == 0


async def test_a_sender_that_froze_after_the_effect_leaves_copies_that_the_ledger_admits(crowd: Crowd) -> None:
    frozen = Sender(crowd.place, freeze_at="after")
    running = crowd.send(frozen)
    await until(lambda: len(crowd.place.received) == 8, "as many as leave at once")
    await crowd.send_until_all()
    frozen.thawed.set()
    await running
    assert await crowd.judge() == 8, "one for each that had left, and none for those that waited behind them"


@pytest.mark.parametrize("step", ["turn", "before", "after"])
async def test_a_sender_that_is_killed_loses_nobody(crowd: Crowd, step: str) -> None:
    killed = Sender(crowd.place, freeze_at=step)
    running = crowd.send(killed)
    await killed.frozen.wait()
    try:
        await crowd.send_until_all()
        assert await crowd.judge() <= (8 if step == "after" else 0)
    finally:
        killed.thawed.set()
        await running


async def test_a_frozen_sender_that_wakes_before_another_tried_records_what_it_did(crowd: Crowd) -> None:
    """It lost its claims, but the others have not begun: its result spares them a copy."""
    frozen = Sender(crowd.place, freeze_at="after")
    running = crowd.send(frozen)
    await until(lambda: len(crowd.place.received) == 8, "as many as leave at once")
    other = Claim("another round", LEASE)
    taken = await claim(crowd.world.database, crowd.notification_id, later=LEASE, by=other)
    frozen.thawed.set()
    await running
    ledger = SqlLedger(crowd.world.database)
    still = await ledger.note_tries([item.delivery_id for item in taken], other)
    sent = {row.id for row in await crowd.world.ledger(crowd.notification_id) if row.state == DeliveryState.SENT}
    assert len(sent & {item.delivery_id for item in taken}) == 8
    assert not sent & set(still), "nobody tries again what is known to have arrived"


async def test_a_lease_counts_by_the_clock_of_the_database(crowd: Crowd) -> None:
    """The clocks of two machines may differ by hours; neither is asked."""
    first, second = Claim("a", timedelta(minutes=5)), Claim("b", timedelta(minutes=5))
    ledger = SqlLedger(crowd.world.database)
    held = await ledger.claim_due(crowd.notification_id, first, 500, opens=True)
    assert len(held) == PEOPLE
    assert await ledger.claim_due(crowd.notification_id, second, 500, opens=True) == []
    async with crowd.world.database.unit_of_work() as work:
        left = await work.session.scalars(text("SELECT claimed_until - clock_timestamp() FROM soonish.deliveries"))
    assert all(timedelta(minutes=4) < lease <= timedelta(minutes=5) for lease in left)
    _, next_try_at = await ledger.count_deliveries(crowd.notification_id)
    assert next_try_at is not None, "whoever waits for it knows when the claim lapses"


async def test_one_row_that_cannot_be_written_or_sent_delays_only_itself(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    class Poisoned(Sender):
        async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
            nonlocal tried
            tried += 1
            if tried == 1:
                raise ValueError("Planted.")
            return await super().send(channel_key, message)

    def write(*_: object) -> MessageText:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise ValueError("Planted.")
        return TEXT

    await crowd.send(Poisoned(crowd.place))
    states = Counter(row.state for row in await crowd.world.ledger(crowd.notification_id))
    assert states == {DeliveryState.SENT: PEOPLE - 1, DeliveryState.UNCERTAIN: 1}
    again = await SqlLedger(crowd.world.database).accept_message(
        crowd.world.event_id, Cause.ANNOUNCEMENT, "b", Level.INFO, TEXT, crowd.people
    )
    tried = 0
    monkeypatch.setattr("pressbox.soonish.adapters.wordings.write_text", write)
    await replace(crowd, notification_id=again).send(Sender(crowd.place))
    states = Counter(row.state for row in await crowd.world.ledger(again))
    assert states == {DeliveryState.SENT: PEOPLE - 1, DeliveryState.PENDING: 1}


async def test_who_has_no_turn_is_given_back_with_a_time(crowd: Crowd) -> None:
    sender = Sender(crowd.place)
    ledger = SqlLedger(crowd.world.database)
    [first] = (await ledger.claim_due(crowd.notification_id, Claim("x", timedelta(0)), 1, opens=True))[:1]
    sender.without_turn = {first.channel_key}
    await crowd.send(sender)
    rows = {row.channel_key: row for row in await crowd.world.ledger(crowd.notification_id)}
    waiting = rows[first.channel_key]
    assert (waiting.state, waiting.tries, waiting.claimed_by) == (DeliveryState.PENDING, 0, None)
    assert waiting.next_try_at is not None
    assert Counter(row.state for row in rows.values())[DeliveryState.SENT] == PEOPLE - 1


async def test_a_page_on_which_nobody_has_a_channel_does_not_end_the_message(world: World) -> None:
    nobody = [await world.subscriber() for _ in range(3)]
    somebody = await world.by_address(SubscriptionState.ACTIVE)
    ledger = SqlLedger(world.database)
    number = await ledger.accept_message(world.event_id, Cause.ANNOUNCEMENT, "b", Level.INFO, TEXT, [*nobody, somebody])
    due = await ledger.claim_due(number, Claim("a", LEASE), 2, opens=True)
    assert [item.subscription_id for item in due] == [somebody]


async def test_a_result_counts_only_for_the_round_that_noted_the_last_try(crowd: Crowd) -> None:
    ledger, first, second = SqlLedger(crowd.world.database), Claim("a", timedelta(0)), Claim("b", LEASE)
    [item] = await ledger.claim_due(crowd.notification_id, first, 1, opens=True)
    assert await ledger.note_tries([item.delivery_id], first) == {item.delivery_id}
    await ledger.claim_due(crowd.notification_id, second, 1, opens=False)
    assert await ledger.note_tries([item.delivery_id], first) == set(), "it is somebody else's now"
    assert await ledger.note_tries([item.delivery_id], second) == {item.delivery_id}
    await ledger.record_results([DeliveryResult(item.delivery_id, Verdict(DeliveryState.FAILED), "gone")], first)
    [row, *_] = await crowd.world.ledger(crowd.notification_id)
    assert (row.state, row.maybe_twice) == (DeliveryState.PENDING, True)
    await ledger.record_results([DeliveryResult(item.delivery_id, Verdict(DeliveryState.SENT))], second)
    [row, *_] = await crowd.world.ledger(crowd.notification_id)
    assert (row.state, row.claimed_by) == (DeliveryState.SENT, None)
