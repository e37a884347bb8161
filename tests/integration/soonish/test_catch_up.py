"""Reminders that come due while Temporal is down: sent when it is back in time, missed and recorded when it is not."""

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from pressbox.core.config import TemporalSettings
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.embedded.home import Home
from pressbox.embedded.temporal_server import EmbeddedTemporal
from pressbox.soonish.adapters.reminder_schedules import TOO_SOON, TemporalReminderSchedules
from pressbox.soonish.adapters.workflows import TemporalWorkflows
from pressbox.soonish.contracts import SoonishPolicy, SweepInput, SweepResult
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.domain.reminders import WantedReminder
from pressbox.soonish.ids import reminder_schedule_id
from pressbox.soonish.workflows.reminder import ReminderWorkflow
from tests.fakes.soonish import FakeWorld
from tests.patience import patience
from tests.waiting import look_until, until

pytestmark = pytest.mark.slow

EVENT, QUEUE = 1, "soonish"


@pytest.fixture
def server(reachable_folder: Path) -> Iterator[EmbeddedTemporal]:
    """One of our own, since it is killed."""
    home = Home(reachable_folder / f"catch-up-{secrets.token_hex(4)}")
    home.create()
    server = EmbeddedTemporal(home)
    server.start()
    yield server
    server.stop()


@asynccontextmanager
async def reminding(server: EmbeddedTemporal, world: FakeWorld) -> AsyncIterator[None]:
    client = await connect(TemporalSettings(), server.address, lazy=False)
    world.schedule_activities._schedules = TemporalReminderSchedules(client, QUEUE, SoonishPolicy())
    async with Worker(
        client,
        task_queue=QUEUE,
        workflows=[ReminderWorkflow],
        activities=world.activities,
        interceptors=[ErrorInterceptor()],
    ):
        yield


async def due_while_down(server: EmbeddedTemporal, world: FakeWorld) -> WantedReminder:
    """Make a schedule, and kill the server before its moment; it is back a moment later."""
    start = (datetime.now(UTC) + TOO_SOON + timedelta(seconds=60 + patience(3))).replace(microsecond=0)
    world.events.create(EVENT, EventFacts("Concert", start, "Europe/Berlin"), announced=False)
    world.events.subscribe(EVENT, 2, [timedelta(minutes=1)])
    reminder = WantedReminder(2, timedelta(minutes=1), start)
    client = await connect(TemporalSettings(), server.address, lazy=False)
    await TemporalReminderSchedules(client, QUEUE, SoonishPolicy()).create(EVENT, reminder)
    await world.reminders.record_schedules(EVENT, [reminder])
    # A schedule that has not taken its first look when it is killed looks only forward later: that is the sweep's case.
    schedule_id = reminder_schedule_id(EVENT, reminder.subscription_id, int(reminder.offset.total_seconds()))
    schedule = client.get_workflow_handle(f"temporal-sys-scheduler:{schedule_id}")
    await look_until(schedule.fetch_history, has_looked, "the first look of the schedule")
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    await asyncio.sleep((reminder.fire_at - datetime.now(UTC)).total_seconds() + 1)
    assert not world.sender.sent
    await asyncio.to_thread(server.start)
    return reminder


def has_looked(history: WorkflowHistory) -> bool:
    return any(event.HasField("timer_started_event_attributes") for event in history.events)


async def until_cleared(world: FakeWorld) -> None:
    await until(lambda: not world.reminders.noted[EVENT], "the end of the reminder")


async def test_a_reminder_that_came_due_while_temporal_was_down_is_sent_once_it_is_back(
    server: EmbeddedTemporal,
) -> None:
    world = FakeWorld()
    await due_while_down(server, world)
    async with reminding(server, world):
        await until_cleared(world)
    assert world.sender.to(2) == ["Concert starts in 1 minute"]


@pytest.mark.parametrize(
    ("later", "outcome"),
    [(timedelta(0), DeliveryState.SENT), (timedelta(minutes=11), DeliveryState.SKIPPED)],
    ids=["within the catch-up window", "after it"],
)
async def test_what_temporal_does_not_catch_up_the_sweep_sends_or_records(
    server: EmbeddedTemporal, later: timedelta, outcome: DeliveryState
) -> None:
    world = FakeWorld()
    reminder = await due_while_down(server, world)
    client = await connect(TemporalSettings(), server.address, lazy=False)
    await TemporalReminderSchedules(client, QUEUE, SoonishPolicy()).delete(EVENT, *reminder.key)
    world.sweeps._workflows = TemporalWorkflows(client, QUEUE, SoonishPolicy())
    world.clock.ahead = later
    policy = SoonishPolicy(overdue_after=timedelta(0))
    swept = await ActivityEnvironment().run(world.sweeps.sweep_reminders, SweepInput(policy=policy))
    assert swept == SweepResult(fired=1)
    async with reminding(server, world):
        await until_cleared(world)
    assert len(world.sender.sent) == (outcome is DeliveryState.SENT)
    (delivery,) = world.ledger.deliveries.values()
    assert delivery.state is outcome
