"""Workers of the curator on a real server, each on queues of its own."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PressboxError
from pressbox.core.progress.contracts import ProgressUpdate
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.cleanup.workflow import EntriesCleanupWorkflow
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.ingest.starter import IngestStarter
from pressbox.curator.ingest.workflows.all_feeds import AllFeedsIngestionWorkflow
from pressbox.curator.ingest.workflows.fetch import DomainFetchWorkflow, PreviewFetchWorkflow
from pressbox.curator.ingest.workflows.reprocess import ReprocessEntriesWorkflow
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.contracts import heavy_queue, index_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, SearchPruneWorkflow, SearchReindexWorkflow
from tests.fakes.curator import FakeWorld

WORKFLOWS = [
    AllFeedsIngestionWorkflow, SingleFeedIngestionWorkflow, ScheduleFetchWorkflow, DomainFetchWorkflow,
    ReprocessEntriesWorkflow, ContentDistillationWorkflow, PreviewFetchWorkflow, SearchReindexWorkflow,
    SearchPruneWorkflow, EntriesCleanupWorkflow, EmbeddingBackfillWorkflow,
]  # fmt: skip
QUICK_POLICY = CuratorPolicy(
    host_delay=timedelta(0),
    feed_delay=timedelta(0),
    model_pause=timedelta(milliseconds=200),
    page_patience=timedelta(seconds=20),
    report_every=timedelta(seconds=1),
)


@dataclass
class Stage:
    """A world and three workers on it: plain, heavy, and the one of the index."""

    client: Client
    world: FakeWorld
    queue: str
    workflows: IngestStarter
    policy: CuratorPolicy = QUICK_POLICY
    reports: list[ProgressUpdate] = field(default_factory=list)

    async def start(self, workflow: type, input: Contract, workflow_id: str = "") -> WorkflowHandle[Any, Any]:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=workflow_id or f"{workflow.__name__}-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def run(self, workflow: type, input: Contract, workflow_id: str = "") -> Any:
        return await (await self.start(workflow, input, workflow_id)).result()

    async def histories(self) -> AsyncIterator[Any]:
        async for found in self.client.list_workflows(f"TaskQueue = '{self.queue}'"):
            yield await self.client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history()


def worker(stage: Stage, queue: str, activities: list[Callable[..., Any]], workflows: list[type]) -> Worker:
    return Worker(
        stage.client,
        task_queue=queue,
        workflows=workflows,
        activities=activities,
        interceptors=[ErrorInterceptor(), ProgressInterceptor(stage.reports.append)],
        workflow_failure_exception_types=[PressboxError],
    )


@asynccontextmanager
async def staged(client: Client, world: FakeWorld) -> AsyncIterator[Stage]:
    queue = f"test-{secrets.token_hex(4)}"
    stage = Stage(client, world, queue, IngestStarter(client, queue, QUICK_POLICY))
    async with AsyncExitStack() as workers:
        for name, activities, workflows in (
            (queue, world.plain_activities(), list(WORKFLOWS)),
            (heavy_queue(queue), world.heavy_activities(), []),
            (index_queue(queue), world.index_activities(), []),
        ):
            await workers.enter_async_context(worker(stage, name, activities, workflows))
        yield stage
        await end(stage)


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld()


@pytest.fixture
async def stage(temporal: Client, world: FakeWorld) -> AsyncIterator[Stage]:
    async with staged(temporal, world) as stage:
        yield stage


async def end(stage: Stage) -> None:
    """Leave nothing running on the shared server."""
    async for found in stage.client.list_workflows(f"TaskQueue = '{stage.queue}' AND ExecutionStatus = 'Running'"):
        try:
            await stage.client.get_workflow_handle(found.id).terminate("the test is over")
        except RPCError as error:
            # It may have ended meanwhile.
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise


def children_started(history: Any) -> list[str]:
    initiated = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED
    return [
        event.start_child_workflow_execution_initiated_event_attributes.workflow_type.name
        for event in history.events
        if event.event_type == initiated
    ]
