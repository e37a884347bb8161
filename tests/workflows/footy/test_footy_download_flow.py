"""Downloads: registered first, finished on every way out."""

import asyncio
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from pressbox.core.errors import PermanentError, RefusedAddressError, TransientError
from pressbox.footy.contracts.download import DownloadWorkflowInput
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.errors import NotAVideoError, TooLargeError
from pressbox.footy.ids import download_workflow_id, upload_workflow_id
from pressbox.footy.workflows.download import DownloadWorkflow
from tests.fakes.footy import FakeWorld, clip
from tests.waiting import until
from tests.workflows.footy.conftest import Stage, media_worker, staged

PAGE = "https://clips.example.org/{}"


def plant(stage: Stage, *files: bytes | Exception) -> tuple[int, ...]:
    stage.goal()
    numbers = []
    for content in files:
        url = PAGE.format(len(stage.world.candidates.all))
        stage.world.publish(url, content)
        numbers.append(stage.world.candidates.plant(stage.event_id, url))
    return tuple(numbers)


async def begin(stage: Stage, numbers: tuple[int, ...], attempt: int = 1) -> WorkflowHandle[Any, Any]:
    goal = stage.goal()
    input = DownloadWorkflowInput(goal=goal, attempt=attempt, candidate_ids=numbers, policy=stage.policy)
    return await stage.start(DownloadWorkflow, input, download_workflow_id(goal, attempt))


async def uploaded(stage: Stage) -> None:
    await stage.client.get_workflow_handle(upload_workflow_id(stage.event_id)).result()


async def test_every_candidate_has_its_own_outcome(stage: Stage) -> None:
    numbers = plant(
        stage,
        clip("a"),
        clip("b", duration=2.0),
        clip("c", duration=90.0),
        clip("d", clock="71:00"),
        clip("e", note="cat"),
        NotAVideoError("a page"),
        TooLargeError("4 GB"),
        RefusedAddressError("a private address"),
        b"<html>",
    )
    # The fake downloader reads sizes from JSON; this one is no JSON and is found out by the decoder.
    stage.world.downloader.files[PAGE.format(8)] = NotAVideoError("HTML")
    found = await (await begin(stage, numbers)).result()
    await uploaded(stage)
    outcomes = [stage.world.candidates.all[number].outcome.value for number in numbers]
    assert outcomes == [
        "stored", "too short", "too long", "wrong minute", "not football", "not a video", "too large",
        "refused address", "not a video",
    ]  # fmt: skip
    assert "71" in stage.world.candidates.all[numbers[3]].reason
    assert (found["downloaded"], found["queued"]) == (3, 1)
    assert not [key for key in stage.world.objects.all if key.endswith(f"/{numbers[3]}.video")]


async def test_equal_files_of_a_batch_are_one_clip_that_was_found_twice(stage: Stage) -> None:
    numbers = plant(stage, clip("a"), clip("a"), clip("b"))
    await (await begin(stage, numbers)).result()
    await uploaded(stage)
    world = stage.world
    assert world.candidates.all[numbers[1]].outcome is CandidateOutcome.SAME_FILE
    assert sorted(world.clips.popularity(key) for key in world.clips.all) == [1, 2]
    assert world.judge.asked == 2


async def test_a_download_without_candidates_is_registered_and_finished(stage: Stage) -> None:
    await (await begin(stage, ())).result()
    assert list(stage.world.goals.all[stage.event_id].downloads.values()) == ["finished"]
    await uploaded(stage)


async def test_a_cancelled_download_finishes_its_row_and_tells_the_upload(stage: Stage) -> None:
    stage.world.downloader.hold = asyncio.Event()
    numbers = plant(stage, clip("a"), clip("b"))
    handle = await begin(stage, numbers)
    await stage.world.downloader.arrived.wait()
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    stage.world.downloader.hold.set()
    assert list(stage.world.goals.all[stage.event_id].downloads.values()) == ["it was cancelled"]
    assert {stage.world.candidates.all[number].outcome for number in numbers} == {CandidateOutcome.DOWNLOAD_FAILED}
    await uploaded(stage)


async def test_a_cancellation_during_the_last_step_lets_it_end(stage: Stage) -> None:
    stage.world.goals.hold = asyncio.Event()
    numbers = plant(stage, clip("a"))
    handle = await begin(stage, numbers)
    await stage.world.goals.finishing.wait()
    await handle.cancel()
    stage.world.goals.hold.set()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    await uploaded(stage)
    assert list(stage.world.goals.all[stage.event_id].downloads.values()) == ["finished"]
    assert stage.world.candidates.all[numbers[0]].outcome is CandidateOutcome.STORED


async def test_a_goal_that_is_gone_settles_its_candidates(stage: Stage) -> None:
    numbers = plant(stage, clip("a"))
    stage.world.goals.all[stage.event_id].removed = True
    await (await begin(stage, numbers)).result()
    assert stage.world.candidates.all[numbers[0]].outcome is CandidateOutcome.GOAL_GONE
    assert list(stage.world.goals.all[stage.event_id].downloads.values()) == ["the goal is gone"]


async def test_a_download_waits_for_a_worker_that_reads_videos(temporal: Client) -> None:
    async with staged(temporal, FakeWorld(), with_media=False) as stage:
        numbers = plant(stage, clip("a"))
        handle = await begin(stage, numbers)
        await until(lambda: any(key.startswith("scratch/") for key in stage.world.objects.all))
        assert stage.world.candidates.all[numbers[0]].outcome is CandidateOutcome.CHOSEN
        async with media_worker(stage):
            await handle.result()
            await uploaded(stage)
        assert stage.world.candidates.all[numbers[0]].outcome is CandidateOutcome.STORED


async def activities_of(stage: Stage, workflow_id: str) -> list[str]:
    history = await stage.client.get_workflow_handle(workflow_id).fetch_history()
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


async def test_a_download_is_two_activities_however_many_files_it_has(stage: Stage) -> None:
    handle = await begin(stage, plant(stage, *(clip(f"s{number}") for number in range(5))))
    assert (await handle.result())["queued"] == 5
    assert await activities_of(stage, handle.id) == ["fetch_clips", "inspect_clips"]


async def test_files_that_fail_together_are_fetched_one_by_one_and_the_goal_is_asked_for_once(stage: Stage) -> None:
    """The document gives this question one try; the upload asks again."""
    stumbles = [PermanentError("Planted."), TransientError("The database does not answer.")]
    stage.world.goals.stumbles = {"removal_reason": stumbles}
    numbers = plant(stage, clip("a"), clip("b"))
    handle = await begin(stage, numbers)
    assert (await handle.result())["queued"] == 2
    await uploaded(stage)
    assert stumbles == []
    done = await activities_of(stage, handle.id)
    assert done[0] == "fetch_clips"
    assert (done.count("check_event_exists"), done.count("download_single_video")) == (1, 2)
    assert {stage.world.candidates.all[number].outcome for number in numbers} == {CandidateOutcome.STORED}


async def test_files_that_fail_together_are_judged_one_by_one(stage: Stage) -> None:
    stage.world.goals.stumbles = {"load_minute": [PermanentError("Planted.")]}
    numbers = plant(stage, clip("a"), clip("b", note="cat"))
    handle = await begin(stage, numbers)
    assert (await handle.result())["queued"] == 1
    await uploaded(stage)
    assert (await activities_of(stage, handle.id)).count("validate_video_is_soccer") == 2
    outcomes = [stage.world.candidates.all[number].outcome for number in numbers]
    assert outcomes == [CandidateOutcome.STORED, CandidateOutcome.NOT_FOOTBALL]


async def test_a_file_that_comes_at_the_second_try_does_not_fetch_the_others_again(stage: Stage) -> None:
    numbers = plant(stage, clip("a"), clip("b"))
    late = PAGE.format(1)
    content = stage.world.downloader.files[late]
    stage.world.downloader.files[late] = TransientError("Too many requests.")
    handle = await begin(stage, numbers)
    await until(lambda: stage.world.downloader.asked[late])
    stage.world.downloader.files[late] = content
    assert (await handle.result())["queued"] == 2
    assert stage.world.downloader.asked[PAGE.format(0)] == 1
    assert stage.world.downloader.asked[late] > 1
