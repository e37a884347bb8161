"""Starting and messaging soonish's workflows on a real Temporal server."""

import secrets
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.worker import Worker

from pressbox.core.config import TemporalSettings
from pressbox.core.errors import TransientError
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.embedded.ports import free_port
from pressbox.soonish.adapters.workflows import TemporalWorkflows
from pressbox.soonish.contracts import EventCancelled, MessageResent, ParticipantAdded, SoonishPolicy
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventFacts, EventStatus
from pressbox.soonish.ids import adhoc_workflow_id, event_workflow_id, resend_workflow_id
from pressbox.soonish.reminder_ports import RequestedReminder
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
from pressbox.soonish.workflows.event import EventWorkflow
from tests.fakes.soonish import FakeWorld
from tests.waiting import look_until, until

SOON = datetime.now(UTC) + timedelta(days=2)


@pytest.fixture
def event_id() -> int:
    return secrets.randbelow(10**12)


@pytest.fixture
def queue() -> str:
    return f"test-{secrets.token_hex(4)}"


@pytest.fixture
def workflows(temporal: Client, queue: str) -> TemporalWorkflows:
    return TemporalWorkflows(temporal, queue, SoonishPolicy())


async def test_the_first_message_starts_the_workflow_and_the_next_ones_reach_it(
    temporal: Client, workflows: TemporalWorkflows, queue: str, event_id: int
) -> None:
    world = FakeWorld()
    world.events.create(event_id, EventFacts("Concert", SOON, "Europe/Berlin"))
    world.events.subscribe(event_id, 2)
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[EventWorkflow, BroadcastWorkflow],
        activities=world.activities,
        interceptors=[ErrorInterceptor()],
    ):
        await workflows.signal_event(event_id, [ParticipantAdded(outbox_id=1, subscription_id=2)])
        await until(lambda: len(world.schedules.exist) >= 2)
        world.events.all[event_id].status = EventStatus.CANCELLED
        number = world.ledger.write(event_id, Cause.CANCELLED, "1", [2])
        await workflows.signal_event(event_id, [EventCancelled(outbox_id=2, notification_id=number)])
        result = await temporal.get_workflow_handle(event_workflow_id(event_id)).result()
    assert result["status"] == EventStatus.CANCELLED
    assert world.sender.to(2) == ["cancelled 1"]


async def test_a_requested_reminder_is_started_once_and_can_be_cancelled(
    temporal: Client, workflows: TemporalWorkflows, event_id: int
) -> None:
    for _ in range(2):
        await workflows.start_reminder(RequestedReminder(event_id, event_id, 1, SOON))
    handle = temporal.get_workflow_handle(adhoc_workflow_id(event_id, 1))
    first = await handle.describe()
    assert first.status is WorkflowExecutionStatus.RUNNING
    await handle.terminate()
    await workflows.start_reminder(RequestedReminder(event_id, event_id, 1, SOON))
    assert (await handle.describe()).run_id == first.run_id, "asked once, reminded once"


async def test_a_message_that_is_sent_again_has_one_broadcast_of_its_own(
    temporal: Client, workflows: TemporalWorkflows, queue: str, event_id: int
) -> None:
    world = FakeWorld()
    world.events.create(event_id, EventFacts("Concert", SOON, "Europe/Berlin"))
    number = world.ledger.write(event_id, Cause.ANNOUNCEMENT, "1", [2])
    again = MessageResent(outbox_id=7, notification_id=number)
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[BroadcastWorkflow],
        activities=world.activities,
        interceptors=[ErrorInterceptor()],
    ):
        await workflows.signal_event(event_id, [again])
        handle = temporal.get_workflow_handle(resend_workflow_id(event_id, number, 7))
        await handle.result()
        first = (await handle.describe()).run_id
        await workflows.signal_event(event_id, [again])
        assert (await handle.describe()).run_id == first, "asked once, sent once"
    assert world.sender.to(2) == ["announcement 1"]


async def test_cancelling_what_does_not_run_is_fine(workflows: TemporalWorkflows, event_id: int) -> None:
    await workflows.cancel_reminder(event_id, 1)
    await workflows.cancel_broadcast(event_id, 1)


async def test_a_temporal_that_is_away_is_a_transient_error(event_id: int) -> None:
    away = await connect(TemporalSettings(), f"127.0.0.1:{free_port()}", lazy=True)
    workflows = TemporalWorkflows(away, "nobody", SoonishPolicy())
    with pytest.raises(TransientError):
        await workflows.signal_event(event_id, [ParticipantAdded(outbox_id=1, subscription_id=2)])


@pytest.mark.parametrize("ending", ["terminate", "cancel"])
async def test_an_event_whose_workflow_somebody_ended_is_found_until_it_runs_again(
    temporal: Client, workflows: TemporalWorkflows, queue: str, event_id: int, ending: str
) -> None:
    world = FakeWorld()
    world.events.create(event_id, EventFacts("Concert", SOON, "Europe/Berlin"))
    handle = temporal.get_workflow_handle(event_workflow_id(event_id))

    async def is_found() -> bool:
        return event_id in await workflows.find_failed_events()

    async with Worker(
        temporal, task_queue=queue, workflows=[EventWorkflow, BroadcastWorkflow], activities=world.activities
    ):
        await workflows.start_event(event_id)
        await until(lambda: len(world.sender.sent) == 1, "it runs")
        await (handle.terminate() if ending == "terminate" else handle.cancel())
        await look_until(is_found, what="it is found")
        await workflows.start_event(event_id)
        assert not await is_found()
        await handle.terminate()
