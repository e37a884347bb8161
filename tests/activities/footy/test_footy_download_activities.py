"""What an activity records itself, what it raises, and that it can be repeated."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import ConfigurationError, PermanentError, TransientError
from pressbox.core.temporal.calls import CallOptions, call_options
from pressbox.footy.activities.clip_inspector import ClipInspector
from pressbox.footy.activities.download import DownloadActivities, ValidationActivities
from pressbox.footy.activities.files import FrameHeartbeat
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.upload import UploadActivities
from pressbox.footy.contracts.download import (
    Batch,
    DownloadVideoInput,
    QueueVideosInput,
    ValidateVideoInput,
    Video,
    VideoInput,
)
from pressbox.footy.contracts.upload import (
    BumpPopularityInput,
    Duplicate,
    SaveVideosInput,
    UpdateInPlaceInput,
    UploadedVideo,
)
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.policy import FootyPolicy
from tests.architecture.test_registration import ACTIVITIES
from tests.fakes.footy import FakeWorld, clip

EVENT = "7_40_234_Goal_1"
PAGE = "https://clips.example.org/1"


class Mailbox:
    """Keeps what the upload is sent."""

    def __init__(self, world: FakeWorld) -> None:
        self.batches: list[Batch] = []
        self.finished_before: list[bool] = []
        self._world = world

    async def add_videos(self, fixture_id: int, event_id: str, batch: Batch, policy: FootyPolicy) -> None:
        rows = self._world.goals.all[event_id].downloads
        self.finished_before.append(rows[batch.batch_id] is not None)
        self.batches.append(batch)


class Setting:
    def __init__(self, content: bytes | Exception = b"") -> None:
        self.world = FakeWorld()
        self.world.goals.plant(EVENT, 7)
        self.world.publish(PAGE, content)
        self.candidate_id = self.world.candidates.plant(EVENT, PAGE)
        self.mailbox = Mailbox(self.world)
        world = self.world
        self.download = DownloadActivities(
            world.goals,
            world.candidates,
            world.downloader,
            world.media,
            world.objects,
        )
        self.ending = HandOverActivities(
            world.goals,
            world.candidates,
            world.objects,
            self.mailbox,  # type: ignore[arg-type]
        )
        self.validation = ValidationActivities(
            world.goals, world.candidates, world.media, world.objects, ClipInspector(world.media, world.judge)
        )
        self.upload = UploadActivities(world.clips, world.candidates, world.objects)

    @property
    def row(self) -> tuple[CandidateOutcome, str]:
        found = self.world.candidates.all[self.candidate_id]
        return found.outcome, found.reason

    async def run(self, activity: Any, input: Any, attempt: int = 1) -> Any:
        environment = ActivityEnvironment()
        policy = call_options(activity).config["retry_policy"]
        environment.info = replace(environment.info, attempt=attempt, retry_policy=policy)
        return await environment.run(activity, input)

    async def fetch(self, attempt: int = 1) -> Any:
        wanted = DownloadVideoInput(event_id=EVENT, fixture_id=7, candidate_id=self.candidate_id)
        return await self.run(self.download.download_single_video, wanted, attempt)

    async def video(self) -> Video:
        video: Video = (await self.fetch()).video
        return video


def declared_calls() -> dict[str, CallOptions]:
    world = FakeWorld()
    mailbox: Any = Mailbox(world)
    activities = (
        *world.plain_activities(mailbox),
        *world.clips_activities(mailbox),
        *world.media_activities(mailbox),
    )
    return {activity.__name__: call_options(activity) for activity in activities}


def test_every_activity_says_how_it_is_called_and_on_which_queue() -> None:
    registered = {name: queue for queue in ("footy", "footy-clips", "footy-media") for name in ACTIVITIES[queue]}
    queues = {name: options.queue("footy") if options.queue else "footy" for name, options in declared_calls().items()}
    assert queues == registered


def test_activities_that_may_take_long_heartbeat() -> None:
    minute = timedelta(seconds=60)
    silent = [
        name
        for name, options in declared_calls().items()
        if (options.config["start_to_close_timeout"] or minute) > minute and not options.config["heartbeat_timeout"]
    ]
    assert silent == []
    assert declared_calls()["execute_twitter_search"].config["heartbeat_timeout"] == timedelta(seconds=15)


async def test_a_site_that_does_not_answer_is_tried_again_and_then_recorded() -> None:
    setting = Setting(TransientError("The site does not answer."))
    with pytest.raises(TransientError):
        await setting.fetch(attempt=2)
    assert setting.row == (CandidateOutcome.CHOSEN, "")
    found = await setting.fetch(attempt=3)
    assert found.outcome is CandidateOutcome.DOWNLOAD_FAILED
    assert setting.row == (CandidateOutcome.DOWNLOAD_FAILED, "The site does not answer.")


async def test_a_repeated_download_overwrites_its_own_file() -> None:
    setting = Setting(clip("a"))
    first, second = await setting.video(), await setting.video()
    assert first == second
    assert list(setting.world.objects.all) == [f"scratch/footy/7/{EVENT}/{setting.candidate_id}.video"]


async def test_a_settled_candidate_is_not_downloaded_again() -> None:
    setting = Setting(clip("a"))
    setting.world.candidates.all[setting.candidate_id].outcome = CandidateOutcome.STORED
    assert (await setting.fetch()).video is None
    assert setting.world.objects.all == {}


async def test_a_file_that_cannot_be_decoded_is_not_a_video() -> None:
    setting = Setting(clip("a"))

    async def crash(path: Path, progress: Path | None = None) -> bytes:
        raise PermanentError("The decoder crashed on it.")

    video = await setting.video()
    setting.world.media.fingerprint = crash  # type: ignore[method-assign]
    wanted = VideoInput(event_id=EVENT, fixture_id=7, video=video)
    assert (await setting.run(setting.validation.generate_video_hash, wanted)).video is None
    assert setting.row == (CandidateOutcome.NOT_A_VIDEO, "The decoder crashed on it.")


async def test_a_clip_that_an_earlier_attempt_hashed_is_not_hashed_again() -> None:
    setting = Setting(clip("a"))
    wanted = VideoInput(event_id=EVENT, fixture_id=7, video=await setting.video())
    first = await setting.run(setting.validation.generate_video_hash, wanted)
    setting.world.media.fingerprint = None  # type: ignore[method-assign, assignment]
    assert await setting.run(setting.validation.generate_video_hash, wanted, attempt=2) == first


async def test_hashing_heartbeats_the_number_of_frames(tmp_path: Path) -> None:
    heartbeat, heard = FrameHeartbeat(tmp_path / "frames", every_seconds=0.01), asyncio.Queue[int]()

    async def hash_slowly() -> int:
        async with heartbeat:
            before = await heard.get()
            heartbeat.progress.write_text("75")
            while (now := await heard.get()) == before:
                pass
            return now

    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda details: heard.put_nowait(details.frames)
    assert await environment.run(hash_slowly) == 75


@pytest.mark.parametrize("trouble", [TransientError("does not answer"), ConfigurationError("wrong key")])
async def test_a_judge_that_is_down_is_asked_again_and_then_leaves_the_clip_unverified(trouble: Exception) -> None:
    setting = Setting(clip("a", clock="71:00"))
    setting.world.judge.down = trouble  # type: ignore[assignment]
    wanted = ValidateVideoInput(event_id=EVENT, video=await setting.video())
    with pytest.raises(TransientError, match="fake"):
        await setting.run(setting.validation.validate_video_is_soccer, wanted, attempt=3)
    found = (await setting.run(setting.validation.validate_video_is_soccer, wanted, attempt=4)).video
    assert (found.timestamp_status, found.timestamp_verified, found.checked) == (
        TimestampStatus.NOT_CHECKED,
        False,
        False,
    )
    assert setting.row == (CandidateOutcome.CHOSEN, "")


async def test_a_clip_is_judged_again_when_the_minute_is_corrected_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(clip("a", clock="94:20"))
    wanted = ValidateVideoInput(event_id=EVENT, video=await setting.video())
    minutes = iter([(90, 0), (90, 5), (90, 5)])

    async def load_minute(event_id: str) -> tuple[int, int]:
        return next(minutes)

    monkeypatch.setattr(setting.world.goals, "load_minute", load_minute)
    with pytest.raises(TransientError, match="corrected"):
        await setting.run(setting.validation.validate_video_is_soccer, wanted)
    assert setting.row == (CandidateOutcome.CHOSEN, "")
    assert (await setting.run(setting.validation.validate_video_is_soccer, wanted)).video.timestamp_verified


async def test_the_register_is_finished_before_the_upload_is_told() -> None:
    setting = Setting(clip("a"))
    goal = (await setting.world.goals.claim_searches(FootyPolicy(), 1, lambda team, player: (team, player)))[0]
    queue = QueueVideosInput(goal=goal, workflow_id="download1", outcome="finished", videos=(await setting.video(),))
    for _ in range(2):
        await setting.run(setting.ending.queue_videos_for_upload, queue)
    assert setting.mailbox.finished_before == [True, True]
    assert {batch.batch_id for batch in setting.mailbox.batches} == {"download1"}
    assert setting.row[0] is CandidateOutcome.READY


async def test_storing_replacing_and_counting_can_be_repeated() -> None:
    setting = Setting(clip("a"))
    world, video = setting.world, await setting.video()
    key = f"clips/7/{EVENT}/{video.md5}"
    uploaded = UploadedVideo(video=video, object_key=f"{key}.mp4", poster_key=f"{key}.jpg")
    for name in (uploaded.object_key, uploaded.poster_key):
        await world.objects.put(name, b"file")
    save = SaveVideosInput(event_id=EVENT, uploaded=(uploaded,))
    stored = [await setting.run(setting.upload.save_video_objects, save) for _ in range(2)]
    assert stored[0] == stored[1]
    for activity, input in (
        (setting.upload.update_video_in_place, UpdateInPlaceInput(event_id=EVENT, clip_id=1, uploaded=uploaded)),
        (
            setting.upload.bump_video_popularity,
            BumpPopularityInput(event_id=EVENT, duplicates=(Duplicate(video=video, clip_id=1),)),
        ),
    ):
        for _ in range(2):
            await setting.run(activity, input)
    assert world.clips.popularity(1) == 1
    # The same file again must not be deleted as its own predecessor.
    assert uploaded.object_key in world.objects.all
