"""Activities that take the steps of a download together: one fetches all files, one inspects all of them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from temporalio import activity
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import ResumableHeartbeat
from pressbox.footy.activities.download import DownloadActivities, ValidationActivities
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.limits import HOUR, limits
from pressbox.footy.activities.same_files import merge_same_files
from pressbox.footy.contracts.download import (
    ClipsSoFar,
    DownloadedVideo,
    DownloadVideoInput,
    FetchClipsInput,
    FetchedClips,
    InspectClipsInput,
    InspectedClips,
    QueueVideosInput,
    RegisterDownloadInput,
    SettledCandidate,
    SettleInput,
    ValidateVideoInput,
    Video,
    VideoInput,
)
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.ids import clips_queue, media_queue
from pressbox.footy.ports.storage import Goals

FINISHED = "finished"
GONE = "the goal is gone"
# The upload may have been told already, so a cancelled download waits for what this activity did.
_INSPECTION = ActivityConfig(
    **limits(HOUR, attempts=4, first_pause=3, heartbeat=30),
    cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
)


class FetchActivities:
    """The activity on the queue `footy-clips`."""

    def __init__(self, goals: Goals, downloads: DownloadActivities, ending: HandOverActivities) -> None:
        self._goals = goals
        self._downloads = downloads
        self._ending = ending

    # Files are fetched side by side, each in its own time; a repeated attempt fetches only those that are missing.
    @activity.defn
    @call_with(limits(120, attempts=3, first_pause=2, heartbeat=20), queue=clips_queue)
    async def fetch_clips(self, input: FetchClipsInput) -> FetchedClips:
        """Register the download, fetch its files and merge equal ones. Without any file the download ends here."""
        async with ResumableHeartbeat(ClipsSoFar()) as heartbeat:
            return await self._fetch(input, heartbeat)

    async def _fetch(self, input: FetchClipsInput, heartbeat: ResumableHeartbeat[ClipsSoFar]) -> FetchedClips:
        event_id = input.goal.event_id
        await self._downloads.register_download_workflow(
            RegisterDownloadInput(event_id=event_id, workflow_id=input.workflow_id)
        )
        if (gone := await self._goals.removal_reason(event_id)) is not None:
            settled = [(number, CandidateOutcome.GOAL_GONE, gone) for number in input.candidate_ids]
            await self._settle(event_id, settled)
            return await self._end(input, FetchedClips(outcome=GONE, rejected=len(settled)))
        found = await self._fetch_files(input, heartbeat)
        videos, merged = merge_same_files(found)
        same = [(key, CandidateOutcome.SAME_FILE, f"same as candidate {kept}") for key, kept in merged.items()]
        await self._settle(event_id, same)
        fetched = FetchedClips(
            videos=tuple(videos), downloaded=len(found), rejected=len(input.candidate_ids) - len(found)
        )
        return fetched if videos else await self._end(input, fetched.model_copy(update={"outcome": FINISHED}))

    async def _fetch_files(self, input: FetchClipsInput, heartbeat: ResumableHeartbeat[ClipsSoFar]) -> Sequence[Video]:
        known = {video.candidate_id: video for video in heartbeat.cursor.videos}
        missing = [number for number in input.candidate_ids if number not in known]
        answers = await asyncio.gather(*(self._fetch_one(number, input) for number in missing), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, DownloadedVideo) and answer.video is not None:
                known[answer.candidate_id] = answer.video
        if errors := [answer for answer in answers if isinstance(answer, BaseException)]:
            heartbeat.advance(ClipsSoFar(videos=tuple(known.values())))
            raise errors[0]
        return list(known.values())

    async def _fetch_one(self, candidate_id: int, input: FetchClipsInput) -> DownloadedVideo:
        wanted = DownloadVideoInput(
            event_id=input.goal.event_id,
            fixture_id=input.goal.fixture_id,
            candidate_id=candidate_id,
            policy=input.policy,
        )
        return await self._downloads.download_single_video(wanted)

    async def _settle(self, event_id: str, settled: Sequence[tuple[int, CandidateOutcome, str]]) -> None:
        candidates = tuple(
            SettledCandidate(candidate_id=number, outcome=outcome, reason=reason) for number, outcome, reason in settled
        )
        if candidates:
            await self._ending.settle_candidates(SettleInput(event_id=event_id, candidates=candidates))

    async def _end(self, input: FetchClipsInput, fetched: FetchedClips) -> FetchedClips:
        queue = QueueVideosInput(
            goal=input.goal, workflow_id=input.workflow_id, outcome=fetched.outcome, policy=input.policy
        )
        await self._ending.hand_over(queue, input.candidate_ids)
        return fetched


class InspectActivities:
    """The activity on the queue `footy-media`."""

    def __init__(self, validation: ValidationActivities, ending: HandOverActivities) -> None:
        self._validation = validation
        self._ending = ending

    @activity.defn
    @call_with(_INSPECTION, queue=media_queue)
    async def inspect_clips(self, input: InspectClipsInput) -> InspectedClips:
        """Have the files judged one after the other, fingerprint them side by side, and tell the upload."""
        async with ResumableHeartbeat(ClipsSoFar()) as heartbeat:
            accepted = await self._judge(input, heartbeat)
            hashed = await asyncio.gather(*(self._fingerprint(video, input) for video in accepted))
            ready = sorted((video for video in hashed if video is not None), key=lambda video: video.candidate_id)
            await self._end(input, ready)
        return InspectedClips(accepted=len(accepted), rejected=len(input.videos) - len(accepted), queued=len(ready))

    async def _judge(self, input: InspectClipsInput, heartbeat: ResumableHeartbeat[ClipsSoFar]) -> Sequence[Video]:
        for video in input.videos:
            so_far = heartbeat.cursor
            if video.candidate_id in so_far.done:
                continue
            wanted = ValidateVideoInput(event_id=input.goal.event_id, video=video, policy=input.policy)
            checked = (await self._validation.validate_video_is_soccer(wanted)).video
            accepted = so_far.videos if checked is None else (*so_far.videos, checked)
            heartbeat.advance(ClipsSoFar(videos=accepted, done=(*so_far.done, video.candidate_id)))
        return heartbeat.cursor.videos

    async def _end(self, input: InspectClipsInput, ready: Sequence[Video]) -> None:
        """Tell the upload, wholly also when cancelled: of half of it files would be both known and failed."""
        queue = QueueVideosInput(
            goal=input.goal,
            workflow_id=input.workflow_id,
            outcome=FINISHED,
            videos=tuple(ready),
            policy=input.policy,
        )
        ending = asyncio.ensure_future(self._ending.hand_over(queue, input.candidate_ids))
        while not ending.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(ending)
        ending.result()

    async def _fingerprint(self, video: Video, input: InspectClipsInput) -> Video | None:
        wanted = VideoInput(event_id=input.goal.event_id, fixture_id=input.goal.fixture_id, video=video)
        return (await self._validation.generate_video_hash(wanted)).video
