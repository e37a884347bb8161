"""The reminder for everybody who chose one offset, in a real database, beside reminders of single people."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.activities.reminder_dispatch import ReminderDispatcher
from pressbox.soonish.activities.shared_reminders import SharedReminders
from pressbox.soonish.adapters.events import SqlEvents
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.rows import DeliveryRow, EventRow, ReminderOffsetRow, SubscriptionRow
from pressbox.soonish.adapters.wordings import SqlWordings
from pressbox.soonish.contracts import ReminderWorkflowInput, SendReminderPageInput
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.reminders import EVERYBODY, ReminderOutcome
from tests.fakes.soonish import FakeSender
from tests.integration.soonish.conftest import World

HOUR = 3600
LINKS = SignedLinks("https://events.example.org", ("a key of at least thirty-two characters",))


class Reminding:
    """Both ways to remind, on one database."""

    def __init__(self, world: World, start: datetime) -> None:
        self.world, self.start, self.sender = world, start, FakeSender()
        events, ledger, reminders = SqlEvents(world.database), SqlLedger(world.database), SqlReminders(world.database)
        dispatcher = Dispatcher(ledger, self.sender, LINKS, SqlWordings(world.database, LINKS), lambda: self.now)
        self.single = ReminderDispatcher(events, ledger, reminders, dispatcher, lambda: self.now)
        self.shared = SharedReminders(events, ledger, reminders, dispatcher, lambda: self.now)
        self.ledger, self.late = ledger, timedelta(0)

    @property
    def now(self) -> datetime:
        return self.start - timedelta(seconds=HOUR) + self.late

    def input(self, subscription_id: int = EVERYBODY) -> ReminderWorkflowInput:
        return ReminderWorkflowInput(
            event_id=self.world.event_id, subscription_id=subscription_id, offset_seconds=HOUR, start_date=self.start
        )

    async def remind_everybody(self) -> ReminderOutcome | None:
        accepted = await self.shared.accept(self.input())
        if accepted.notification_id is not None:
            page = SendReminderPageInput(
                reminder=self.input(), notification_id=accepted.notification_id, limit=5, concurrency=4
            )
            while await self.shared.send_page(page):
                pass
            await self.ledger.finish(accepted.notification_id)
        return accepted.outcome

    async def rows(self) -> list[DeliveryRow]:
        async with self.world.database.unit_of_work() as work:
            return list(await work.session.scalars(select(DeliveryRow).order_by(DeliveryRow.id)))

    def received(self) -> Counter[str]:
        return Counter(key for key, _ in self.sender.sent)


@pytest.fixture
async def reminding(world: World) -> Reminding:
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    await world.edit(start_date=start, end_date=start + timedelta(hours=2))
    return Reminding(world, start)


async def test_everybody_who_chose_it_gets_it_once_and_nobody_else(world: World, reminding: Reminding) -> None:
    people = [await world.by_address() for _ in range(12)]
    none, another, chosen = [await world.by_address() for _ in range(3)]
    async with world.database.unit_of_work() as work:
        own = update(SubscriptionRow).where(SubscriptionRow.id.in_([none, another, chosen]))
        await work.session.execute(own.values(own_offsets=True))
        work.session.add(ReminderOffsetRow(subscription_id=another, offset_seconds=60))
        work.session.add(ReminderOffsetRow(subscription_id=chosen, offset_seconds=HOUR))
    await reminding.remind_everybody()
    rows = await reminding.rows()
    assert {row.subscription_id for row in rows} == {*people, chosen}
    assert set(reminding.received().values()) == {1}
    assert {message.title for _, message in reminding.sender.sent} == {"Summer fair starts in 1 hour"}
    assert await reminding.remind_everybody() is ReminderOutcome.SENT
    assert len(reminding.sender.sent) == 13


async def test_switching_between_the_two_forms_loses_and_doubles_nothing(world: World, reminding: Reminding) -> None:
    """Both fire at the same moment, as when an event grows large while its reminders are due."""
    people = [await world.by_address() for _ in range(10)]
    outcomes = await asyncio.gather(
        *(reminding.single.send(reminding.input(person)) for person in people[:5]),
        reminding.remind_everybody(),
        *(reminding.single.send(reminding.input(person)) for person in people[5:]),
        return_exceptions=True,
    )
    # A person's own that finds the row taken while it writes is told so at its next try.
    await asyncio.gather(*(reminding.single.send(reminding.input(person)) for person in people), return_exceptions=True)
    await reminding.remind_everybody()
    rows = await reminding.rows()
    assert len(outcomes) == 11
    assert sorted(row.subscription_id for row in rows) == people
    assert {row.state for row in rows} == {DeliveryState.SENT}
    assert reminding.received() == {row.channel_key: 1 for row in rows}


async def test_who_joins_while_it_is_sent_gets_it_too(world: World, reminding: Reminding) -> None:
    await world.by_address()
    await reminding.remind_everybody()
    await world.by_address()
    await reminding.remind_everybody()
    assert len(reminding.sender.sent) == 2
    assert set(reminding.received().values()) == {1}


async def test_the_text_says_how_much_time_is_left_when_it_leaves(world: World, reminding: Reminding) -> None:
    await world.by_address()
    accepted = await reminding.shared.accept(reminding.input())
    assert accepted.notification_id is not None
    reminding.late = timedelta(minutes=43)
    page = SendReminderPageInput(
        reminder=reminding.input(), notification_id=accepted.notification_id, limit=5, concurrency=4
    )
    await reminding.shared.send_page(page)
    assert [message.title for _, message in reminding.sender.sent] == ["Summer fair starts in 17 minutes"]


async def test_who_was_missed_stands_in_the_ledger_and_a_cancelled_event_says_nothing(
    world: World, reminding: Reminding
) -> None:
    people = [await world.by_address() for _ in range(3)]
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(EventRow).values(status="cancelled"))
    assert await reminding.remind_everybody() is ReminderOutcome.CANCELLED
    assert await reminding.rows() == []
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(EventRow).values(status="active"))
    reminding.late = timedelta(minutes=11)
    assert await reminding.remind_everybody() is ReminderOutcome.MISSED
    rows = await reminding.rows()
    assert {(row.subscription_id, row.state, row.reason) for row in rows} == {
        (person, DeliveryState.SKIPPED, ReminderOutcome.MISSED) for person in people
    }
    assert len(rows) == len(people)
    reminding.late = timedelta(0)
    assert await reminding.single.send(reminding.input(people[0])) is ReminderOutcome.SHARED
    assert reminding.sender.sent == []
