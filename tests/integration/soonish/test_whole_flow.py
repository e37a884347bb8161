"""Use cases, workflows and schedules together, on a real database and Temporal server; only targets are fakes."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from pydantic import SecretStr
from sqlalchemy import select, text
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.worker import Worker

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.db.database import Database
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.channels import ChannelInput
from pressbox.delivery.ports import Attempt, OutgoingMessage, SendNow
from pressbox.soonish.adapters.rows import DeliveryRow, OutboxRow, ReminderScheduleRow
from pressbox.soonish.contracts import ReconcileWorkflowInput
from pressbox.soonish.domain.views import Holder, Viewer
from pressbox.soonish.ids import QUEUE, event_workflow_id, reminder_schedule_id
from pressbox.soonish.manifest import APP
from pressbox.soonish.service.inputs import Announcement, EventInput, Preferences
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.wiring import reminder_schedules, service
from pressbox.soonish.worker import activities_on
from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
from tests.waiting import look_until

START = (datetime.now(UTC) + timedelta(days=10)).replace(microsecond=0)

CLOSE_LOOKS = 100


class Watcher:
    """Takes everything, and looks whether the database waits for it."""

    def __init__(self, database: Database) -> None:
        self.sent: list[tuple[str, OutgoingMessage]] = []
        self.transactions: list[int] = []
        self._database = database

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        yield partial(self.send, channel_key)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        # Others come and go on a busy machine; one that waits for this message stays.
        before = await self._list_transactions()
        for _ in range(CLOSE_LOOKS):
            await asyncio.sleep(0.05)
            before &= await self._list_transactions()
            if not before:
                break
        self.transactions.append(len(before))
        self.sent.append((channel_key, message))
        return Attempt(AttemptResult.ACCEPTED)

    async def _list_transactions(self) -> set[tuple[int, datetime]]:
        async with self._database.engine.connect() as connection:
            rows = await connection.execute(
                text(
                    "SELECT pid, xact_start FROM pg_stat_activity WHERE datname = current_database()"
                    " AND state = 'idle in transaction'"
                )
            )
            return {(row.pid, row.xact_start) for row in rows}


@dataclass
class Day:
    service: Soonish
    resources: Resources
    sender: Watcher
    organiser: int
    people: list[int]

    def titles(self, channel_id: int) -> list[str]:
        return [message.title for key, message in self.sender.sent if key == f"channel:{channel_id}"]


async def person(database: Database) -> int:
    async with database.unit_of_work() as work:
        row = UserRow(email=f"{secrets.token_hex(4)}@example.org", name="", password_hash="unusable", role="member")
        work.session.add(row)
        await work.session.flush()
        return row.id


@pytest.fixture
async def day(resources: Resources, temporal: Client) -> AsyncIterator[Day]:
    settings = resources.settings.model_copy(update={"secret_key": SecretStr("for tests")})
    settings = settings.with_group(SoonishSettings(merge_window_seconds=0.5))
    connected = replace(resources, settings=settings)
    # Workflow ids hold the event's, and other tests with databases of their own use the same server.
    async with connected.database.unit_of_work() as work:
        await work.session.execute(text(f"ALTER SEQUENCE soonish.events_id_seq RESTART {secrets.randbelow(10**12)}"))
    sender = Watcher(connected.database)
    async with Worker(
        temporal,
        task_queue=QUEUE,
        workflows=APP.workflows()[QUEUE],
        activities=activities_on(connected, sender, reminder_schedules(connected)),
        interceptors=[ErrorInterceptor()],
    ):
        people = [await person(connected.database) for _ in range(3)]
        yield Day(service(connected), connected, sender, people[0], people[1:])


async def noted(day: Day, event_id: int) -> dict[tuple[int, int], datetime]:
    async with day.resources.database.unit_of_work() as work:
        rows = await work.session.scalars(select(ReminderScheduleRow).where(ReminderScheduleRow.event_id == event_id))
        return {(row.subscription_id, row.offset_seconds): row.start_date for row in rows}


async def join(day: Day, user_id: int, slug: str) -> tuple[int, int]:
    """Subscribe over a channel of one's own; the ids of channel and subscription."""
    channel = await day.service.channels.add(user_id, ChannelInput("Phone", "ntfys://ntfy.sh/example", ("phone",)))
    joined = await day.service.subscriptions.subscribe(Viewer(user_id), slug, Preferences(channel_ids=(channel.id,)))
    return channel.id, joined.id


async def test_an_organisers_day(day: Day, temporal: Client) -> None:
    event = await day.service.events.create(day.organiser, EventInput("Concert", START, "Europe/Berlin"))
    first, first_subscription = await join(day, day.people[0], event.slug)
    second, second_subscription = await join(day, day.people[1], event.slug)

    async def four() -> bool:
        return len(await noted(day, event.id)) == 4

    await look_until(four)
    later = START + timedelta(hours=1)
    await day.service.events.edit(day.organiser, event.slug, EventInput("Concert", later, "Europe/Berlin"))

    async def moved() -> bool:
        return set((await noted(day, event.id)).values()) == {later} and len(day.titles(second)) == 1

    await look_until(moved)
    described = await temporal.get_schedule_handle(reminder_schedule_id(event.id, first_subscription, 3600)).describe()
    assert list(described.info.next_action_times) == [later - timedelta(hours=1)]
    await day.service.board.announce(
        day.organiser, event.slug, Announcement("Room 12", subscription_ids=(first_subscription,))
    )
    await day.service.subscriptions.leave(Holder(second_subscription, day.people[1]))
    await day.service.events.cancel(day.organiser, event.slug)
    await temporal.get_workflow_handle(event_workflow_id(event.id)).result()
    assert day.titles(first) == ["Event update: Concert", "Concert", "Event cancelled: Concert"]
    assert day.titles(second) == ["Event update: Concert"], "who left hears no more"
    assert await noted(day, event.id) == {}
    assert set(day.sender.transactions) == {0}, "no transaction waits while a message is on its way"
    async with day.resources.database.unit_of_work() as work:
        states = {row.state for row in await work.session.scalars(select(DeliveryRow))}
        unsent = (await work.session.scalars(select(OutboxRow).where(OutboxRow.told_at.is_(None)))).all()
    assert states <= {"sent", "skipped"}
    assert unsent == []


async def test_the_sweep_sends_signals_that_could_not_be_sent_before(day: Day, temporal: Client) -> None:
    async def unreachable(*_: object) -> None:
        raise TimeoutError

    workflows = day.service.events._relay._workflows
    reachable, workflows.signal_event = workflows.signal_event, unreachable  # type: ignore[method-assign, assignment]
    event = await day.service.events.create(day.organiser, EventInput("Concert", START, "Europe/Berlin"))
    _, subscription = await join(day, day.people[0], event.slug)
    workflows.signal_event = reachable  # type: ignore[method-assign]
    assert await noted(day, event.id) == {}
    # What is younger than this is left to whoever wrote it.
    async with day.resources.database.unit_of_work() as work:
        await work.session.execute(text("UPDATE soonish.outbox SET created_at = created_at - interval '3 seconds'"))
    result = await temporal.execute_workflow(
        ReconcileWorkflow.run,
        ReconcileWorkflowInput(),
        id=f"soonish-reconcile-{secrets.token_hex(4)}",
        task_queue=QUEUE,
    )
    assert result.told == 2

    async def planned() -> bool:
        return {key[0] for key in await noted(day, event.id)} == {subscription}

    await look_until(planned)
    handle = temporal.get_workflow_handle(event_workflow_id(event.id))
    assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
    await day.service.events.cancel(day.organiser, event.slug)
    await handle.result()
