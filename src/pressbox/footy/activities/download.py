"""Activities of DownloadWorkflow: fetch files into scratch storage, have them judged and take fingerprints.

A final outcome of a candidate is recorded here with its reason; only our own failures are raised.
"""

from datetime import datetime

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PermanentError, RefusedAddressError, TransientError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.clip_inspector import ClipInspector, JudgeUnavailableError
from pressbox.footy.activities.files import (
    FINGERPRINT,
    VIDEO,
    FrameHeartbeat,
    local_copy,
    working_folder,
)
from pressbox.footy.activities.limits import HOUR, limits
from pressbox.footy.contracts.download import (
    DownloadedVideo,
    DownloadVideoInput,
    RegisterDownloadInput,
    SettledCandidate,
    ValidatedVideo,
    ValidateVideoInput,
    Video,
    VideoInput,
)
from pressbox.footy.domain.candidates import CandidateOutcome, find_flaw
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.errors import NotAVideoError, TooLargeError
from pressbox.footy.ids import media_queue, scratch_key
from pressbox.footy.ports.outside import Downloader, DownloadLimits, Media
from pressbox.footy.ports.storage import Candidates, Goals


class DownloadActivities:
    """Activities on the queue `footy`."""

    def __init__(
        self,
        goals: Goals,
        candidates: Candidates,
        downloader: Downloader,
        media: Media,
        objects: ObjectStore,
        now: Clock = utc_now,
    ) -> None:
        self._goals = goals
        self._candidates = candidates
        self._downloader = downloader
        self._media = media
        self._objects = objects
        self._now = now

    @activity.defn
    @call_with(limits(30, attempts=5))
    async def register_download_workflow(self, input: RegisterDownloadInput) -> None:
        await self._goals.register_download(input.event_id, input.workflow_id, self._now())

    @activity.defn
    @call_with(limits(90, attempts=3, first_pause=2, heartbeat=20))
    async def download_single_video(self, input: DownloadVideoInput) -> DownloadedVideo:
        """Skip a candidate whose outcome is already final: an earlier attempt settled it."""
        candidate = await self._candidates.load(input.candidate_id)
        if candidate.final:
            return DownloadedVideo(candidate_id=input.candidate_id)
        limits = DownloadLimits(input.policy.largest_bytes, input.policy.download_time)
        async with working_folder() as folder, Heartbeat():
            target = folder / "clip"
            try:
                file = await self._downloader.fetch(candidate.video, target, limits)
            except PermanentError as error:
                return await self._refuse(input.candidate_id, classify_error(error), error.message)
            except TransientError as error:
                if not is_last_attempt():
                    raise
                return await self._refuse(input.candidate_id, CandidateOutcome.DOWNLOAD_FAILED, error.message)
            try:
                probe = await self._media.probe(target)
            except PermanentError as error:
                return await self._refuse(input.candidate_id, CandidateOutcome.NOT_A_VIDEO, error.message)
            if wrong := find_flaw(probe, input.policy):
                return await self._refuse(input.candidate_id, *wrong)
            key = scratch_key(input.fixture_id, input.event_id, input.candidate_id, VIDEO)
            await self._objects.put(key, target)
        video = Video(
            candidate_id=input.candidate_id,
            scratch_key=key,
            md5=file.md5,
            duration_seconds=probe.duration_seconds,
            width=probe.width,
            height=probe.height,
            bitrate=probe.bitrate,
            file_size=file.size,
            has_audio=probe.has_audio,
        )
        return DownloadedVideo(candidate_id=input.candidate_id, video=video)

    async def _refuse(self, candidate_id: int, outcome: CandidateOutcome, reason: str) -> DownloadedVideo:
        await settle_one(self._candidates, candidate_id, outcome, reason, self._now())
        return DownloadedVideo(candidate_id=candidate_id, outcome=outcome)


class ValidationActivities:
    """Activities that decode or ask a judge, on the queue `footy-media`."""

    def __init__(
        self,
        goals: Goals,
        candidates: Candidates,
        media: Media,
        objects: ObjectStore,
        inspector: ClipInspector,
        now: Clock = utc_now,
    ) -> None:
        self._goals = goals
        self._candidates = candidates
        self._media = media
        self._objects = objects
        self._inspector = inspector
        self._now = now

    @activity.defn
    @call_with(limits(90, attempts=4, first_pause=3, heartbeat=20), queue=media_queue)
    async def validate_video_is_soccer(self, input: ValidateVideoInput) -> ValidatedVideo:
        """Without an answer of the judge the clip stays "not yet checked"; it is never taken for "not football"."""
        minute = await self._goals.load_minute(input.event_id)
        video = input.video
        async with Heartbeat(), local_copy(self._objects, video.scratch_key) as path:
            try:
                inspection = await self._inspector.inspect(
                    path, video.duration_seconds, minute, input.policy.clock_tolerance
                )
            except JudgeUnavailableError as error:
                if not is_last_attempt():
                    raise TransientError(error.message) from error
                return ValidatedVideo(video=video.model_copy(update={"timestamp_status": TimestampStatus.NOT_CHECKED}))
            except PermanentError as error:
                return await self._refuse(video, CandidateOutcome.NOT_A_VIDEO, error.message)
        if inspection.outcome is CandidateOutcome.WRONG_MINUTE and minute != await self._goals.load_minute(
            input.event_id
        ):
            raise TransientError("The minute of the goal was corrected while its clip was judged.")
        if inspection.outcome is not None or inspection.check is None:
            return await self._refuse(video, inspection.outcome or CandidateOutcome.NOT_A_VIDEO, inspection.reason)
        checked = {
            "checked": True,
            "timestamp_verified": inspection.check.verified,
            "extracted_minute": inspection.check.extracted_minute,
            "timestamp_status": inspection.check.status,
        }
        return ValidatedVideo(video=video.model_copy(update=checked))

    @activity.defn
    @call_with(limits(HOUR, attempts=2, heartbeat=60), queue=media_queue)
    async def generate_video_hash(self, input: VideoInput) -> ValidatedVideo:
        key = scratch_key(input.fixture_id, input.event_id, input.video.candidate_id, FINGERPRINT)
        hashed = ValidatedVideo(video=input.video.model_copy(update={"fingerprint_key": key}))
        if await self._objects.info(key) is not None:
            # An attempt before this one hashed it and died on the way back.
            return hashed
        async with (
            working_folder() as folder,
            FrameHeartbeat(folder / "frames") as heartbeat,
            local_copy(self._objects, input.video.scratch_key) as path,
        ):
            try:
                fingerprint = await self._media.fingerprint(path, heartbeat.progress)
            except PermanentError as error:
                return await self._refuse(input.video, CandidateOutcome.NOT_A_VIDEO, error.message)
            await self._objects.put(key, fingerprint)
        return hashed

    async def _refuse(self, video: Video, outcome: CandidateOutcome, reason: str) -> ValidatedVideo:
        await settle_one(self._candidates, video.candidate_id, outcome, reason, self._now())
        return ValidatedVideo(outcome=outcome)


def classify_error(error: PermanentError) -> CandidateOutcome:
    match error:
        case RefusedAddressError():
            return CandidateOutcome.REFUSED_ADDRESS
        case TooLargeError():
            return CandidateOutcome.TOO_LARGE
        case NotAVideoError():
            return CandidateOutcome.NOT_A_VIDEO
        case _:
            return CandidateOutcome.DOWNLOAD_FAILED


def is_last_attempt() -> bool:
    info = activity.info()
    tries = info.retry_policy.maximum_attempts if info.retry_policy else 0
    return 0 < tries <= info.attempt


async def settle_one(
    candidates: Candidates, candidate_id: int, outcome: CandidateOutcome, reason: str, now: datetime
) -> None:
    await candidates.settle([SettledCandidate(candidate_id=candidate_id, outcome=outcome, reason=reason)], now)
