"""The outbox with several tellers, and sign-ups that need no telling, in a real database."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text, update

from pressbox.soonish.activities.telling import Teller
from pressbox.soonish.adapters import outbox
from pressbox.soonish.adapters.due_work import SqlDueWork
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.rows import OutboxRow, SubscriptionRow
from pressbox.soonish.contracts import (
    EventUpdated,
    ManualNotificationSent,
    OutboxEntry,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
    SweepStep,
)
from pressbox.soonish.domain.reminders import EVERYBODY, WantedReminder
from tests.fakes.soonish import FakeWorkflows
from tests.integration.soonish.conftest import START, World

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class SlowWorkflows(FakeWorkflows):
    """Temporal answers late, so that tellers meet."""

    async def signal_event(self, event_id: int, signals: Sequence[OutboxEntry]) -> None:
        await asyncio.sleep(0.01)
        await super().signal_event(event_id, signals)


async def add(world: World, kind: type, **payload: object) -> None:
    async with world.database.unit_of_work() as work:
        await outbox.add_signal(work.session, world.event_id, kind, **payload)


async def count_untold(world: World) -> int:
    async with world.database.unit_of_work() as work:
        return await work.session.scalar(text("SELECT count(*) FROM soonish.outbox WHERE told_at IS NULL")) or 0


async def test_twenty_tellers_tell_each_row_once_and_in_order(world: World) -> None:
    workflows = SlowWorkflows()

    async def act(number: int) -> None:
        await add(world, EventUpdated, version=number)
        await Teller(SqlOutbox(world.database), workflows).tell(world.event_id)

    await asyncio.gather(*(act(number) for number in range(1, 21)))
    numbers = [signal.outbox_id for _, signal in workflows.signalled]
    assert len(numbers) == 20, "each once"
    assert numbers == sorted(numbers)
    assert await count_untold(world) == 0, "whoever found another at work left nothing behind"


async def test_what_could_not_be_told_is_free_for_the_next_teller(world: World) -> None:
    workflows = FakeWorkflows()
    workflows.full = {world.event_id}
    await add(world, EventUpdated, version=2)
    teller = Teller(SqlOutbox(world.database), workflows)
    results = await asyncio.gather(teller.tell(world.event_id), return_exceptions=True)
    assert isinstance(results[0], Exception)
    workflows.full.clear()
    assert await teller.tell(world.event_id) == 1


async def test_joining_and_leaving_a_large_event_needs_no_signal(world: World) -> None:
    reminders, workflows = SqlReminders(world.database), FakeWorkflows()
    await reminders.record_schedules(
        world.event_id, [WantedReminder(EVERYBODY, offset, START) for offset in (HOUR, DAY)]
    )
    joins, leaves, own = await world.by_address(), await world.by_address(), await world.by_address()
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(SubscriptionRow).where(SubscriptionRow.id == leaves).values(state="left"))
        await work.session.execute(update(SubscriptionRow).where(SubscriptionRow.id == own).values(own_offsets=True))
        await work.session.execute(text("INSERT INTO soonish.reminder_offsets VALUES (:own, 60)"), {"own": own})
    await add(world, ParticipantAdded, subscription_id=joins)
    await add(world, ParticipantRemoved, subscription_id=leaves)
    await add(world, ParticipantChanged, subscription_id=own)
    await add(world, ManualNotificationSent, notification_id=7)
    await Teller(SqlOutbox(world.database), workflows).tell(world.event_id)
    assert [signal.kind for _, signal in workflows.signalled] == ["send_manual_notification", "participant_changed"]
    assert await count_untold(world) == 0
    await reminders.forget_schedules(world.event_id, [(EVERYBODY, 3600)])
    await add(world, ParticipantAdded, subscription_id=joins)
    await Teller(SqlOutbox(world.database), workflows).tell(world.event_id)
    assert len(workflows.signalled) == 3, "a schedule that is not there must be made"


async def test_the_look_sees_what_a_sweep_would_do(world: World) -> None:
    due = SqlDueWork(world.database)
    assert list(await due.look(timedelta(seconds=30))) == []
    await add(world, EventUpdated, version=2)
    assert list(await due.look(timedelta(seconds=30))) == [], "whoever wrote it tells it"
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(OutboxRow).values(created_at=text("now() - interval '1 minute'")))
        await work.session.execute(
            text("INSERT INTO soonish.reminder_groups VALUES (:event, 60, now())"), {"event": world.event_id}
        )
    await world.channel(await world.user(), broken=True)
    assert list(await due.look(timedelta(seconds=30))) == [
        SweepStep.OUTBOX,
        SweepStep.REMINDERS,
        SweepStep.BROKEN_CHANNELS,
    ]
