"""Uploads: one goal, one batch after the other, the same scenes whatever the order."""

import asyncio
import hashlib
import json
import random

import pytest
from temporalio.client import Client

from pressbox.core.errors import PermanentError, TransientError
from pressbox.footy.activities.files import FINGERPRINT, VIDEO
from pressbox.footy.contracts.download import Batch, Video
from pressbox.footy.contracts.upkeep import UpkeepWorkflowInput
from pressbox.footy.contracts.upload import UploadState, UploadWorkflowInput
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.ids import scratch_key, upload_workflow_id
from pressbox.footy.workflows.upkeep import UpkeepWorkflow
from pressbox.footy.workflows.upload import UploadWorkflow
from tests.fakes.footy import FakeWorld, clip
from tests.workflows.footy.conftest import Stage, staged

# Ends of a chain do not match each other; copies differ in length and size, so that the best one is not the last.
CHAIN = [
    clip("a", duration=10, size=500),
    clip("a", "b", duration=9, size=800),
    clip("b", "c", duration=10.5, size=600),
    clip("c", duration=10.7, size=100),
    clip("z", duration=8, size=300),
]


async def ready(stage: Stage, content: bytes, *, verified: bool = True, checked: bool = True) -> Video:
    """A video as a download leaves it."""
    stage.goal()
    world = stage.world
    number = world.candidates.plant(
        stage.event_id, f"https://clips.example.org/{len(world.candidates.all)}", CandidateOutcome.READY
    )
    facts = json.loads(content)
    keys = [scratch_key(stage.fixture_id, stage.event_id, number, suffix) for suffix in (VIDEO, FINGERPRINT)]
    for key in keys:
        await world.objects.put(key, content)
    return Video(
        candidate_id=number,
        scratch_key=keys[0],
        fingerprint_key=keys[1],
        md5=hashlib.md5(content).hexdigest(),
        duration_seconds=facts["duration"],
        width=1280,
        height=720,
        bitrate=1000,
        file_size=facts["size"],
        checked=checked,
        timestamp_verified=verified,
        timestamp_status=TimestampStatus.VERIFIED if verified else TimestampStatus.NOT_CHECKED,
    )


async def send(stage: Stage, name: str, *videos: Video) -> None:
    await stage.workflows.add_videos(
        stage.fixture_id, stage.event_id, Batch(batch_id=name, videos=videos), stage.policy
    )


async def ended(stage: Stage) -> dict[str, int]:
    found: dict[str, int] = await stage.client.get_workflow_handle(upload_workflow_id(stage.event_id)).result()
    return found


async def test_a_copy_that_only_its_film_shows_joins_its_scene_and_says_why(stage: Stage) -> None:
    whole, turned = [
        await ready(stage, clip(name, size=size, hidden=["goal"])) for name, size in (("a", 900), ("b", 500))
    ]
    stranger = await ready(stage, clip("c", size=400, hidden=["other goal"]))
    for number, video in enumerate((whole, turned, stranger)):
        await send(stage, f"download{number}", video)
    result = await ended(stage)
    assert (result["stored"], result["duplicates"]) == (2, 1)
    row = stage.world.candidates.all[turned.candidate_id]
    assert row.outcome is CandidateOutcome.DUPLICATE
    assert row.reason == f"same scene as candidate {whole.candidate_id}, seen through a turn of 5 degrees"


async def test_films_are_compared_only_where_hashes_found_nothing(stage: Stage) -> None:
    videos = [await ready(stage, clip("a", size=size)) for size in (900, 500, 400)]
    await send(stage, "download1", *videos[:2])
    await send(stage, "download2", videos[2])
    await ended(stage)
    assert stage.world.media.seen_through == 0


async def test_new_better_and_worse_copies_of_a_scene_share_one_slot(stage: Stage) -> None:
    first, better, worse = [await ready(stage, clip("a", size=size)) for size in (500, 900, 300)]
    for number, video in enumerate((first, better, worse)):
        await send(stage, f"download{number}", video)
    result = await ended(stage)
    world = stage.world
    (shown,) = world.clips.all.values()
    assert (shown.uploaded.video.md5, shown.share_id) == (better.md5, "share1")
    assert (result["stored"], result["replaced"], result["duplicates"]) == (1, 1, 1)
    assert world.clips.popularity(shown.clip_id) == 3
    assert [world.candidates.all[each.candidate_id].outcome for each in (first, better, worse)] == [
        CandidateOutcome.STORED,
        CandidateOutcome.REPLACED,
        CandidateOutcome.DUPLICATE,
    ]
    files = [key for key in world.objects.all if key.startswith("clips/")]
    assert sorted(files) == sorted([shown.uploaded.object_key, shown.uploaded.poster_key])


@pytest.mark.parametrize("seed", range(4))
async def test_the_same_copies_give_the_same_scenes_and_best_files_in_any_order(stage: Stage, seed: int) -> None:
    order = random.Random(seed)
    contents = order.sample(CHAIN, len(CHAIN))
    videos = [await ready(stage, content) for content in contents]
    while videos:
        size = order.randint(1, 3)
        await send(stage, f"download{len(videos)}", *videos[:size])
        videos = videos[size:]
    await ended(stage)
    assert stage.world.clips.shown(stage.event_id) == {hashlib.md5(CHAIN[number]).hexdigest() for number in (2, 4)}


async def test_clips_that_turn_out_to_be_one_scene_are_merged_and_both_links_work(stage: Stage) -> None:
    ends = [await ready(stage, clip(scene)) for scene in ("a", "b")]
    await send(stage, "download1", *ends)
    bridge = await ready(stage, clip("a", "b", duration=5))
    await send(stage, "download2", bridge)
    await ended(stage)
    (kept,) = stage.world.clips.all.values()
    assert {kept.share_id, *kept.former} == {"share1", "share2"}
    assert stage.world.clips.popularity(kept.clip_id) == 3


async def test_verified_and_unverified_clips_are_not_mixed(stage: Stage) -> None:
    verified, unverified = await ready(stage, clip("a")), await ready(stage, clip("a", size=5000), verified=False)
    await send(stage, "download1", verified, unverified)
    await ended(stage)
    ranks = {row.uploaded.video.md5: row.rank for row in stage.world.clips.all.values()}
    assert ranks == {verified.md5: 1, unverified.md5: 2}


async def test_a_repeated_batch_changes_nothing(stage: Stage) -> None:
    video = await ready(stage, clip("a"))
    await send(stage, "download1", video)
    await send(stage, "download1", video)
    assert (await ended(stage))["batches"] == 1
    await send(stage, "download1", video)
    assert (await ended(stage))["stored"] == 0
    assert len(stage.world.clips.all) == 1
    assert stage.world.clips.popularity(1) == 1


async def test_the_very_file_of_a_stored_clip_counts_without_being_read(stage: Stage) -> None:
    video, again = await ready(stage, clip("a")), await ready(stage, clip("a"))
    await send(stage, "download1", video)
    await send(stage, "download2", again)
    assert (await ended(stage))["duplicates"] == 1
    assert stage.world.clips.popularity(1) == 2


async def test_a_file_that_cannot_be_stored_gives_way_to_the_next_best(stage: Stage) -> None:
    stage.world.media.unplayable = {"odd"}
    best, next_best = await ready(stage, clip("a", size=900, note="odd")), await ready(stage, clip("a", size=500))
    other = await ready(stage, clip("b"))
    await send(stage, "download1", best, next_best, other)
    await ended(stage)
    assert stage.world.clips.shown(stage.event_id) == {next_best.md5, other.md5}
    row = stage.world.candidates.all[best.candidate_id]
    assert (row.outcome, row.reason) == (CandidateOutcome.NOT_A_VIDEO, "No browser plays this.")


async def test_a_goal_that_is_gone_stores_nothing(stage: Stage) -> None:
    video = await ready(stage, clip("a"))
    stage.world.goals.all[stage.event_id].removed = True
    await send(stage, "download1", video)
    await ended(stage)
    assert stage.world.clips.all == {}
    assert stage.world.candidates.all[video.candidate_id].outcome is CandidateOutcome.GOAL_GONE
    assert stage.world.objects.all == {}


async def test_a_database_that_is_away_longer_than_the_tries_costs_no_clip(stage: Stage) -> None:
    stage.world.clips.trouble = [TransientError("The database does not answer.")] * 3
    video = await ready(stage, clip("a"))
    await send(stage, "download1", video)
    await ended(stage)
    assert stage.world.clips.trouble == []
    assert stage.world.clips.shown(stage.event_id) == {video.md5}


async def test_continue_as_new_carries_the_queue(stage: Stage) -> None:
    stage.policy = stage.policy.model_copy(update={"batches_per_run": 2})
    videos = [await ready(stage, clip(f"s{number}")) for number in range(7)]
    handle = await stage.start(
        UploadWorkflow,
        UploadWorkflowInput(
            fixture_id=stage.fixture_id,
            event_id=stage.event_id,
            policy=stage.policy,
            state=UploadState(queue=(Batch(batch_id="download0", videos=(videos[0],)),), heard=("download0",)),
        ),
        upload_workflow_id(stage.event_id),
    )
    await asyncio.gather(*(send(stage, f"download{number}", videos[number]) for number in range(7)))
    assert (await ended(stage))["batches"] == 7
    assert len(stage.world.clips.all) == 7
    first = stage.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
    assert len((await first.fetch_history()).events) < 300


async def test_a_clip_that_waited_for_its_judge_joins_its_scene_when_it_is_verified(stage: Stage) -> None:
    known = await ready(stage, clip("a", size=900))
    waiting = await ready(stage, clip("a", size=100), verified=False, checked=False)
    await send(stage, "download1", known, waiting)
    await ended(stage)
    assert len(stage.world.clips.all) == 2
    result = await stage.run(UpkeepWorkflow, UpkeepWorkflowInput(policy=stage.policy))
    await ended(stage)
    assert result["judged"] == 1
    assert stage.world.clips.shown(stage.event_id) == {known.md5}


async def test_upkeep_names_failing_sources_and_waits_for_a_judge_that_is_down(temporal: Client) -> None:
    world = FakeWorld()
    world.judge.down = TransientError("The model does not answer.")
    world.sources[0].failure = TransientError("away")
    async with staged(temporal, world) as stage:
        await send(stage, "download1", await ready(stage, clip("a"), verified=False, checked=False))
        await ended(stage)
        result = await stage.run(UpkeepWorkflow, UpkeepWorkflowInput(policy=stage.policy))
    assert (result["judged"], result["waiting"]) == (0, 1)
    assert [answer.failure for answer in world.health.answers] == ["away"]
    assert len(world.clips.all) == 1


async def test_a_batch_that_fails_as_a_whole_is_stored_step_by_step(stage: Stage) -> None:
    stage.world.clips.trouble = [PermanentError("Planted.")]
    video = await ready(stage, clip("a"))
    await send(stage, "download1", video)
    assert (await ended(stage))["batches"] == 1
    assert stage.world.clips.trouble == []
    assert stage.world.clips.shown(stage.event_id) == {video.md5}
