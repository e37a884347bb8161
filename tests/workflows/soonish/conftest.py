"""Workers of soonish on real servers: the usual one, and the one that skips time."""

import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from pressbox.core.progress.contracts import ProgressUpdate
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.soonish.contracts import EventSignal, EventWorkflowInput, EventWorkflowResult, SoonishPolicy
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.ids import event_workflow_id
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
from pressbox.soonish.workflows.event import EventWorkflow
from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
from pressbox.soonish.workflows.reminder import ReminderWorkflow
from tests.fakes.soonish import FakeWorld

# Ids of events are workflow ids, and all tests share one server.
_numbers = count(secrets.randbelow(10**9) * 1000)
QUICK_POLICY = SoonishPolicy(merge_window=timedelta(milliseconds=300), batch_size=10, concurrent_deliveries=4)


@dataclass
class Stage:
    """A world, a worker on it, and one event that starts in two days."""

    client: Client
    world: FakeWorld
    queue: str
    event_id: int
    policy: SoonishPolicy
    reports: list[ProgressUpdate] = field(default_factory=list)
    handle: WorkflowHandle[Any, EventWorkflowResult] | None = None
    told: "count[int]" = field(default_factory=lambda: count(1))

    async def tell(self, *messages: EventSignal) -> WorkflowHandle[Any, EventWorkflowResult]:
        """As the service does it: a signal that starts the workflow when there is none."""
        for message in messages:
            # This handle, not one made from the id, lets the other server skip time while somebody waits for it.
            self.handle = await self.client.start_workflow(
                EventWorkflow.run,
                EventWorkflowInput(event_id=self.event_id, policy=self.policy),
                id=event_workflow_id(self.event_id),
                task_queue=self.queue,
                start_signal=message.kind,
                start_signal_args=[message],
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            )
        assert self.handle is not None
        return self.handle

    @property
    def number(self) -> int:
        return next(self.told)


def in_two_days(**changes: object) -> EventFacts:
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)
    return EventFacts(**{"name": "Concert", "start_date": start, "timezone": "Europe/Berlin", **changes})  # type: ignore[arg-type]


@asynccontextmanager
async def staged(client: Client, policy: SoonishPolicy, facts: EventFacts, world: FakeWorld) -> AsyncIterator[Stage]:
    stage = Stage(client, world, f"test-{secrets.token_hex(4)}", next(_numbers), policy)
    world.events.create(stage.event_id, facts)
    async with Worker(
        client,
        task_queue=stage.queue,
        workflows=[EventWorkflow, BroadcastWorkflow, ReminderWorkflow, ReconcileWorkflow],
        activities=world.activities,
        interceptors=[ErrorInterceptor(), ProgressInterceptor(stage.reports.append)],
    ):
        yield stage


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld()


@pytest.fixture
async def stage(temporal: Client, world: FakeWorld) -> AsyncIterator[Stage]:
    async with staged(temporal, QUICK_POLICY, in_two_days(), world) as stage:
        yield stage
        await end(stage)


@pytest.fixture(scope="session")
async def skipping() -> AsyncIterator[WorkflowEnvironment]:
    server = Path(sys.executable).parent / "temporal-test-server"
    assert server.exists(), "it comes with a wheel; without it the SDK would download one"
    async with await WorkflowEnvironment.start_time_skipping(
        test_server_existing_path=str(server), data_converter=pydantic_data_converter
    ) as environment:
        yield environment


async def end(stage: Stage) -> None:
    """Leave nothing running on the shared server."""
    async for found in stage.client.list_workflows(f"TaskQueue = '{stage.queue}' AND ExecutionStatus = 'Running'"):
        try:
            await stage.client.get_workflow_handle(found.id).terminate("the test is over")
        except RPCError as error:
            # It may have ended meanwhile.
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
