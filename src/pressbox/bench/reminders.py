"""`pressbox bench reminders`: creates, moves and deletes the schedules of 1,000 people; none may be lost."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pydantic import SecretStr
from sqlalchemy import text
from temporalio.testing import ActivityEnvironment

from pressbox.bench.due_reminders import MovedWhileDue, measure_move_while_due
from pressbox.bench.instance import measured_instance, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, ObjectsSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.ports import Attempt, OutgoingMessage, SendNow
from pressbox.demo.instance import Instance
from pressbox.embedded.ports import free_port
from pressbox.soonish.contracts import ScheduleChange, ScheduleInput
from pressbox.soonish.domain.reminders import WantedReminder
from pressbox.soonish.reminder_ports import ReminderSchedules
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.wiring import reminder_schedules
from pressbox.soonish.worker import activities_on

# Ids far from those of the instance, because this event has no workflow.
EVENT = 10**9
ONE_BY_ONE_EVENT = EVENT + 1
START = datetime(2035, 5, 1, 18, 0, tzinfo=UTC)

_PEOPLE = text("""
    WITH event AS (
        INSERT INTO soonish.events (id, slug, organiser_id, name, start_date, timezone, visibility, status)
        SELECT :event_id, 'bench-' || :event_id, min(id), 'Measured', :start, 'UTC', 'public', 'active' FROM core.users
        RETURNING id
    ), contact AS (
        INSERT INTO soonish.contacts (kind, encrypted_address, key_id, target, shown, verified_at)
        SELECT 'json', '', '', sha256(convert_to('reminders ' || number, 'UTF8')), '', now()
        FROM generate_series(1, :people) AS number
        RETURNING id
    )
    INSERT INTO soonish.subscriptions (event_id, contact_id, state)
    SELECT event.id, contact.id, 'active' FROM event, contact
""")
_MOVE = text("UPDATE soonish.events SET start_date = start_date + interval '1 hour' WHERE id = :event_id")
_MUTE = text("""
    UPDATE soonish.subscriptions SET state = 'muted'
    WHERE id IN (SELECT id FROM soonish.subscriptions WHERE event_id = :event_id ORDER BY id LIMIT :people)
""")


@dataclass(frozen=True)
class Scale:
    """How much is measured; less is faster and less exact."""

    subscriptions: int = 1_000
    sampled: int = 50
    changed: int = 10
    due: int = 100


FULL = Scale()


@dataclass(frozen=True)
class Step:
    """One step over all schedules, compared with one by one. `calls` counts calls to Temporal."""

    name: str
    changed: int
    calls: int
    seconds: float
    one_by_one: float | None = None

    @property
    def per_second(self) -> float:
        return self.calls / self.seconds


class CountedSchedules:
    def __init__(self, schedules: ReminderSchedules) -> None:
        self._schedules = schedules
        self.calls = 0

    async def create(self, event_id: int, reminder: WantedReminder) -> None:
        self.calls += 1
        await self._schedules.create(event_id, reminder)

    async def move(self, event_id: int, reminder: WantedReminder) -> None:
        self.calls += 1
        await self._schedules.move(event_id, reminder)

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None:
        self.calls += 1
        await self._schedules.delete(event_id, subscription_id, offset_seconds)


class SilentSender:
    """The activities need a sender, although schedules send nothing."""

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        yield partial(self.send, channel_key)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        return Attempt(AttemptResult.REFUSED, "Benchmarks of schedules send nothing.")


def run_reminders(say: Say, scale: Scale = FULL) -> Report:
    """Takes two or three minutes, on a temporary home."""
    machine = describe_machine()
    port = free_port()
    environment = {
        "PRESSBOX_HTTP_ALLOW": f"127.0.0.1:{port}",
        "PRESSBOX_SOONISH_APPRISE_API_URL": "",
        # The message about the move would disturb the count.
        "PRESSBOX_SOONISH_MERGE_WINDOW_SECONDS": "3600",
    }
    with temporary_home() as home, measured_instance(home, **environment) as instance:
        steps, due = asyncio.run(_measure(instance, port, scale, say))
    figures = tuple(figure for step in steps for figure in _step_figures(step)) + _due_figures(due)
    return Report(name="reminders", measured_at=datetime.now(UTC), machine=machine, figures=figures)


async def _measure(instance: Instance, port: int, scale: Scale, say: Say) -> tuple[Sequence[Step], MovedWhileDue]:
    async with _open_resources(instance) as resources:
        say(f"Moving an event while {scale.due} reminders are due")
        due = await measure_move_while_due(instance.web_url, resources.database, port, people=scale.due)
        steps = await measure_schedules(resources, scale, say)
    return steps, due


async def measure_schedules(resources: Resources, scale: Scale, say: Say) -> Sequence[Step]:
    """Measure the activities on the real database and server."""
    schedules = reminder_schedules(resources)
    say(f"One by one: {scale.sampled} schedules")
    alone = await _measure_in_turn(schedules, scale.sampled)
    counted = CountedSchedules(schedules)
    named: Mapping[str, Callable[..., Any]] = {
        activity.__name__: activity for activity in activities_on(resources, SilentSender(), counted)
    }
    reconcile, delete = named["create_reminder_schedules"], named["delete_reminder_schedules"]
    await _write(resources, _PEOPLE, start=START, people=scale.subscriptions)
    steps = []
    say(f"Schedules of {scale.subscriptions} people")
    steps.append(await _measure_step("create", reconcile, counted, alone["create"]))
    steps.append(await _measure_step("reconcile, nothing changed", reconcile, counted))
    await _write(resources, _MOVE)
    steps.append(await _measure_step("move", reconcile, counted, alone["move"]))
    await _write(resources, _MUTE, people=scale.changed)
    steps.append(await _measure_step(f"reconcile, {scale.changed} people muted", reconcile, counted))
    steps.append(await _measure_step("delete", delete, counted, alone["delete"]))
    return steps


async def _measure_step(
    name: str, activity: Callable[..., Awaitable[ScheduleChange]], counted: CountedSchedules, alone: float | None = None
) -> Step:
    before, began = counted.calls, time.perf_counter()
    change: ScheduleChange = await ActivityEnvironment().run(activity, ScheduleInput(event_id=EVENT))
    seconds = time.perf_counter() - began
    changed = change.created + change.moved + change.deleted
    return Step(name, changed, counted.calls - before, seconds, alone)


async def _measure_in_turn(schedules: ReminderSchedules, sampled: int) -> Mapping[str, float]:
    """The loop of the original document: the next call when the last has answered."""
    reminders = [WantedReminder(number, timedelta(hours=1), START) for number in range(1, sampled + 1)]
    later = [WantedReminder(number, timedelta(hours=1), START + timedelta(hours=1)) for number in range(1, sampled + 1)]
    calls: Mapping[str, Sequence[Callable[[], Awaitable[None]]]] = {
        "create": [partial(schedules.create, ONE_BY_ONE_EVENT, item) for item in reminders],
        "move": [partial(schedules.move, ONE_BY_ONE_EVENT, item) for item in later],
        "delete": [partial(schedules.delete, ONE_BY_ONE_EVENT, *item.key) for item in reminders],
    }
    rates = {}
    for name, each in calls.items():
        began = time.perf_counter()
        for call in each:
            await call()
        rates[name] = sampled / (time.perf_counter() - began)
    return rates


async def _write(resources: Resources, statement: Any, **values: object) -> None:
    async with resources.database.unit_of_work() as work:
        await work.session.execute(statement, {"event_id": EVENT, **values})


@asynccontextmanager
async def _open_resources(instance: Instance) -> AsyncIterator[Resources]:
    database = Database(instance.endpoints.database_url)
    temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address, lazy=False)
    settings = Settings(
        home=instance.home.path,
        secret_key=SecretStr("only for links that nobody gets"),
        # A schedule for each person is measured; large events have two in all.
        applications=(SoonishSettings(most_own_reminders=1_000_000),),
    )
    try:
        async with GuardedClient(HttpSettings()) as http:
            yield Resources(settings, database, temporal, open_store(ObjectsSettings(), instance.home.objects), http)
    finally:
        await database.close()


def _step_figures(step: Step) -> tuple[Figure, ...]:
    calls = Figure(
        name=f"{step.name}: calls beyond what changed",
        value=step.calls - step.changed,
        unit="calls",
        aim=0,
        note=f"{step.changed:,} changed, {step.calls:,} calls, {step.seconds:.1f} s",
    )
    if step.one_by_one is None:
        return (calls,)
    rate = Figure(
        name=f"{step.name}: schedules",
        value=step.per_second,
        unit="per second",
        better=Better.HIGHER,
        peer=step.one_by_one,
        peer_name="one by one",
        note=f"{step.calls:,} calls",
    )
    return rate, calls


def _due_figures(due: MovedWhileDue) -> tuple[Figure, ...]:
    note = f"{due.sent_before} sent before the move, {due.sent_after} of {due.expected_after} after it"
    return (
        Figure(name="reminders lost by a move while due", value=due.lost, unit="reminders", aim=0, note=note),
        Figure(name="reminders doubled by a move while due", value=due.doubled, unit="reminders", aim=0),
    )
