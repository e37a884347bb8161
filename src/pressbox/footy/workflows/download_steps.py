"""The steps of a download, each file by activities of its own."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from pressbox.core.temporal.calls import call, call_until_success, failure_reason
from pressbox.footy.activities.download import DownloadActivities, ValidationActivities
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.limits import ROUNDS_PER_FILE, limits
from pressbox.footy.activities.same_files import merge_same_files
from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.activities.whole_download import FINISHED, GONE
from pressbox.footy.contracts.download import (
    DownloadVideoInput,
    DownloadWorkflowInput,
    QueueVideosInput,
    RegisterDownloadInput,
    ScratchInput,
    SettledCandidate,
    SettleInput,
    ValidateVideoInput,
    Video,
    VideoInput,
)
from pressbox.footy.contracts.search import GoalExistence, GoalReference
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.workflows.patches import STEPS_AT_ONCE


class DownloadSteps:
    """`open` are candidates without an outcome, `ready` the videos for the upload; `count` hears of every file."""

    def __init__(self, input: DownloadWorkflowInput, count: Callable[[str], None]) -> None:
        self._input = input
        self._event_id = input.goal.event_id
        self._count = count
        self.open = set(input.candidate_ids)
        self.ready: list[Video] = []

    async def prepare(self) -> str:
        register = RegisterDownloadInput(event_id=self._event_id, workflow_id=workflow.info().workflow_id)
        await call_until_success(DownloadActivities.register_download_workflow, register)
        exists = await self._check_goal()
        if not exists.exists:
            await self._settle(sorted(self.open), CandidateOutcome.GOAL_GONE, exists.reason)
            return GONE
        downloaded = await asyncio.gather(*(self._download(number) for number in self._input.candidate_ids))
        videos, merged = merge_same_files([video for video in downloaded if video is not None])
        if merged:
            same = [
                SettledCandidate(
                    candidate_id=key, outcome=CandidateOutcome.SAME_FILE, reason=f"same as candidate {kept}"
                )
                for key, kept in merged.items()
            ]
            await self._settle_all(same)
        return await self.check(videos)

    async def _check_goal(self) -> GoalExistence:
        """Ask once, as the document has it: the upload asks again, so a goal that is gone loses only time."""
        goal = GoalReference(fixture_id=self._input.goal.fixture_id, event_id=self._event_id)
        if not workflow.patched(STEPS_AT_ONCE):
            return await call_until_success(SearchActivities.check_event_exists, goal)
        try:
            return await call(SearchActivities.check_event_exists, goal, limits(30, attempts=1))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return GoalExistence(exists=True)

    async def check(self, videos: Sequence[Video]) -> str:
        accepted = [video for each in videos if (video := await self._validate(each)) is not None]
        await asyncio.gather(*(self._fingerprint(video) for video in accepted))
        self.ready.sort(key=lambda video: video.candidate_id)
        return FINISHED

    async def _download(self, candidate_id: int) -> Video | None:
        wanted = DownloadVideoInput(
            event_id=self._event_id,
            fixture_id=self._input.goal.fixture_id,
            candidate_id=candidate_id,
            policy=self._input.policy,
        )
        try:
            found = await call_until_success(DownloadActivities.download_single_video, wanted, rounds=ROUNDS_PER_FILE)
        except ActivityError as error:
            await self._give_up(candidate_id, error)
            return None
        self._count("downloaded" if found.video else "rejected")
        if found.video is None:
            self.open.discard(candidate_id)
        return found.video

    async def _validate(self, video: Video) -> Video | None:
        wanted = ValidateVideoInput(event_id=self._event_id, video=video, policy=self._input.policy)
        try:
            validated = await call_until_success(
                ValidationActivities.validate_video_is_soccer, wanted, rounds=ROUNDS_PER_FILE
            )
        except ActivityError as error:
            await self._give_up(video.candidate_id, error)
            return None
        self._count("accepted" if validated.video else "rejected")
        if validated.video is None:
            self.open.discard(video.candidate_id)
        return validated.video

    async def _fingerprint(self, video: Video) -> None:
        wanted = VideoInput(event_id=self._event_id, fixture_id=self._input.goal.fixture_id, video=video)
        try:
            hashed = await call_until_success(ValidationActivities.generate_video_hash, wanted, rounds=ROUNDS_PER_FILE)
        except ActivityError as error:
            await self._give_up(video.candidate_id, error)
            return
        self.open.discard(video.candidate_id)
        if hashed.video is not None:
            self.ready.append(hashed.video)

    async def _give_up(self, candidate_id: int, error: ActivityError) -> None:
        """Settle one file that cannot be processed, so that the others go on."""
        if is_cancelled_exception(error):
            raise error
        await self._settle([candidate_id], CandidateOutcome.DOWNLOAD_FAILED, failure_reason(error))
        self._count("rejected")

    async def hand_over(self, outcome: str) -> None:
        """Settle the candidates that are still open, signal the upload, and delete the files it does not need."""
        if self.open:
            await self._settle(sorted(self.open), CandidateOutcome.DOWNLOAD_FAILED, outcome)
        queue = QueueVideosInput(
            goal=self._input.goal,
            workflow_id=workflow.info().workflow_id,
            outcome=outcome,
            videos=tuple(self.ready),
            policy=self._input.policy,
        )
        await call_until_success(HandOverActivities.queue_videos_for_upload, queue)
        ready = {video.candidate_id for video in self.ready}
        await self._clean([key for key in self._input.candidate_ids if key not in ready])

    async def _clean(self, candidate_ids: Sequence[int]) -> None:
        if not candidate_ids:
            return
        scratch = ScratchInput(
            event_id=self._event_id,
            fixture_id=self._input.goal.fixture_id,
            candidate_ids=tuple(candidate_ids),
        )
        try:
            await call(HandOverActivities.cleanup_download_temp, scratch)
        except ActivityError as error:
            # Maintenance deletes old scratch files later.
            workflow.logger.warning("Scratch files could not be deleted: %s", failure_reason(error))

    async def _settle(self, candidate_ids: Iterable[int], outcome: CandidateOutcome, reason: str) -> None:
        settled = [SettledCandidate(candidate_id=key, outcome=outcome, reason=reason) for key in candidate_ids]
        await self._settle_all(settled)

    async def _settle_all(self, settled: Sequence[SettledCandidate]) -> None:
        if settled:
            settle = SettleInput(event_id=self._event_id, candidates=tuple(settled))
            await call_until_success(HandOverActivities.settle_candidates, settle)
            self.open -= {each.candidate_id for each in settled}
