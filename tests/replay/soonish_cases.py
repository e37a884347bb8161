"""The named cases of soonish's workflows: each is played on fakes and gives the run whose history is kept."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.soonish.contracts import (
    BroadcastWorkflowInput,
    EventCancelled,
    EventSignal,
    EventUpdated,
    EventWorkflowInput,
    ManualNotificationSent,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
    ReconcileWorkflowInput,
    ReminderWorkflowInput,
    SoonishPolicy,
    SweepStep,
)
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventFacts, EventStatus
from pressbox.soonish.domain.reminders import EVERYBODY
from pressbox.soonish.ids import broadcast_workflow_id
from pressbox.soonish.manifest import APP
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
from pressbox.soonish.workflows.event import EventWorkflow
from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
from pressbox.soonish.workflows.reminder import ReminderWorkflow
from tests.fakes.soonish import FakeWorld

POLICY = SoonishPolicy(merge_window=timedelta(milliseconds=500), batch_size=5, concurrent_deliveries=2)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Play:
    client: Client
    queue: str
    world: FakeWorld
    event_id: int

    async def start(
        self, workflow: type, input: Contract, message: EventSignal | None = None
    ) -> WorkflowHandle[Any, Any]:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=f"recorded-{secrets.token_hex(4)}",
            task_queue=self.queue,
            start_signal=message.kind if message else None,
            start_signal_args=[message] if message else [],
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    async def event(self, message: EventSignal, policy: SoonishPolicy = POLICY) -> WorkflowHandle[Any, Any]:
        return await self.start(EventWorkflow, EventWorkflowInput(event_id=self.event_id, policy=policy), message)

    def announce(self, version: str) -> int:
        return self.world.ledger.write(self.event_id, Cause.ANNOUNCEMENT, version, [2, 3])

    def cancel(self) -> int:
        self.world.events.all[self.event_id].status = EventStatus.CANCELLED
        return self.world.ledger.write(self.event_id, Cause.CANCELLED, "1", [2, 3])


async def completed(play: Play) -> WorkflowHandle[Any, Any]:
    """Edits become one message, then nobody says anything until the end."""
    world = play.world
    handle = await play.event(ParticipantAdded(outbox_id=1, subscription_id=2))
    for number, place in ((2, "Hall 1"), (3, "Hall 2")):
        version = world.events.edit(play.event_id, location=place)
        await handle.signal(EventWorkflow.event_updated, EventUpdated(outbox_id=number, version=version))
    await asyncio.sleep(1.5)
    version = world.events.edit(play.event_id, end_date=datetime.now(UTC) + timedelta(seconds=2))
    await handle.signal(EventWorkflow.event_updated, EventUpdated(outbox_id=4, version=version))
    await handle.result()
    return handle


async def cancelled(play: Play) -> WorkflowHandle[Any, Any]:
    """Everything that can be said, and a cancellation that drops an update."""
    world = play.world
    handle = await play.event(ParticipantAdded(outbox_id=1, subscription_id=2))
    await handle.signal(
        EventWorkflow.send_manual_notification,
        ManualNotificationSent(outbox_id=2, notification_id=play.announce("a")),
    )
    await handle.signal(EventWorkflow.participant_changed, ParticipantChanged(outbox_id=3, subscription_id=3))
    await handle.signal(EventWorkflow.participant_removed, ParticipantRemoved(outbox_id=4, subscription_id=3))
    await asyncio.sleep(1)
    version = world.events.edit(play.event_id, start_date=world.events.all[play.event_id].facts.start_date + HOUR)
    await handle.signal(EventWorkflow.event_updated, EventUpdated(outbox_id=5, version=version))
    await handle.signal(EventWorkflow.cancel_event, EventCancelled(outbox_id=6, notification_id=play.cancel()))
    await handle.result()
    return handle


async def continued_as_new(play: Play) -> WorkflowHandle[Any, Any]:
    """The first run, which hands a queue with a cancellation to the next one."""
    play.world.sender.hold = asyncio.Event()
    policy = POLICY.model_copy(update={"notifications_per_run": 2})
    handle = await play.event(ParticipantAdded(outbox_id=1, subscription_id=2), policy)
    await play.world.sender.arrived.wait()
    for number in (2, 3, 4):
        await handle.signal(
            EventWorkflow.send_manual_notification,
            ManualNotificationSent(outbox_id=number, notification_id=play.announce(str(number))),
        )
    await handle.signal(EventWorkflow.cancel_event, EventCancelled(outbox_id=5, notification_id=play.cancel()))
    play.world.sender.hold.set()
    await handle.result()
    assert handle.first_execution_run_id is not None
    return play.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)


def _reminder(play: Play) -> ReminderWorkflowInput:
    start = datetime.now(UTC).replace(microsecond=0) + HOUR
    play.world.events.edit(play.event_id, start_date=start)
    return ReminderWorkflowInput(event_id=play.event_id, subscription_id=2, offset_seconds=3600, start_date=start)


async def sent(play: Play) -> WorkflowHandle[Any, Any]:
    handle = await play.start(ReminderWorkflow, _reminder(play))
    await handle.result()
    return handle


async def shared(play: Play) -> WorkflowHandle[Any, Any]:
    """Everybody who chose one offset, more than one page of them; one is busy at first."""
    for person in range(10, 22):
        play.world.events.subscribe(play.event_id, person)
    play.world.sender.answers(11, AttemptResult.UNAVAILABLE)
    input = _reminder(play).model_copy(update={"subscription_id": EVERYBODY, "policy": POLICY})
    handle = await play.start(ReminderWorkflow, input)
    await handle.result()
    return handle


async def shared_moved(play: Play) -> WorkflowHandle[Any, Any]:
    input = _reminder(play).model_copy(update={"subscription_id": EVERYBODY, "policy": POLICY})
    play.world.events.edit(play.event_id, start_date=input.start_date + HOUR)
    handle = await play.start(ReminderWorkflow, input)
    await handle.result()
    return handle


async def moved(play: Play) -> WorkflowHandle[Any, Any]:
    input = _reminder(play)
    play.world.events.edit(play.event_id, start_date=input.start_date + HOUR)
    handle = await play.start(ReminderWorkflow, input)
    await handle.result()
    return handle


async def asked(play: Play) -> WorkflowHandle[Any, Any]:
    """ "Remind me in one second"."""
    fire_at = datetime.now(UTC) + timedelta(seconds=1)
    input = _reminder(play).model_copy(update={"offset_seconds": 0, "reminder_id": 3, "fire_at": fire_at})
    handle = await play.start(ReminderWorkflow, input)
    await handle.result()
    return handle


async def _broadcast(play: Play) -> WorkflowHandle[Any, Any]:
    number = play.world.ledger.write(play.event_id, Cause.ANNOUNCEMENT, "b", range(10, 30))
    input = BroadcastWorkflowInput(event_id=play.event_id, notification_id=number, policy=POLICY)
    return await play.start(BroadcastWorkflow, input)


async def broadcast_completed(play: Play) -> WorkflowHandle[Any, Any]:
    """Four pages, and two who take it only at the second try."""
    for number in (11, 25):
        play.world.sender.answers(number, AttemptResult.UNAVAILABLE)
    handle = await _broadcast(play)
    await handle.result()
    return handle


async def broadcast_cancelled(play: Play) -> WorkflowHandle[Any, Any]:
    play.world.sender.seconds = 0.1
    handle = await _broadcast(play)
    await play.world.sender.arrived.wait()
    await handle.cancel()
    await handle.result()
    return handle


async def _tried_again(play: Play) -> tuple[WorkflowHandle[Any, Any], int]:
    """Somebody takes the first message only at the second try; the cancellation does not wait for it."""
    play.world.sender.answers(2, AttemptResult.UNAVAILABLE)
    number = play.announce("a")
    handle = await play.event(ManualNotificationSent(outbox_id=1, notification_id=number))
    await handle.signal(EventWorkflow.cancel_event, EventCancelled(outbox_id=2, notification_id=play.cancel()))
    await handle.result()
    return handle, number


async def gone_round(play: Play) -> WorkflowHandle[Any, Any]:
    handle, _ = await _tried_again(play)
    return handle


async def broadcast_gone_round(play: Play) -> WorkflowHandle[Any, Any]:
    _, number = await _tried_again(play)
    child = play.client.get_workflow_handle(broadcast_workflow_id(play.event_id, number))
    await child.result()
    return child


async def swept(play: Play) -> WorkflowHandle[Any, Any]:
    play.world.outbox.rows = [(play.event_id, ParticipantAdded(outbox_id=1, subscription_id=2))]
    handle = await play.start(ReconcileWorkflow, ReconcileWorkflowInput(policy=POLICY))
    await handle.result()
    return handle


async def looked(play: Play) -> WorkflowHandle[Any, Any]:
    """It looks first and finds one thing to do."""
    play.world.due_work.steps = {SweepStep.OUTBOX}
    play.world.outbox.rows = [(play.event_id, ParticipantAdded(outbox_id=1, subscription_id=2))]
    handle = await play.start(ReconcileWorkflow, ReconcileWorkflowInput(policy=POLICY, looks_first=True))
    await handle.result()
    return handle


async def crowded(play: Play) -> WorkflowHandle[Any, Any]:
    """More sign up than are planned one by one, and some are told as one."""
    for person in range(10, 60):
        play.world.events.subscribe(play.event_id, person, [])
    handle = await play.event(ParticipantAdded(outbox_id=1, subscription_id=10))
    for person in range(11, 60):
        await handle.signal(EventWorkflow.participant_added, ParticipantAdded(outbox_id=person, subscription_id=person))
    await handle.signal(EventWorkflow.participant_changed, ParticipantChanged(outbox_id=90, subscription_id=EVERYBODY))
    await asyncio.sleep(1)
    await handle.signal(EventWorkflow.cancel_event, EventCancelled(outbox_id=91, notification_id=play.cancel()))
    await handle.result()
    return handle


CASES: tuple[tuple[type, str, Callable[[Play], Awaitable[WorkflowHandle[Any, Any]]]], ...] = (
    (EventWorkflow, "completed", completed),
    (EventWorkflow, "cancelled", cancelled),
    (EventWorkflow, "continued-as-new", continued_as_new),
    (ReminderWorkflow, "sent", sent),
    (ReminderWorkflow, "moved", moved),
    (ReminderWorkflow, "asked", asked),
    (ReminderWorkflow, "shared", shared),
    (ReminderWorkflow, "shared-moved", shared_moved),
    (BroadcastWorkflow, "completed", broadcast_completed),
    (BroadcastWorkflow, "cancelled", broadcast_cancelled),
    (BroadcastWorkflow, "shared", broadcast_completed),
    (BroadcastWorkflow, "shared-cancelled", broadcast_cancelled),
    (ReconcileWorkflow, "completed", swept),
    (ReconcileWorkflow, "looked", looked),
    (EventWorkflow, "crowded", crowded),
    (EventWorkflow, "gone-round", gone_round),
    (BroadcastWorkflow, "gone-round", broadcast_gone_round),
)


@asynccontextmanager
async def playing(client: Client, event_id: int) -> AsyncIterator[Play]:
    """A fresh world with one event, and a worker on it. Ids of broadcasts hold the event's, so cases do not meet."""
    world = FakeWorld()
    world.events.create(event_id, EventFacts("Concert", datetime.now(UTC) + timedelta(days=2), "Europe/Berlin"))
    for person in (2, 3):
        world.events.subscribe(event_id, person)
    queue = f"record-{secrets.token_hex(4)}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[workflow for group in APP.workflows().values() for workflow in group],
        activities=world.activities,
        interceptors=[ErrorInterceptor()],
    ):
        yield Play(client, queue, world, event_id)
