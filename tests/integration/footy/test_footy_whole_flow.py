"""Poll, search, download, judge, compare and store on real parts: only the API and the site of the clips are ours."""

import asyncio
import json
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import PressboxError
from pressbox.core.spoilers.choice import SEES_ALL
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene
from pressbox.footy.adapters.clip_files import ClipFiles
from pressbox.footy.adapters.goal_reader import GoalReader
from pressbox.footy.adapters.workflows import TemporalWorkflows
from pressbox.footy.contracts.ingest import IngestWorkflowInput
from pressbox.footy.contracts.monitor import MonitorWorkflowInput
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ids import clips_queue, media_queue, upload_workflow_id
from pressbox.footy.manifest import APP
from pressbox.footy.settings import AliasKind, FootySettings
from pressbox.footy.wiring import clip_activities, media_activities, polling_activities
from tests.conftest import open_test_resources
from tests.fakes.footy import LIVERPOOL, PLAYER, FakeApi, raw_fixture, raw_goal

POLICY = FootyPolicy(
    end_patience=timedelta(0),
    attempts=2,
    attempt_interval=timedelta(milliseconds=500),
    attempt_pause=timedelta(milliseconds=500),
    upload_idle=timedelta(seconds=2),
    search_age=timedelta(hours=1),
)


def clips(folder: Path) -> None:
    """Three copies of the goal, another goal's clip, and a street."""
    spec = ClipSpec(seed=1, clock_start=22 * 60 + 5, duration=4.0)
    shown = make_clip(spec)
    files = {
        "goal": shown,
        "goal-small": disguise(shown, Disguise.LOW_QUALITY),
        "other-minute": make_clip(ClipSpec(seed=9, clock_start=71 * 60, duration=4.0)),
        "street": make_clip(ClipSpec(seed=3, scene=Scene.STREET, duration=4.0)),
        "page": b"<html>not a video</html>",
    }
    for name, content in files.items():
        (folder / f"{name}.mp4").write_bytes(content)
        about = {"text": "Szoboszlai scores for Liverpool!", "posted_at": datetime.now(UTC).isoformat()}
        (folder / f"{name}.json").write_text(json.dumps({**about, "duration_seconds": 4.0}))


class Day:
    def __init__(self, resources: Resources, client: Client) -> None:
        self.queue = f"test-{secrets.token_hex(4)}"
        self.api, self.client = FakeApi(), client
        self.fixture_id = secrets.randbelow(10**9) + 1
        self.workflows = TemporalWorkflows(client, self.queue, POLICY)
        self._resources = resources

    def workers(self) -> tuple[Worker, Worker, Worker]:
        resources, workflows = self._resources, self.workflows
        plain, clips = clip_activities(resources, workflows)
        return (
            self._worker(self.queue, [*polling_activities(resources, self.api, workflows), *plain], True),
            self._worker(clips_queue(self.queue), clips, False),
            self._worker(media_queue(self.queue), media_activities(resources, workflows), False),
        )

    def _worker(self, queue: str, activities: Sequence[Callable[..., object]], with_workflows: bool) -> Worker:
        return Worker(
            self.client,
            task_queue=queue,
            workflows=[each for group in APP.workflows().values() for each in group] if with_workflows else [],
            activities=activities,
            interceptors=[ErrorInterceptor()],
            workflow_failure_exception_types=[PressboxError],
        )

    async def run(self, workflow: str, input: IngestWorkflowInput | MonitorWorkflowInput) -> dict[str, object]:
        found: dict[str, object] = await self.client.execute_workflow(
            workflow,
            input,
            id=f"{workflow}-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
        return found

    async def poll(self, *goals: dict[str, object], status: str = "1H") -> dict[str, object]:
        self.api.live[self.fixture_id] = raw_fixture(self.fixture_id, *goals, status=status)
        return await self.run("MonitorWorkflow", MonitorWorkflowInput(policy=POLICY))


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_a_goal_goes_from_the_first_poll_to_ranked_clips_and_the_match_to_the_archive(
    settings: Settings, database: Database, temporal: Client, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    await asyncio.to_thread(clips, archive)
    footy = FootySettings(api_key=SecretStr("a key"), folder=str(archive), aliases=AliasKind.CLUBS)
    settings = settings.with_group(footy)
    async with open_test_resources(settings, database, temporal) as resources:
        day = Day(resources, temporal)
        plain, clips_of_goals, media = day.workers()
        async with plain, clips_of_goals, media:
            await play(day, resources)


async def play(day: Day, resources: Resources) -> None:
    day.api.live[day.fixture_id] = raw_fixture(day.fixture_id, status="1H")
    stored = await day.run("IngestWorkflow", IngestWorkflowInput(fixture_ids=(day.fixture_id,), policy=POLICY))
    assert (stored["active"], stored["aliases"]) == (1, 2)
    polls = [await day.poll(raw_goal()) for _ in range(3)]
    assert [poll["goals_created"] for poll in polls] == [1, 0, 0]
    assert [poll["searches_started"] for poll in polls] == [0, 0, 1]
    event_id = f"{day.fixture_id}_{LIVERPOOL}_{PLAYER}_Goal_1"
    search = f"twitter-Liverpool-D-Szoboszlai-23min-{event_id}"
    assert (await day.client.get_workflow_handle(search).result())["ended"] == "attempts exhausted"
    for workflow_id in (f"download1-Liverpool-D-Szoboszlai-{event_id}", upload_workflow_id(event_id)):
        await day.client.get_workflow_handle(workflow_id).result()

    goals = GoalReader(resources.database, SEES_ALL)
    (shown,) = (await goals.load_goal(event_id)).clips
    assert shown.timestamp_verified
    assert shown.popularity == 2
    file = await ClipFiles(resources.database, SEES_ALL).find(shown.share_id)
    assert (await resources.objects.info(file.object_key)) is not None
    candidates = (await goals.load_candidates(event_id)).items
    outcomes = sorted(str(candidate.outcome) for candidate in candidates)
    assert outcomes in (
        ["duplicate", "not a video", "not football", "stored", "wrong minute"],
        ["not a video", "not football", "replaced a worse copy", "stored", "wrong minute"],
    )

    ended = [await day.poll(raw_goal(), status="FT") for _ in range(POLICY.polls_to_end)]
    assert sum(int(str(poll["fixtures_completed"])) for poll in ended) == 1
    assert [item.key async for item in resources.objects.list("scratch")] == []
