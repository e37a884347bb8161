"""Reminder schedules on a real Temporal server."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow, ScheduleDescription, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.soonish.adapters.reminder_schedules import TemporalReminderSchedules
from pressbox.soonish.adapters.workflows import TemporalWorkflows
from pressbox.soonish.contracts import ReminderWorkflowInput, ScheduleInput, SoonishPolicy
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.domain.reminders import CATCH_UP_WINDOW, EVERYBODY, WantedReminder
from pressbox.soonish.ids import reminder_schedule_id
from pressbox.soonish.workflows.reminder import ReminderWorkflow
from tests.fakes.soonish import FakeWorld
from tests.waiting import look_until, until

START = datetime(2031, 3, 30, 1, 30, 5, tzinfo=UTC)
REMINDER = WantedReminder(2, timedelta(hours=1), START)


@pytest.fixture
def event_id() -> int:
    return secrets.randbelow(10**12)


@pytest.fixture
def queue() -> str:
    return f"test-{secrets.token_hex(4)}"


@pytest.fixture
def schedules(temporal: Client, queue: str) -> TemporalReminderSchedules:
    return TemporalReminderSchedules(temporal, queue, SoonishPolicy())


async def describe(client: Client, event_id: int, reminder: WantedReminder = REMINDER) -> ScheduleDescription | None:
    try:
        return await client.get_schedule_handle(reminder_schedule_id(event_id, *reminder.key)).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise


async def planned(client: Client, description: ScheduleDescription) -> ReminderWorkflowInput:
    action = description.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    arguments = await client.data_converter.decode(action.args, [ReminderWorkflowInput])
    found: ReminderWorkflowInput = arguments[0]
    return found


async def test_a_schedule_acts_once_at_its_moment_in_utc(
    temporal: Client, schedules: TemporalReminderSchedules, event_id: int
) -> None:
    await schedules.create(event_id, REMINDER)
    found = await describe(temporal, event_id)
    assert found is not None
    assert list(found.info.next_action_times) == [START - timedelta(hours=1)]
    assert found.schedule.policy.catchup_window == CATCH_UP_WINDOW
    state = found.schedule.state
    assert (state.limited_actions, state.remaining_actions) == (True, 1)
    assert isinstance(found.schedule.action, ScheduleActionStartWorkflow)
    assert found.schedule.action.id == reminder_schedule_id(event_id, 2, 3600)
    assert (await planned(temporal, found)).start_date == START


async def test_moving_changes_the_one_in_place(
    temporal: Client, schedules: TemporalReminderSchedules, event_id: int
) -> None:
    await schedules.create(event_id, REMINDER)
    moved = WantedReminder(2, timedelta(hours=1), START + timedelta(days=3))
    await schedules.move(event_id, moved)
    found = await describe(temporal, event_id)
    assert found is not None
    assert list(found.info.next_action_times) == [moved.fire_at]
    assert (await planned(temporal, found)).start_date == moved.start_date


async def test_creating_what_exists_moves_it_and_moving_what_is_gone_creates_it(
    temporal: Client, schedules: TemporalReminderSchedules, event_id: int
) -> None:
    moved = WantedReminder(2, timedelta(hours=1), START + timedelta(days=3))
    await schedules.create(event_id, REMINDER)
    await schedules.create(event_id, moved)
    found = await describe(temporal, event_id)
    assert found is not None
    assert list(found.info.next_action_times) == [moved.fire_at]
    await schedules.delete(event_id, *REMINDER.key)
    assert await describe(temporal, event_id) is None
    await schedules.move(event_id, REMINDER)
    assert await describe(temporal, event_id) is not None


async def test_deleting_what_is_gone_is_fine(schedules: TemporalReminderSchedules, event_id: int) -> None:
    await schedules.delete(event_id, 2, 3600)
    await schedules.create(event_id, REMINDER)
    await schedules.delete(event_id, 2, 3600)
    await schedules.delete(event_id, 2, 3600)


@pytest.fixture
async def world(temporal: Client, schedules: TemporalReminderSchedules, queue: str) -> AsyncIterator[FakeWorld]:
    """A worker that sends reminders on fakes, but with the real schedules."""
    world = FakeWorld()
    world.schedule_activities._schedules = schedules
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[ReminderWorkflow],
        activities=world.activities,
        interceptors=[ErrorInterceptor()],
    ):
        yield world


def soon(world: FakeWorld, event_id: int, fire_in: timedelta) -> WantedReminder:
    start = (datetime.now(UTC) + fire_in + timedelta(minutes=1)).replace(microsecond=0)
    world.events.create(event_id, EventFacts("Concert", start, "Europe/Berlin"), announced=False)
    world.events.subscribe(event_id, 2, [timedelta(minutes=1)])
    return WantedReminder(2, timedelta(minutes=1), start)


async def listed(client: Client, query: str) -> list[WorkflowExecution]:
    """What Temporal's list shows of it now: a run is there some time after it began."""
    return [found async for found in client.list_workflows(query)]


async def until_gone(client: Client, event_id: int, reminder: WantedReminder) -> None:
    await look_until(
        lambda: describe(client, event_id, reminder), lambda found: found is None, "the end of the schedule"
    )


async def test_a_reminder_fires_at_its_moment_and_its_schedule_is_gone(
    temporal: Client, schedules: TemporalReminderSchedules, world: FakeWorld, event_id: int
) -> None:
    reminder = soon(world, event_id, timedelta(seconds=10))
    await schedules.create(event_id, reminder)
    await until_gone(temporal, event_id, reminder)
    assert datetime.now(UTC) >= reminder.fire_at
    assert world.sender.to(2) == ["Concert starts in 1 minute"]


async def test_a_moment_that_comes_while_the_schedule_is_made_is_not_lost(
    temporal: Client, schedules: TemporalReminderSchedules, world: FakeWorld, event_id: int
) -> None:
    reminder = soon(world, event_id, timedelta(seconds=0))
    await schedules.create(event_id, reminder)
    await until_gone(temporal, event_id, reminder)
    assert world.sender.to(2) == ["Concert starts in 1 minute"]


async def test_a_move_to_a_moment_that_is_now_fires_at_once(
    temporal: Client, schedules: TemporalReminderSchedules, world: FakeWorld, event_id: int
) -> None:
    reminder = soon(world, event_id, timedelta(seconds=0))
    await schedules.create(event_id, WantedReminder(2, reminder.offset, START))
    await schedules.move(event_id, reminder)
    await until_gone(temporal, event_id, reminder)
    assert world.sender.to(2) == ["Concert starts in 1 minute"]


async def test_everybody_who_chose_one_offset_is_reminded_by_one_schedule(
    temporal: Client, schedules: TemporalReminderSchedules, world: FakeWorld, event_id: int
) -> None:
    """A large event: one schedule, one workflow, few events in its history however many people there are."""
    one = soon(world, event_id, timedelta(seconds=10))
    for person in range(3, 403):
        world.events.subscribe(event_id, person, [timedelta(minutes=1)])
    await ActivityEnvironment().run(
        world.schedule_activities.create_reminder_schedules, ScheduleInput(event_id=event_id)
    )
    everybody = WantedReminder(EVERYBODY, one.offset, one.start_date)
    assert world.reminders.noted[event_id] == {everybody.key: one.start_date}
    await until_gone(temporal, event_id, everybody)
    assert Counter(key for key, _ in world.sender.sent) == {f"channel:{person}": 1 for person in range(2, 403)}
    assert {message.title for _, message in world.sender.sent} == {"Concert starts in 1 minute"}
    [run] = await look_until(lambda: listed(temporal, f"WorkflowId STARTS_WITH 'event-{event_id}-'"))
    history = await temporal.get_workflow_handle(run.id).fetch_history()
    assert len(history.events) <= 0.2 * 401


async def test_an_overdue_reminder_is_sent_to_whoever_has_not_got_it(
    temporal: Client, world: FakeWorld, queue: str, event_id: int
) -> None:
    reminder = soon(world, event_id, timedelta(seconds=0))
    world.events.subscribe(event_id, 3, [timedelta(minutes=1)])
    await ActivityEnvironment().run(
        world.deliveries.send_reminder_notification,
        ReminderWorkflowInput(event_id=event_id, subscription_id=2, offset_seconds=60, start_date=reminder.start_date),
    )
    await world.reminders.record_schedules(event_id, [reminder, WantedReminder(3, *_of(reminder))])
    workflows = TemporalWorkflows(temporal, queue, SoonishPolicy())
    late = WantedReminder(EVERYBODY, *_of(reminder))
    await asyncio.gather(*(workflows.start_late_reminder(event_id, late) for _ in range(3)))
    await until(lambda: not world.reminders.noted[event_id], "its end")
    assert sorted(key for key, _ in world.sender.sent) == ["channel:2", "channel:3"]


def _of(reminder: WantedReminder) -> tuple[timedelta, datetime]:
    return reminder.offset, reminder.start_date
