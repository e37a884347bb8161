"""Workers of footy on a real server, each on queues of its own."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PressboxError
from pressbox.core.progress.contracts import ProgressUpdate
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.footy.adapters.workflows import TemporalWorkflows
from pressbox.footy.contracts.monitor import GoalToSearch
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ids import clips_queue, media_queue, rag_workflow_id
from pressbox.footy.workflows.download import DownloadWorkflow
from pressbox.footy.workflows.ingest import IngestWorkflow
from pressbox.footy.workflows.monitor import MonitorWorkflow
from pressbox.footy.workflows.rag import RAGWorkflow
from pressbox.footy.workflows.twitter import TwitterWorkflow
from pressbox.footy.workflows.upkeep import UpkeepWorkflow
from pressbox.footy.workflows.upload import UploadWorkflow
from tests.fakes.footy import CITY, LIVERPOOL, FakeWorld

WORKFLOWS = [
    IngestWorkflow, MonitorWorkflow, RAGWorkflow, TwitterWorkflow, DownloadWorkflow, UploadWorkflow, UpkeepWorkflow,
]  # fmt: skip
MOMENT = timedelta(milliseconds=50)
QUICK_POLICY = FootyPolicy(
    attempt_interval=MOMENT,
    attempt_pause=MOMENT,
    upload_idle=timedelta(milliseconds=300),
    attempts=3,
    alias_patience=timedelta(seconds=5),
)

# Ids of fixtures are parts of workflow ids, and all tests share one server.
_numbers = count(secrets.randbelow(10**6) * 1000)


@dataclass
class Stage:
    """A world and three workers on it: for the workflows, for what fetches clips, and for what reads them."""

    client: Client
    world: FakeWorld
    queue: str
    workflows: TemporalWorkflows
    policy: FootyPolicy = QUICK_POLICY
    fixture_id: int = field(default_factory=lambda: next(_numbers))
    reports: list[ProgressUpdate] = field(default_factory=list)

    @property
    def event_id(self) -> str:
        return f"{self.fixture_id}_{LIVERPOOL}_234_Goal_1"

    def goal(self) -> GoalToSearch:
        """A confirmed goal, also in the world."""
        if self.event_id not in self.world.goals.all:
            self.world.goals.plant(self.event_id, self.fixture_id)
        return GoalToSearch(
            fixture_id=self.fixture_id,
            event_id=self.event_id,
            team_id=LIVERPOOL,
            team_slug="Liverpool",
            player_slug="D-Szoboszlai",
            minute_label="23",
        )

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

    async def events_of(self, workflow_id: str) -> int:
        return len((await self.client.get_workflow_handle(workflow_id).fetch_history()).events)


def worker(
    stage: Stage, queue: str, activities: list[Callable[..., Any]], workflows: list[type], cached: int = 1000
) -> Worker:
    return Worker(
        stage.client,
        task_queue=queue,
        workflows=workflows,
        activities=activities,
        interceptors=[ErrorInterceptor(), ProgressInterceptor(stage.reports.append)],
        workflow_failure_exception_types=[PressboxError],
        max_cached_workflows=cached,
        # Without a cache every task replays from the beginning, and the SDK wants a single poller.
        max_concurrent_workflow_task_polls=5 if cached else 1,
    )


def media_worker(stage: Stage) -> Worker:
    return worker(stage, media_queue(stage.queue), stage.world.media_activities(stage.workflows), [])


@asynccontextmanager
async def staged(
    client: Client, world: FakeWorld, *, with_media: bool = True, cached: int = 1000
) -> AsyncIterator[Stage]:
    queue = f"test-{secrets.token_hex(4)}"
    stage = Stage(client, world, queue, TemporalWorkflows(client, queue, QUICK_POLICY))
    # Every stage has these two teams, and the list of what runs may have lacked one that an earlier stage started.
    for team_id in (LIVERPOOL, CITY):
        await terminate(client, rag_workflow_id(team_id))
    async with (
        worker(stage, queue, world.plain_activities(stage.workflows), list(WORKFLOWS), cached),
        worker(stage, clips_queue(queue), world.clips_activities(stage.workflows), []),
    ):
        if with_media:
            async with media_worker(stage):
                yield stage
        else:
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
        await terminate(stage.client, found.id)


async def terminate(client: Client, workflow_id: str) -> None:
    try:
        await client.get_workflow_handle(workflow_id).terminate("the test is over")
    except RPCError as error:
        # It never ran, or has ended.
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
