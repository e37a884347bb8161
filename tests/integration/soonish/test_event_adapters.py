"""Events, reminders and the outbox in a real database."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from pressbox.delivery.adapters.rows import ContactRow
from pressbox.soonish.adapters import outbox
from pressbox.soonish.adapters.events import SqlEvents
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.rows import (
    EventRow,
    NotificationRow,
    OutboxRow,
    RecipientRow,
    ReminderOffsetRow,
    RequestedReminderRow,
    SubscriptionRow,
    TooLateRow,
)
from pressbox.soonish.contracts import EventUpdated, ParticipantAdded
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import EVERYBODY, ReminderOutcome, SubscriptionState, TooLate, WantedReminder
from tests.integration.soonish.conftest import NOW, START, World

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


async def recipients(world: World, notification_id: int) -> list[int]:
    statement = select(RecipientRow.subscription_id).where(RecipientRow.notification_id == notification_id)
    async with world.database.unit_of_work() as work:
        return sorted(await work.session.scalars(statement))


async def test_several_edits_become_one_message_from_old_to_new(world: World) -> None:
    events, subscriber = SqlEvents(world.database), await world.subscriber()
    muted = await world.subscriber(state=SubscriptionState.MUTED)
    await world.subscriber(user_id=world.organiser_id, organiser_only=True)
    await world.by_address(SubscriptionState.PENDING)
    await world.edit(location="Barn")
    await world.edit(location="Library", start_date=START + HOUR, end_date=START + 4 * HOUR)
    notification, version = await events.accept_update(world.event_id, 1)
    assert notification is not None
    assert version == 3
    text, level = await SqlLedger(world.database).load_message(notification)
    assert text.body.splitlines()[1:] == [
        "• Start: Sat 1 May 2027, 19:30 (Europe/Berlin) → Sat 1 May 2027, 20:30 (Europe/Berlin)",
        "• End: Sat 1 May 2027, 22:30 (Europe/Berlin) → Sat 1 May 2027, 23:30 (Europe/Berlin)",
        "• Location: Town hall → Library",
    ]
    assert level == "warning"
    assert await recipients(world, notification) == [subscriber, muted], "not the organiser, not the unconfirmed"
    assert await events.accept_update(world.event_id, 1) == (notification, 3), "a retry writes nothing more"


async def test_edits_that_undo_each_other_are_no_news(world: World) -> None:
    await world.edit(location="Barn")
    await world.edit(location="Town hall")
    assert await SqlEvents(world.database).accept_update(world.event_id, 1) == (None, 3)


async def test_a_message_that_nobody_heard_is_replaced_when_another_edit_came_meanwhile(world: World) -> None:
    events = SqlEvents(world.database)
    await world.edit(location="Barn")
    lost, _ = await events.accept_update(world.event_id, 1)
    await world.edit(name="Autumn fair")
    kept, version = await events.accept_update(world.event_id, 1)
    assert version == 3
    async with world.database.unit_of_work() as work:
        assert (await work.session.scalars(select(NotificationRow.id))).all() == [kept]
    assert lost != kept


async def test_a_cancelled_event_has_no_updates_and_is_not_completed(world: World) -> None:
    events = SqlEvents(world.database)
    await world.edit(location="Barn", status=EventStatus.CANCELLED)
    assert await events.accept_update(world.event_id, 1) == (None, 2)
    await events.mark_completed(world.event_id)
    details = await events.load_details(world.event_id)
    assert details is not None
    assert details.status is EventStatus.CANCELLED


async def test_details_know_when_the_event_is_over(world: World) -> None:
    events = SqlEvents(world.database)
    details = await events.load_details(world.event_id)
    assert details is not None
    assert (details.ends_at, details.version) == (START + 3 * HOUR, 1)
    await world.edit(end_date=None)
    details = await events.load_details(world.event_id)
    assert details is not None
    assert details.ends_at == START + 4 * HOUR
    await events.mark_completed(world.event_id)
    assert (await events.load_details(world.event_id)) == details.model_copy(update={"status": EventStatus.COMPLETED})
    assert await events.load_details(world.event_id + 1) is None
    assert await events.load_facts(world.event_id + 1) is None


async def test_a_deleted_event_goes_once_its_messages_are_out(world: World) -> None:
    events, ledger = SqlEvents(world.database), SqlLedger(world.database)
    await world.subscriber()
    await world.edit(location="Barn")
    notification, _ = await events.accept_update(world.event_id, 1)
    assert notification is not None
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(EventRow).values(deleted_at=NOW))
    assert await events.purge_deleted(NOW + HOUR) == 0
    await ledger.finish(notification)
    assert await events.purge_deleted(NOW - HOUR) == 0
    assert await events.purge_deleted(NOW + HOUR) == 1
    assert await events.load_details(world.event_id) is None


async def test_no_offsets_of_ones_own_differ_from_none_chosen(world: World) -> None:
    reminders = SqlReminders(world.database)
    default, none = await world.subscriber(), await world.subscriber(own_offsets=True)
    own = await world.subscriber(own_offsets=True)
    async with world.database.unit_of_work() as work:
        work.session.add_all(ReminderOffsetRow(subscription_id=own, offset_seconds=item) for item in (60, 3600))
    found = {item.subscription_id: item.offsets for item in await reminders.load_subscribers(world.event_id)}
    assert found == {default: None, none: (), own: (HOUR, timedelta(minutes=1))}
    assert [item.subscription_id for item in await reminders.load_subscribers(world.event_id, none)] == [none]


async def test_schedules_are_noted_moved_and_forgotten(world: World) -> None:
    reminders = SqlReminders(world.database)
    wanted = [WantedReminder(number, offset, START) for number in (1, 2) for offset in (HOUR, DAY)]
    await reminders.record_schedules(world.event_id, wanted)
    await reminders.record_schedules(world.event_id, [WantedReminder(1, HOUR, START + HOUR)])
    assert await reminders.load_schedules(world.event_id, 1) == {(1, 3600): START + HOUR, (1, 86400): START}
    await reminders.forget_schedules(world.event_id, [(1, 3600), (2, 86400), (9, 60)])
    assert set(await reminders.load_schedules(world.event_id)) == {(1, 86400), (2, 3600)}
    await reminders.record_schedules(world.event_id, [])
    await reminders.forget_schedules(world.event_id, [])
    assert await reminders.count_schedules(world.event_id) == 2
    assert await reminders.load_overdue(START - DAY, 10) == []
    everybody = WantedReminder(EVERYBODY, DAY, START)
    await reminders.record_schedules(world.event_id, [everybody, WantedReminder(EVERYBODY, HOUR, START)])
    assert await reminders.load_overdue(START - DAY + HOUR, 10) == [(world.event_id, everybody)]
    assert await reminders.load_overdue(START, 1) == [(world.event_id, everybody)]
    shared = {(EVERYBODY, 86400): START, (EVERYBODY, 3600): START}
    assert await reminders.load_schedules(world.event_id, 9) == shared
    await reminders.record_schedules(world.event_id, [WantedReminder(EVERYBODY, HOUR, START + HOUR)])
    await reminders.forget_schedules(world.event_id, [(EVERYBODY, 86400)])
    assert await reminders.load_schedules(world.event_id, 9) == {(EVERYBODY, 3600): START + HOUR}


async def test_what_was_too_late_is_told_until_it_is_wanted_again(world: World) -> None:
    reminders, subscription = SqlReminders(world.database), await world.subscriber()
    for _ in range(2):
        await reminders.record_too_late(world.event_id, [TooLate(subscription, DAY)])
    await reminders.record_too_late(world.event_id, [])
    async with world.database.unit_of_work() as work:
        assert (await work.session.scalars(select(TooLateRow.offset_seconds))).all() == [86400]
    await reminders.record_schedules(world.event_id, [WantedReminder(subscription, DAY, START + DAY)])
    async with world.database.unit_of_work() as work:
        assert (await work.session.scalars(select(TooLateRow))).all() == []


async def test_circumstances_are_those_of_this_moment(world: World) -> None:
    reminders, subscription = SqlReminders(world.database), await world.subscriber()
    found = await reminders.load_circumstances(world.event_id, subscription)
    assert (found.status, found.start_date, found.subscription) == (
        EventStatus.ACTIVE,
        START,
        SubscriptionState.ACTIVE,
    )
    assert (await reminders.load_circumstances(world.event_id, subscription + 1)).subscription is None
    assert (await reminders.load_circumstances(world.event_id + 1, subscription)).status is None


async def test_asked_reminders_wait_until_they_are_started(world: World) -> None:
    reminders, subscription = SqlReminders(world.database), await world.subscriber()
    async with world.database.unit_of_work() as work:
        work.session.add_all(
            RequestedReminderRow(subscription_id=subscription, fire_at=START, cancelled_at=cancelled)
            for cancelled in (None, NOW)
        )
    [waiting] = await reminders.load_unstarted_requests()
    assert (waiting.event_id, waiting.subscription_id, waiting.fire_at) == (world.event_id, subscription, START)
    await reminders.mark_request_started(waiting.reminder_id)
    assert await reminders.load_unstarted_requests() == []
    assert not await reminders.is_request_withdrawn(waiting.reminder_id)
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(RequestedReminderRow).values(cancelled_at=NOW))
    assert await reminders.is_request_withdrawn(waiting.reminder_id)
    await reminders.record_request_outcome(waiting.reminder_id, ReminderOutcome.SENT)
    async with world.database.unit_of_work() as work:
        assert (await work.session.get_one(RequestedReminderRow, waiting.reminder_id)).outcome == "sent"


async def test_the_outbox_keeps_its_order_until_signals_are_sent(world: World) -> None:
    box = SqlOutbox(world.database)
    async with world.database.unit_of_work() as work:
        await outbox.add_signal(work.session, 1, ParticipantAdded, subscription_id=5)
        await outbox.add_signal(work.session, 2, EventUpdated, version=2)
        await outbox.add_signal(work.session, 1, EventUpdated, version=3)
        await work.session.execute(update(OutboxRow).values(created_at=NOW - timedelta(days=365)))
    assert await box.load_waiting(10) == [1, 2]
    waiting = await box.claim(1, timedelta(minutes=1), 10)
    assert [signal.kind for signal in waiting] == ["participant_added", "event_updated"]
    assert await box.claim(1, timedelta(minutes=1), 10) == [], "somebody tells it"
    assert await box.load_waiting(10) == [2]
    await box.release([waiting[0].outbox_id])
    await box.mark_sent([waiting[1].outbox_id])
    assert await box.claim(1, timedelta(0), 10) == [waiting[0]]
    assert await box.load_waiting(10) == [1, 2], "a claim that lapsed is nobody's"
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(OutboxRow).where(OutboxRow.event_id == 1).values(told_at=NOW))
    await SqlEvents(world.database).purge_deleted(NOW + HOUR)
    async with world.database.unit_of_work() as work:
        assert (await work.session.scalars(select(OutboxRow.event_id))).all() == [2], "what is untold is kept"


async def test_addresses_that_never_confirmed_or_have_left_are_removed_after_a_while(world: World) -> None:
    events, old, new = SqlEvents(world.database), NOW - timedelta(days=60), NOW
    kept: dict[int, dict[str, datetime | None]] = {
        await world.by_address(): {},
        await world.by_address(SubscriptionState.LEFT): {"changed_at": new},
        await world.by_address(SubscriptionState.PENDING): {"confirm_until": new},
    }
    gone: dict[int, dict[str, datetime | None]] = {
        await world.by_address(SubscriptionState.LEFT): {"changed_at": old},
        await world.by_address(SubscriptionState.PENDING): {"confirm_until": old},
        await world.by_address(SubscriptionState.PENDING): {"confirm_until": None, "created_at": old},
    }
    member = await world.subscriber(state=SubscriptionState.LEFT)
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(ContactRow).values(created_at=old))
        await work.session.execute(update(SubscriptionRow).values(changed_at=old))
        for number, values in (kept | gone).items():
            if values:
                mine = update(SubscriptionRow).where(SubscriptionRow.id == number)
                await work.session.execute(mine.values(values))
    assert await events.purge_strangers(NOW - timedelta(days=7), NOW - timedelta(days=30)) == 3
    async with world.database.unit_of_work() as work:
        left = set(await work.session.scalars(select(SubscriptionRow.id)))
        assert left == {*kept, member}
        assert len((await work.session.scalars(select(ContactRow.id))).all()) == 3


@pytest.mark.parametrize(
    "event",
    [
        {"start_date": NOW - timedelta(days=40), "end_date": NOW - timedelta(days=31)},
        {"start_date": NOW - timedelta(days=31), "end_date": None},
        {"status": EventStatus.COMPLETED, "updated_at": NOW - timedelta(days=31)},
    ],
    ids=["ended", "without an end", "ended by hand"],
)
async def test_addresses_of_events_that_are_long_over_are_removed(world: World, event: dict[str, object]) -> None:
    await world.by_address()
    member = await world.subscriber()
    await _set(world, created_at=NOW - timedelta(days=60), **event)
    assert await SqlEvents(world.database).purge_strangers(NOW - timedelta(days=7), NOW - timedelta(days=30)) == 1
    async with world.database.unit_of_work() as work:
        assert (await work.session.scalars(select(SubscriptionRow.id))).all() == [member], "accounts keep their events"


@pytest.mark.parametrize(
    "event",
    [
        {"start_date": NOW - timedelta(days=40), "end_date": NOW - timedelta(days=29)},
        {"status": EventStatus.COMPLETED, "updated_at": NOW - timedelta(days=29)},
        # Its organiser can still take the cancellation back.
        {"status": EventStatus.CANCELLED, "updated_at": NOW - timedelta(days=31)},
    ],
    ids=["just ended", "just ended by hand", "cancelled long before its time"],
)
async def test_addresses_of_events_that_may_still_matter_are_kept(world: World, event: dict[str, object]) -> None:
    await world.by_address()
    await _set(world, created_at=NOW - timedelta(days=60), **event)
    assert await SqlEvents(world.database).purge_strangers(NOW - timedelta(days=7), NOW - timedelta(days=30)) == 0


async def _set(world: World, *, created_at: datetime, **event: object) -> None:
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(ContactRow).values(created_at=created_at))
        await work.session.execute(update(EventRow).where(EventRow.id == world.event_id).values(**event))
