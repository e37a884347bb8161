"""Soonish's activities alone, in Temporal's activity environment, on fakes."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import TransientError
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState
from pressbox.delivery.ports import Claim
from pressbox.soonish.contracts import (
    EventCancelled,
    EventReference,
    ManualNotificationSent,
    NotificationReference,
    ParticipantAdded,
    ParticipantChanged,
    ReminderWorkflowInput,
    ScheduleInput,
    SendNotificationInput,
    SendReminderPageInput,
    SoonishPolicy,
    SweepInput,
    SweepStep,
)
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventFacts, EventStatus
from pressbox.soonish.domain.reminders import EVERYBODY, ReminderOutcome, WantedReminder
from pressbox.soonish.reminder_ports import RequestedReminder
from tests.fakes.soonish import FakeWorld
from tests.waiting import until

EVENT = 5
HOUR, DAY = 3600, 86_400
START = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)
SWEEP = SweepInput(policy=SoonishPolicy())


def from_now(moment: datetime) -> timedelta:
    """From now, whenever that is: a long run may reach a test many minutes after its module was loaded."""
    return moment - datetime.now(UTC)


@pytest.fixture
def world() -> FakeWorld:
    world = FakeWorld()
    world.events.create(EVENT, EventFacts("Concert", START, "Europe/Berlin"))
    for person in (2, 3):
        world.events.subscribe(EVENT, person)
    return world


@pytest.fixture
def environment() -> ActivityEnvironment:
    return ActivityEnvironment()


async def test_only_the_difference_is_called(world: FakeWorld, environment: ActivityEnvironment) -> None:
    reconcile = world.schedule_activities.create_reminder_schedules
    first = await environment.run(reconcile, ScheduleInput(event_id=EVENT))
    assert (first.created, first.moved, first.deleted) == (4, 0, 0)
    again = await environment.run(reconcile, ScheduleInput(event_id=EVENT))
    assert (again.created, again.moved, again.deleted) == (0, 0, 0)
    assert len(world.schedules.calls) == 4
    world.events.edit(EVENT, start_date=START + timedelta(hours=1))
    moved = await environment.run(reconcile, ScheduleInput(event_id=EVENT))
    assert (moved.created, moved.moved, moved.deleted) == (0, 4, 0)


async def test_an_offset_that_has_passed_is_reported(world: FakeWorld, environment: ActivityEnvironment) -> None:
    world.events.edit(EVENT, start_date=datetime.now(UTC) + timedelta(hours=2))
    change = await environment.run(
        world.schedule_activities.create_reminder_schedules_for_subscription,
        ScheduleInput(event_id=EVENT, subscription_id=2),
    )
    assert (change.created, change.too_late) == (1, ("too late for 1 day",))
    assert [item.subscription_id for item in world.reminders.too_late] == [2]


async def test_a_moment_that_passed_while_the_change_was_on_its_way_is_still_planned(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    world.events.edit(EVENT, start_date=datetime.now(UTC) + timedelta(minutes=59, seconds=30))
    change = await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    assert (change.created, change.too_late) == (2, ("too late for 1 day",))


async def test_what_worked_before_a_failure_is_noted(world: FakeWorld, environment: ActivityEnvironment) -> None:
    good = world.schedules.create

    async def sometimes(event_id: int, reminder: WantedReminder) -> None:
        if reminder.subscription_id == 3:
            raise TransientError("Temporal does not answer.")
        await good(event_id, reminder)

    world.schedules.create = sometimes  # type: ignore[method-assign]
    with pytest.raises(TransientError):
        await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    assert set(world.reminders.noted[EVENT]) == {(2, HOUR), (2, DAY)}


async def test_deleting_takes_all_of_one_person_or_of_the_event(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    delete = world.schedule_activities.delete_reminder_schedules
    assert (await environment.run(delete, ScheduleInput(event_id=EVENT, subscription_id=2))).deleted == 2
    assert {key[1] for key in world.schedules.exist} == {3}
    assert (await environment.run(delete, ScheduleInput(event_id=EVENT))).deleted == 2
    assert (world.schedules.exist, world.reminders.noted) == ({}, {EVENT: {}})


async def test_an_event_says_whether_it_exists_and_which_message_created_it(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    found = await environment.run(world.event_activities.validate_event_exists, EventReference(event_id=EVENT))
    assert (found.exists, found.created_notification_id) == (True, 1)
    missing = await environment.run(world.event_activities.validate_event_exists, EventReference(event_id=99))
    assert (missing.exists, missing.created_notification_id) == (False, None)


async def test_stopping_a_batch_lets_nothing_more_leave_and_records_what_had_left(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    number = world.ledger.write(EVENT, Cause.ANNOUNCEMENT, "a", range(10, 210))
    world.sender.seconds = 0.05
    input = SendNotificationInput(notification_id=number, limit=200, concurrency=4)
    running = asyncio.create_task(environment.run(world.deliveries.send_notification, input))
    await until(lambda: len(world.sender.sent) >= 8)
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    states = [item.state for item in world.ledger.of(number)]
    assert states.count(DeliveryState.SENT) == len(world.sender.sent) < 50
    assert not any(item.trying for item in world.ledger.of(number)), "no result was thrown away"


async def test_targets_without_a_turn_hold_up_nobody_and_stay_untried(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    number = world.ledger.write(EVENT, Cause.ANNOUNCEMENT, "a", range(10, 210))
    world.sender.stuck = {f"channel:{person}" for person in range(10, 110)}
    input = SendNotificationInput(notification_id=number, limit=200, concurrency=4)
    running = asyncio.create_task(environment.run(world.deliveries.send_notification, input))
    await until(lambda: len(world.sender.sent) == 100)
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    untried = [item for item in world.ledger.of(number) if item.state is DeliveryState.PENDING]
    assert {item.channel_key for item in untried} == world.sender.stuck
    assert not any(item.tries or item.trying for item in untried), "nothing of them was begun"


async def test_a_second_try_that_is_due_does_not_wait_for_a_target_that_hangs(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    number = world.ledger.write(EVENT, Cause.ANNOUNCEMENT, "a", [2, 3])
    world.sender.stuck = {"channel:2"}
    world.sender.answers(3, AttemptResult.UNAVAILABLE, AttemptResult.ACCEPTED)
    input = SendNotificationInput(notification_id=number)
    running = asyncio.create_task(environment.run(world.deliveries.send_notification, input))
    await until(lambda: len(world.sender.to(3)) == 2, "the second try")
    environment.cancel()
    await asyncio.wait([running])
    hanging, other = world.ledger.of(number)
    assert (hanging.state, hanging.tries) == (DeliveryState.PENDING, 0)
    assert (other.state, other.tries) == (DeliveryState.SENT, 2)


async def test_targets_whose_turn_is_far_away_go_back_with_a_time_and_without_a_try(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    number = world.ledger.write(EVENT, Cause.ANNOUNCEMENT, "a", range(10, 510))
    world.sender.busy = {f"channel:{person}": timedelta(minutes=2) for person in range(10, 260)}
    input = SendNotificationInput(notification_id=number, limit=500, concurrency=4)
    result = await environment.run(world.deliveries.send_notification, input)
    assert (result.counts.sent, result.counts.pending) == (250, 250)
    assert result.next_try_at is not None
    assert timedelta(minutes=1) < from_now(result.next_try_at) <= timedelta(minutes=2), "nobody looks before"
    waiting = [item for item in world.ledger.of(number) if item.state is DeliveryState.PENDING]
    assert {item.channel_key for item in waiting} == world.sender.busy.keys()
    assert not any(item.tries or item.trying for item in waiting)
    world.sender.busy.clear()
    world.clock.ahead = timedelta(minutes=3)
    again = SendNotificationInput(notification_id=number, concurrency=4, retries_only=True)
    assert (await environment.run(world.deliveries.send_notification, again)).counts.sent == 500


async def test_a_try_that_was_cut_off_is_repeated_and_marked(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    number = world.ledger.write(EVENT, Cause.ANNOUNCEMENT, "a", [2, 3])
    await world.ledger.open_batch(number, 0, 10)
    cut_off = world.ledger.of(number)[0]
    dead = Claim("a worker that died", timedelta(seconds=-1))
    await world.ledger.claim_due(number, dead, 1, opens=False)
    await world.ledger.note_tries([cut_off.delivery_id], dead)
    result = await environment.run(world.deliveries.send_notification, SendNotificationInput(notification_id=number))
    assert result.counts.sent == 2
    assert [item.maybe_twice for item in world.ledger.of(number)] == [True, False]


async def test_the_sweep_tells_what_nobody_told_in_order(world: FakeWorld, environment: ActivityEnvironment) -> None:
    messages = [ParticipantAdded(outbox_id=number, subscription_id=number) for number in (1, 2, 3)]
    world.outbox.rows = [(EVENT, messages[0]), (6, messages[1]), (EVENT, messages[2])]
    world.outbox.sent_ids = [1]
    assert (await environment.run(world.sweeps.sweep_outbox, SWEEP)).told == 2
    assert world.workflows.signalled == [(6, messages[1]), (EVENT, messages[2])]
    assert (await environment.run(world.sweeps.sweep_outbox, SWEEP)).told == 0


async def test_an_event_that_takes_no_signals_holds_up_no_other(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    messages = [ParticipantAdded(outbox_id=number, subscription_id=number) for number in (1, 2, 3)]
    world.outbox.rows = [(EVENT, messages[0]), (6, messages[1]), (7, messages[2])]
    world.workflows.full = {EVENT}
    assert (await environment.run(world.sweeps.sweep_outbox, SWEEP)).told == 2
    assert world.workflows.signalled == [(6, messages[1]), (7, messages[2])]


async def test_many_sign_ups_are_told_as_one_and_after_what_people_must_hear(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    sign_ups = [ParticipantAdded(outbox_id=number, subscription_id=number) for number in range(1, 101)]
    cancelled = EventCancelled(outbox_id=101, notification_id=1)
    world.outbox.rows = [*((EVENT, row) for row in sign_ups), (EVENT, cancelled)]
    assert (await environment.run(world.sweeps.sweep_outbox, SWEEP)).told == 101
    everybody = ParticipantChanged(outbox_id=100, subscription_id=EVERYBODY)
    assert world.workflows.signalled == [(EVENT, cancelled), (EVENT, everybody)]


async def test_the_failed_workflow_of_a_live_event_is_started_again_and_told_what_it_lost(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    lost = ManualNotificationSent(outbox_id=1, notification_id=1)
    world.outbox.rows, world.outbox.sent_ids = [(EVENT, lost)], [1]
    world.workflows.failed = [EVENT, 99]
    await environment.run(world.sweeps.sweep_outbox, SWEEP)
    assert (world.workflows.restarted, world.workflows.signalled) == ([EVENT], [(EVENT, lost)])


async def test_a_sweep_does_only_what_is_due(world: FakeWorld, environment: ActivityEnvironment) -> None:
    now = datetime.now(UTC)
    world.clock.ahead = now.replace(minute=30, second=0) - now
    assert (await environment.run(world.sweeps.find_due_work, SWEEP)).steps == ()
    world.due_work.steps = {SweepStep.REMINDERS}
    assert (await environment.run(world.sweeps.find_due_work, SWEEP)).steps == (SweepStep.REMINDERS,)
    world.workflows.failed = [99]
    assert (await environment.run(world.sweeps.find_due_work, SWEEP)).steps == (SweepStep.REMINDERS,), "it is over"
    world.workflows.failed = [EVENT]
    found = (await environment.run(world.sweeps.find_due_work, SWEEP)).steps
    assert set(found) == {SweepStep.REMINDERS, SweepStep.OUTBOX}, "its people wait"
    world.workflows.failed = []
    world.clock.ahead = now.replace(minute=5) - now
    found = (await environment.run(world.sweeps.find_due_work, SWEEP)).steps
    assert set(found) == {SweepStep.REMINDERS, SweepStep.PURGE}, "once an hour"


async def test_the_sweep_starts_asked_reminders_once(world: FakeWorld, environment: ActivityEnvironment) -> None:
    world.reminders.requests = {7: RequestedReminder(EVENT, 2, 7, START)}
    assert (await environment.run(world.sweeps.sweep_asked_reminders, SWEEP)).started == 1
    assert (await environment.run(world.sweeps.sweep_asked_reminders, SWEEP)).started == 0
    assert world.workflows.started == [7]


async def send_late(world: FakeWorld, environment: ActivityEnvironment) -> list[ReminderOutcome | None]:
    """What the sweep finds, and what the workflows that it starts do."""
    await environment.run(world.sweeps.sweep_reminders, SWEEP)
    outcomes = []
    for event_id, reminder in world.workflows.late:
        subscription_id, seconds = reminder.key
        input = ReminderWorkflowInput(
            event_id=event_id, subscription_id=subscription_id, offset_seconds=seconds, start_date=reminder.start_date
        )
        accepted = await environment.run(world.deliveries.accept_shared_reminder, input)
        outcomes.append(accepted.outcome)
        if accepted.notification_id is not None:
            page = SendReminderPageInput(
                reminder=input, notification_id=accepted.notification_id, limit=10, concurrency=4
            )
            await environment.run(world.deliveries.send_reminder_page, page)
            reference = NotificationReference(notification_id=accepted.notification_id)
            await environment.run(world.deliveries.finish_notification, reference)
        await environment.run(world.schedule_activities.remove_fired_schedule, input)
    return outcomes


async def test_overdue_reminders_are_sent_together_within_the_catch_up_window(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    world.clock.ahead = from_now(START - timedelta(days=1) + timedelta(minutes=5))
    await send_late(world, environment)
    assert len(world.workflows.late) == 1, "one for both of them"
    assert sorted(key for key, _ in world.sender.sent) == ["channel:2", "channel:3"]
    assert {key[2] for key in world.schedules.exist} == {HOUR}
    own = ReminderWorkflowInput(event_id=EVENT, subscription_id=2, offset_seconds=DAY, start_date=START)
    result = await environment.run(world.deliveries.send_reminder_notification, own)
    assert result.outcome is ReminderOutcome.SHARED, "its own schedule comes later still"
    assert len(world.sender.sent) == 2


async def test_a_schedule_that_missed_its_window_is_recorded_and_removed(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    world.clock.ahead = from_now(START - timedelta(days=1) + timedelta(minutes=11))
    assert await send_late(world, environment) == [ReminderOutcome.MISSED]
    assert {key[2] for key in world.schedules.exist} == {HOUR}
    missed = [item for item in world.ledger.deliveries.values() if item.subscription_id in (2, 3)]
    assert [(item.state, item.reason) for item in missed] == [(DeliveryState.SKIPPED, ReminderOutcome.MISSED)] * 2
    assert world.sender.sent == []


async def test_an_overdue_schedule_of_a_cancelled_event_is_removed_without_a_word(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    world.events.all[EVENT].status = EventStatus.CANCELLED
    world.clock.ahead = timedelta(days=3)
    assert await send_late(world, environment) == [ReminderOutcome.CANCELLED] * 2
    assert world.schedules.exist == {}
    assert [item for item in world.ledger.deliveries.values() if item.subscription_id != 1] == []


async def test_a_late_schedule_that_moves_while_the_sweep_looks_is_not_lost(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    world.clock.ahead = from_now(START - timedelta(days=1) + timedelta(minutes=11))
    later = START + timedelta(days=5)

    async def move() -> None:
        """The event moves, and its schedules with it, between the look of the sweep and its deletion."""
        world.schedules.before_delete = None
        world.events.edit(EVENT, start_date=later)
        await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))

    world.schedules.before_delete = move
    await send_late(world, environment)
    assert set(world.schedules.exist.values()) == {later}
    assert len(world.schedules.exist) == 4
    assert set(world.reminders.noted[EVENT].values()) == {later}


async def test_an_event_that_grows_large_shares_its_schedules(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    """One schedule for each offset; those of single people go after the shared ones are there."""
    plan_one = world.schedule_activities.create_reminder_schedules_for_subscription
    world.schedule_activities._most_own = 4
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    assert len(world.schedules.exist) == 4
    world.events.subscribe(EVENT, 4, [timedelta(hours=1), timedelta(hours=2)])
    world.schedules.calls.clear()
    await environment.run(plan_one, ScheduleInput(event_id=EVENT, subscription_id=4))
    shared = {(EVENT, EVERYBODY, seconds) for seconds in (HOUR, 2 * HOUR, DAY)}
    assert set(world.schedules.exist) == shared
    kinds = [call[0] for call in world.schedules.calls]
    assert kinds == ["create"] * 3 + ["delete"] * 4, "at no time has anybody none"
    world.schedules.calls.clear()
    world.events.subscribe(EVENT, 5)
    await environment.run(plan_one, ScheduleInput(event_id=EVENT, subscription_id=5))
    assert world.schedules.calls == [], "whoever joins now shares what is there"
    delete = world.schedule_activities.delete_reminder_schedules
    await environment.run(delete, ScheduleInput(event_id=EVENT, subscription_id=4))
    assert set(world.schedules.exist) == shared, "others want them too"
    world.events.edit(EVENT, start_date=START + timedelta(hours=3))
    await environment.run(world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=EVENT))
    assert [call[0] for call in world.schedules.calls] == ["move"] * 3
    await environment.run(delete, ScheduleInput(event_id=EVENT))
    assert world.schedules.exist == {}


async def test_a_reminder_to_everybody_that_takes_long_skips_nobody_but_stops_when_the_event_moves(
    world: FakeWorld, environment: ActivityEnvironment
) -> None:
    input = ReminderWorkflowInput(event_id=EVENT, subscription_id=EVERYBODY, offset_seconds=HOUR, start_date=START)
    world.clock.ahead = from_now(START - timedelta(hours=1))
    accepted = await environment.run(world.deliveries.accept_shared_reminder, input)
    assert accepted.notification_id is not None
    page = SendReminderPageInput(reminder=input, notification_id=accepted.notification_id, limit=1, concurrency=1)
    world.sender.busy = {"channel:2": timedelta(minutes=1), "channel:3": timedelta(minutes=1)}
    await environment.run(world.deliveries.send_reminder_page, page)
    world.clock.ahead = from_now(START + timedelta(minutes=2))
    world.sender.busy = {"channel:3": timedelta(minutes=1)}
    await environment.run(world.deliveries.send_reminder_page, page)
    assert [key for key, _ in world.sender.sent] == ["channel:2"], "begun in time, so sent after the start too"
    world.events.edit(EVENT, start_date=START + timedelta(days=1))
    await environment.run(world.deliveries.send_reminder_page, page)
    [rest] = [item for item in world.ledger.of(accepted.notification_id) if item.subscription_id == 3]
    assert (rest.state, rest.reason) == (DeliveryState.SKIPPED, ReminderOutcome.MOVED)
