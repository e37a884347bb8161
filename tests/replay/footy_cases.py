"""The named cases of footy's workflows: each is played on fakes and gives the run whose history is kept."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PermanentError, PressboxError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.footy.adapters.workflows import TemporalWorkflows
from pressbox.footy.contracts.aliases import RAGWorkflowInput
from pressbox.footy.contracts.download import Batch, DownloadWorkflowInput
from pressbox.footy.contracts.ingest import IngestWorkflowInput
from pressbox.footy.contracts.monitor import GoalToSearch, MonitorWorkflowInput
from pressbox.footy.contracts.search import TwitterWorkflowInput
from pressbox.footy.contracts.upkeep import UpkeepWorkflowInput
from pressbox.footy.contracts.upload import UploadWorkflowInput
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ids import clips_queue, media_queue, twitter_workflow_id, upload_workflow_id
from pressbox.footy.manifest import APP
from pressbox.footy.workflows.download import DownloadWorkflow
from pressbox.footy.workflows.ingest import IngestWorkflow
from pressbox.footy.workflows.monitor import MonitorWorkflow
from pressbox.footy.workflows.rag import RAGWorkflow
from pressbox.footy.workflows.twitter import TwitterWorkflow
from pressbox.footy.workflows.upkeep import UpkeepWorkflow
from pressbox.footy.workflows.upload import UploadWorkflow
from tests.fakes.footy import LIVERPOOL, FakeWorld, clip, raw_fixture, raw_goal
from tests.waiting import until

Handle = WorkflowHandle[Any, Any]
MOMENT = timedelta(milliseconds=50)
POLICY = FootyPolicy(attempts=2, attempt_interval=MOMENT, attempt_pause=MOMENT, upload_idle=timedelta(seconds=1))


@dataclass(frozen=True)
class Play:
    client: Client
    queue: str
    world: FakeWorld
    workflows: TemporalWorkflows
    fixture_id: int

    @property
    def event_id(self) -> str:
        return f"{self.fixture_id}_{LIVERPOOL}_234_Goal_1"

    def goal(self) -> GoalToSearch:
        self.world.goals.plant(self.event_id, self.fixture_id)
        return GoalToSearch(
            fixture_id=self.fixture_id,
            event_id=self.event_id,
            team_id=LIVERPOOL,
            team_slug="Liverpool",
            player_slug="D-Szoboszlai",
            minute_label="23",
        )

    async def start(self, workflow: type, input: Contract, workflow_id: str = "") -> Handle:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=workflow_id or f"recorded-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def ended(self, workflow: type, input: Contract, workflow_id: str = "") -> Handle:
        handle = await self.start(workflow, input, workflow_id)
        try:
            await handle.result()
        except WorkflowFailureError:
            # Some cases are of runs that fail.
            return handle
        return handle


async def ingested(play: Play) -> Handle:
    """Nothing for a month, two teams to look up, and old fixtures to delete in two rounds."""
    play.world.fixtures.teams = (play.fixture_id * 10, play.fixture_id * 10 + 1)
    play.world.fixtures.old = list(range(25))
    return await play.ended(IngestWorkflow, IngestWorkflowInput(policy=POLICY))


async def ingested_by_hand(play: Play) -> Handle:
    play.world.api.live = {7: raw_fixture(7)}
    return await play.ended(IngestWorkflow, IngestWorkflowInput(fixture_ids=(7,), policy=POLICY))


async def polled(play: Play) -> Handle:
    """Waiting and running fixtures, a search to start, and a match to archive."""
    play.goal()
    play.world.fixtures.staging.add(play.fixture_id + 1)
    play.world.fixtures.active.add(play.fixture_id)
    play.world.fixtures.ready = (play.fixture_id,)
    play.world.api.live[play.fixture_id] = raw_fixture(play.fixture_id, raw_goal())
    return await play.ended(MonitorWorkflow, MonitorWorkflowInput(policy=POLICY))


async def polled_again(play: Play) -> Handle:
    """A search that was asked for before and does not run yet."""
    play.goal()
    play.world.goals.all[play.event_id].asked = True
    play.world.fixtures.active.add(play.fixture_id)
    play.world.api.live[play.fixture_id] = raw_fixture(play.fixture_id, raw_goal())
    return await play.ended(MonitorWorkflow, MonitorWorkflowInput(policy=POLICY))


async def named(play: Play) -> Handle:
    return await play.ended(RAGWorkflow, RAGWorkflowInput(team_id=play.fixture_id, policy=POLICY))


async def nameless(play: Play) -> Handle:
    play.world.alias_source.down = PermanentError("Planted for the recording.")
    return await play.ended(RAGWorkflow, RAGWorkflowInput(team_id=play.fixture_id, policy=POLICY))


async def searched(play: Play) -> Handle:
    world, goal = play.world, play.goal()
    world.sources[0].waves = [[world.publish(f"https://clips.example.org/{play.fixture_id}", clip("a"))]]
    return await play.ended(TwitterWorkflow, TwitterWorkflowInput(goal=goal, policy=POLICY), twitter_workflow_id(goal))


async def search_cancelled(play: Play) -> Handle:
    policy = POLICY.model_copy(update={"attempts": 1000})
    handle = await play.start(TwitterWorkflow, TwitterWorkflowInput(goal=play.goal(), policy=policy))
    await until(lambda: play.world.sources[0].requests)
    await handle.cancel()
    try:
        await handle.result()
    except WorkflowFailureError:
        return handle
    return handle


def _candidates(play: Play, *files: bytes) -> tuple[int, ...]:
    numbers = []
    for number, content in enumerate(files):
        url = f"https://clips.example.org/{play.fixture_id}-{number}"
        play.world.publish(url, content)
        numbers.append(play.world.candidates.plant(play.event_id, url))
    return tuple(numbers)


async def downloaded(play: Play) -> Handle:
    """Two equal files, one of a wrong minute and one too short."""
    goal = play.goal()
    numbers = _candidates(play, clip("a"), clip("a"), clip("b", clock="71:00"), clip("c", duration=1.0))
    input = DownloadWorkflowInput(goal=goal, attempt=1, candidate_ids=numbers, policy=POLICY)
    return await play.ended(DownloadWorkflow, input)


async def download_cancelled(play: Play) -> Handle:
    goal = play.goal()
    play.world.downloader.hold = asyncio.Event()
    numbers = _candidates(play, clip("a"))
    input = DownloadWorkflowInput(goal=goal, attempt=1, candidate_ids=numbers, policy=POLICY)
    handle = await play.start(DownloadWorkflow, input)
    await play.world.downloader.arrived.wait()
    await handle.cancel()
    try:
        await handle.result()
    except WorkflowFailureError:
        play.world.downloader.hold.set()
    return handle


async def download_taken_apart(play: Play) -> Handle:
    """Fetching and judging fail for all files together, so that each file is fetched and judged alone."""
    goal = play.goal()
    play.world.goals.stumbles = {name: [PermanentError("Planted.")] for name in ("removal_reason", "load_minute")}
    numbers = _candidates(play, clip("a"), clip("b", note="cat"))
    input = DownloadWorkflowInput(goal=goal, attempt=1, candidate_ids=numbers, policy=POLICY)
    return await play.ended(DownloadWorkflow, input)


async def judged_apart(play: Play) -> Handle:
    goal = play.goal()
    play.world.goals.stumbles = {"load_minute": [PermanentError("Planted.")]}
    input = DownloadWorkflowInput(goal=goal, attempt=1, candidate_ids=_candidates(play, clip("a")), policy=POLICY)
    return await play.ended(DownloadWorkflow, input)


async def downloaded_nothing(play: Play) -> Handle:
    return await play.ended(DownloadWorkflow, DownloadWorkflowInput(goal=play.goal(), attempt=1, candidate_ids=()))


async def uploaded_apart(play: Play) -> Handle:
    play.world.clips.trouble = [PermanentError("Planted.")]
    return await uploaded(play)


async def uploaded(play: Play) -> Handle:
    """Through real downloads: a clip, a better copy of it, a worse one, and a batch without videos."""
    goal = play.goal()
    for attempt, files in enumerate(([clip("a")], [clip("a", size=5000), clip("b")], [clip("a", size=10)], []), 1):
        numbers = tuple(
            number
            for content in files
            for number in _plant(play, f"{attempt}-{len(content)}-{files.index(content)}", content)
        )
        input = DownloadWorkflowInput(goal=goal, attempt=attempt, candidate_ids=numbers, policy=POLICY)
        await play.ended(DownloadWorkflow, input)
    handle = play.client.get_workflow_handle(upload_workflow_id(play.event_id))
    await handle.result()
    return handle


def _plant(play: Play, name: str, content: bytes) -> tuple[int, ...]:
    url = f"https://clips.example.org/{play.fixture_id}-{name}"
    play.world.publish(url, content)
    return (play.world.candidates.plant(play.event_id, url),)


async def upload_continued(play: Play) -> Handle:
    """The first run, which hands a queue to the next one."""
    play.goal()
    policy = POLICY.model_copy(update={"batches_per_run": 1})
    state = UploadWorkflowInput(fixture_id=play.fixture_id, event_id=play.event_id).state
    queue = tuple(Batch(batch_id=f"download{number}") for number in range(3))
    input = UploadWorkflowInput(
        fixture_id=play.fixture_id,
        event_id=play.event_id,
        policy=policy,
        state=state.model_copy(update={"queue": queue, "heard": tuple(batch.batch_id for batch in queue)}),
    )
    handle = await play.start(UploadWorkflow, input)
    await handle.result()
    assert handle.first_execution_run_id is not None
    return play.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)


async def kept_up(play: Play) -> Handle:
    return await play.ended(UpkeepWorkflow, UpkeepWorkflowInput(policy=POLICY))


CASES: tuple[tuple[type, str, Callable[[Play], Awaitable[Handle]]], ...] = (
    (IngestWorkflow, "completed", ingested),
    (IngestWorkflow, "by-hand", ingested_by_hand),
    (MonitorWorkflow, "completed", polled),
    (MonitorWorkflow, "asked-before", polled_again),
    (RAGWorkflow, "completed", named),
    (RAGWorkflow, "failed", nameless),
    (TwitterWorkflow, "exhausted", searched),
    (TwitterWorkflow, "cancelled", search_cancelled),
    (DownloadWorkflow, "completed", downloaded),
    (DownloadWorkflow, "cancelled", download_cancelled),
    (UploadWorkflow, "completed", uploaded),
    (UploadWorkflow, "continued-as-new", upload_continued),
    (UpkeepWorkflow, "completed", kept_up),
    # Since the steps of an attempt, a download and a batch are taken at once.
    (TwitterWorkflow, "at-once-exhausted", searched),
    (TwitterWorkflow, "at-once-cancelled", search_cancelled),
    (DownloadWorkflow, "at-once-completed", downloaded),
    (DownloadWorkflow, "at-once-cancelled", download_cancelled),
    (DownloadWorkflow, "at-once-empty", downloaded_nothing),
    (DownloadWorkflow, "taken-apart", download_taken_apart),
    (DownloadWorkflow, "judged-apart", judged_apart),
    (UploadWorkflow, "at-once-completed", uploaded),
    (UploadWorkflow, "at-once-continued-as-new", upload_continued),
    (UploadWorkflow, "taken-apart", uploaded_apart),
)


@asynccontextmanager
async def playing(client: Client, fixture_id: int) -> AsyncIterator[Play]:
    """A fresh world and three workers on it. Ids hold the fixture's, so cases do not meet."""
    world, queue = FakeWorld(), f"record-{secrets.token_hex(4)}"
    workflows = TemporalWorkflows(client, queue, POLICY)

    def worker(queue: str, activities: list[Callable[..., Any]], types: list[type]) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            workflows=types,
            activities=activities,
            interceptors=[ErrorInterceptor()],
            workflow_failure_exception_types=[PressboxError],
        )

    types = [workflow for group in APP.workflows().values() for workflow in group]
    async with (
        worker(queue, world.plain_activities(workflows), types),
        worker(clips_queue(queue), world.clips_activities(workflows), []),
        worker(media_queue(queue), world.media_activities(workflows), []),
    ):
        yield Play(client, queue, world, workflows, fixture_id)
