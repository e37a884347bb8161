"""ReminderWorkflow on a real server: every outcome, one person only, and schedules that clear themselves away."""

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from pressbox.core.errors import RateLimitedError
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState, Level
from pressbox.soonish.contracts import ReminderWorkflowInput, ReminderWorkflowResult
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import ReminderOutcome, SubscriptionState
from pressbox.soonish.ids import adhoc_workflow_id, reminder_schedule_id
from pressbox.soonish.workflows.reminder import ReminderWorkflow
from tests.waiting import until
from tests.workflows.soonish.conftest import Stage

HOUR = 3600


@pytest.fixture
def due(stage: Stage) -> ReminderWorkflowInput:
    """An event that starts in an hour, two subscribers, and the one-hour reminder of the first."""
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    stage.world.events.edit(stage.event_id, start_date=start)
    for person in (2, 3):
        stage.world.events.subscribe(stage.event_id, person)
    stage.world.schedules.exist[(stage.event_id, 2, HOUR)] = start
    stage.world.reminders.noted[stage.event_id] = {(2, HOUR): start}
    return ReminderWorkflowInput(event_id=stage.event_id, subscription_id=2, offset_seconds=HOUR, start_date=start)


async def start(
    stage: Stage, input: ReminderWorkflowInput, name: str = ""
) -> WorkflowHandle[ReminderWorkflow, ReminderWorkflowResult]:
    schedule_id = reminder_schedule_id(input.event_id, input.subscription_id, input.offset_seconds)
    return await stage.client.start_workflow(
        ReminderWorkflow.run, input, id=name or f"{schedule_id}-now", task_queue=stage.queue
    )


async def outcome(stage: Stage, input: ReminderWorkflowInput) -> ReminderOutcome:
    return (await (await start(stage, input)).result()).outcome


async def test_a_reminder_goes_to_one_person_and_to_nobody_else(stage: Stage, due: ReminderWorkflowInput) -> None:
    assert await outcome(stage, due) is ReminderOutcome.SENT
    assert [key for key, _ in stage.world.sender.sent] == ["channel:2"]
    message = stage.world.sender.sent[0][1]
    assert (message.title, message.level) == ("Concert starts in 1 hour", Level.WARNING)
    assert "(Europe/Berlin)" in message.body


async def test_a_schedule_is_gone_after_it_fired(stage: Stage, due: ReminderWorkflowInput) -> None:
    await outcome(stage, due)
    assert stage.world.schedules.exist == {}
    assert stage.world.reminders.noted == {stage.event_id: {}}


async def test_the_same_reminder_twice_is_sent_once(stage: Stage, due: ReminderWorkflowInput) -> None:
    assert await outcome(stage, due) is ReminderOutcome.SENT
    assert await outcome(stage, due) is ReminderOutcome.SENT
    assert len(stage.world.sender.sent) == 1


def cancelled(stage: Stage) -> None:
    stage.world.events.all[stage.event_id].status = EventStatus.CANCELLED


def gone(stage: Stage) -> None:
    del stage.world.events.all[stage.event_id]


def left(stage: Stage) -> None:
    stage.world.events.set_state(stage.event_id, 2, SubscriptionState.LEFT)


def muted(stage: Stage) -> None:
    stage.world.events.set_state(stage.event_id, 2, SubscriptionState.MUTED)


def late(stage: Stage) -> None:
    stage.world.clock.ahead = timedelta(minutes=11)


def started(stage: Stage) -> None:
    stage.world.clock.ahead = timedelta(hours=1, seconds=1)


def without_channel(stage: Stage) -> None:
    stage.world.ledger.without_channel = {2}


def refused(stage: Stage) -> None:
    stage.world.sender.answers(2, AttemptResult.REFUSED)


def silent(stage: Stage) -> None:
    stage.world.sender.answers(2, AttemptResult.UNCONFIRMED)


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        (cancelled, ReminderOutcome.CANCELLED),
        (gone, ReminderOutcome.EVENT_GONE),
        (left, ReminderOutcome.LEFT),
        (muted, ReminderOutcome.MUTED),
        (late, ReminderOutcome.MISSED),
        (started, ReminderOutcome.STARTED),
        (without_channel, ReminderOutcome.NO_TARGETS),
        (refused, ReminderOutcome.FAILED),
        (silent, ReminderOutcome.UNCERTAIN),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_each_circumstance_has_its_outcome(stage: Stage, due: ReminderWorkflowInput, happens, expected) -> None:  # type: ignore[no-untyped-def]
    happens(stage)
    assert await outcome(stage, due) is expected
    tried = expected in (ReminderOutcome.FAILED, ReminderOutcome.UNCERTAIN)
    assert bool(stage.world.sender.sent) is tried
    assert stage.world.schedules.exist == {}


async def test_a_missed_reminder_is_recorded_as_missed(stage: Stage, due: ReminderWorkflowInput) -> None:
    late(stage)
    await outcome(stage, due)
    (missed,) = [item for item in stage.world.ledger.deliveries.values() if item.subscription_id == 2]
    assert (missed.state, missed.reason) == (DeliveryState.SKIPPED, ReminderOutcome.MISSED)


async def test_a_moved_event_keeps_its_schedule_for_the_new_start(stage: Stage, due: ReminderWorkflowInput) -> None:
    later = due.start_date + timedelta(hours=2)
    stage.world.events.edit(stage.event_id, start_date=later)
    stage.world.schedules.exist[(stage.event_id, 2, HOUR)] = later
    assert await outcome(stage, due) is ReminderOutcome.MOVED
    assert stage.world.schedules.exist == {(stage.event_id, 2, HOUR): later}
    assert stage.world.sender.sent == []


async def test_a_move_that_crosses_the_deletion_loses_no_reminder(stage: Stage, due: ReminderWorkflowInput) -> None:
    later = due.start_date + timedelta(hours=2)

    async def move() -> None:
        """The event moves, and its schedule with it, between our look and our deletion."""
        stage.world.schedules.before_delete = None
        stage.world.events.edit(stage.event_id, start_date=later)
        stage.world.schedules.exist[(stage.event_id, 2, HOUR)] = later

    stage.world.schedules.before_delete = move
    assert await outcome(stage, due) is ReminderOutcome.SENT
    assert stage.world.schedules.exist == {(stage.event_id, 2, HOUR): later}
    assert stage.world.reminders.noted[stage.event_id] == {(2, HOUR): later}


async def test_a_channel_in_trouble_is_tried_three_times(stage: Stage, due: ReminderWorkflowInput) -> None:
    stage.world.sender.answers(2, *[AttemptResult.UNAVAILABLE] * 5)
    assert await outcome(stage, due) is ReminderOutcome.FAILED
    assert len(stage.world.sender.sent) == 3
    number = stage.world.ledger.find(stage.event_id, Cause.REMINDER)
    assert number is not None
    assert [item.state for item in stage.world.ledger.of(number)] == [DeliveryState.FAILED]


async def test_muting_between_two_tries_ends_the_reminder(stage: Stage, due: ReminderWorkflowInput) -> None:
    stage.world.sender.answers(2, AttemptResult.UNAVAILABLE)
    handle = await start(stage, due)
    await until(lambda: stage.world.sender.sent)
    muted(stage)
    assert (await handle.result()).outcome is ReminderOutcome.MUTED
    (delivery,) = [item for item in stage.world.ledger.deliveries.values() if item.subscription_id == 2]
    assert (delivery.state, delivery.reason) == (DeliveryState.SKIPPED, ReminderOutcome.MUTED)


async def test_a_mail_server_that_asks_for_minutes_gets_them_and_the_text_stays_true(
    stage: Stage, due: ReminderWorkflowInput
) -> None:
    stage.world.sender.answers(2, AttemptResult.UNAVAILABLE, retry_after=timedelta(minutes=20))
    handle = await start(stage, due)
    # Until the answer is recorded, by the clock of now.
    await until(lambda: [one for one in stage.world.ledger.deliveries.values() if one.next_try_at])
    # The second try is that of a later round of attempts, long after the catch-up window.
    stage.world.clock.ahead = timedelta(minutes=30)
    await stage.world.reminder_dispatcher.send(due)
    assert stage.world.sender.to(2) == ["Concert starts in 1 hour", "Concert starts in 30 minutes"]
    await handle.terminate()


async def test_a_later_round_closes_a_reminder_that_is_no_longer_due(stage: Stage, due: ReminderWorkflowInput) -> None:
    stage.world.sender.answers(2, AttemptResult.UNAVAILABLE, retry_after=timedelta(minutes=20))
    with pytest.raises(RateLimitedError):
        await stage.world.reminder_dispatcher.send(due)
    left(stage)
    assert await stage.world.reminder_dispatcher.send(due) is ReminderOutcome.LEFT
    number = stage.world.ledger.find(stage.event_id, Cause.REMINDER)
    assert number is not None
    assert stage.world.ledger.messages[number].finished


def asked(due: ReminderWorkflowInput, after: timedelta) -> ReminderWorkflowInput:
    fire_at = datetime.now(UTC) + after
    return due.model_copy(update={"offset_seconds": 0, "start_date": fire_at, "reminder_id": 7, "fire_at": fire_at})


async def test_an_asked_reminder_comes_at_its_moment_wherever_the_start_is(
    stage: Stage, due: ReminderWorkflowInput
) -> None:
    input = asked(due, timedelta(seconds=1))
    handle = await start(stage, input, adhoc_workflow_id(2, stage.event_id))
    stage.world.events.edit(stage.event_id, start_date=due.start_date + timedelta(days=3))
    assert (await handle.result()).outcome is ReminderOutcome.SENT
    assert stage.world.sender.to(2) == ["Reminder: Concert"]
    assert stage.world.reminders.outcomes == {7: ReminderOutcome.SENT}
    assert datetime.now(UTC) >= (input.fire_at or datetime.max.replace(tzinfo=UTC))
    assert stage.world.schedules.calls == [], "it has no schedule"


async def test_a_cancelled_asked_reminder_sends_nothing(stage: Stage, due: ReminderWorkflowInput) -> None:
    handle = await start(stage, asked(due, timedelta(hours=1)), adhoc_workflow_id(2, stage.event_id))
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert stage.world.sender.sent == []


async def test_an_asked_reminder_for_a_cancelled_event_sends_nothing(stage: Stage, due: ReminderWorkflowInput) -> None:
    cancelled(stage)
    handle = await start(stage, asked(due, timedelta(0)), adhoc_workflow_id(2, stage.event_id))
    assert (await handle.result()).outcome is ReminderOutcome.CANCELLED


async def test_an_asked_reminder_that_nobody_wants_any_more_sends_nothing(
    stage: Stage, due: ReminderWorkflowInput
) -> None:
    """Withdrawn while Temporal was away, so that its workflow could not be cancelled."""
    stage.world.reminders.withdrawn = {7}
    handle = await start(stage, asked(due, timedelta(0)), adhoc_workflow_id(2, stage.event_id))
    assert (await handle.result()).outcome is ReminderOutcome.WITHDRAWN
    assert stage.world.sender.sent == []
