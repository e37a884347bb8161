"""DownloadWorkflow: downloads and checks the candidates of one search attempt."""

import asyncio
from collections.abc import Iterable, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import (
        call,
        call_until_success,
        failure_reason,
        finish_despite_cancellation,
        is_evicted,
    )
    from pressbox.footy.activities.download import DownloadActivities, ValidationActivities
    from pressbox.footy.activities.limits import ROUNDS_PER_FILE
    from pressbox.footy.activities.search import SearchActivities
    from pressbox.footy.contracts.download import (
        DownloadProgress,
        DownloadVideoInput,
        DownloadWorkflowInput,
        DownloadWorkflowResult,
        QueueVideosInput,
        RegisterDownloadInput,
        ScratchInput,
        SettledCandidate,
        SettleInput,
        ValidateVideoInput,
        Video,
        VideoInput,
    )
    from pressbox.footy.contracts.search import GoalReference
    from pressbox.footy.domain.candidates import CandidateOutcome
    from pressbox.footy.workflows.same_files import merge_same_files

FINISHED = "finished"


@workflow.defn
class DownloadWorkflow:
    """Downloads the chosen candidates, merges equal files, has them judged and fingerprinted, and signals the upload.

    Id `download{N}-{team}-{player}-{event_id}` with the attempt N; child of the search, which it may outlive. Registers
    itself first. However it ends, also by failure or cancellation, it finishes its register row and signals the upload
    with what is ready. Every candidate that is not used gets a reason.
    """

    @workflow.init
    def __init__(self, input: DownloadWorkflowInput) -> None:
        self._input = input
        self._event_id = input.goal.event_id
        name = input.goal.player_slug.replace("-", " ")
        self._progress = DownloadProgress(
            audience=EVERYONE,
            title=f"Downloading clips of {name}’s goal, attempt {input.attempt}",
            total=len(input.candidate_ids),
        )
        self._open = set(input.candidate_ids)
        self._ready: list[Video] = []

    @workflow.query
    def get_progress(self) -> DownloadProgress:
        return self._progress

    @workflow.run
    async def run(self, input: DownloadWorkflowInput) -> DownloadWorkflowResult:
        try:
            register = RegisterDownloadInput(event_id=self._event_id, workflow_id=workflow.info().workflow_id)
            await call_until_success(DownloadActivities.register_download_workflow, register)
            outcome = await self._prepare()
        except (asyncio.CancelledError, ActivityError) as error:
            if not is_evicted(error):
                await self._hand_over(failure_reason(error))
            raise
        await finish_despite_cancellation(self._hand_over(outcome))
        return DownloadWorkflowResult(downloaded=self._progress.downloaded, queued=len(self._ready))

    async def _prepare(self) -> str:
        goal = GoalReference(fixture_id=self._input.goal.fixture_id, event_id=self._event_id)
        exists = await call_until_success(SearchActivities.check_event_exists, goal)
        if not exists.exists:
            await self._settle(sorted(self._open), CandidateOutcome.GOAL_GONE, exists.reason)
            return "the goal is gone"
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
        accepted = [video for each in videos if (video := await self._validate(each)) is not None]
        await asyncio.gather(*(self._fingerprint(video) for video in accepted))
        self._ready.sort(key=lambda video: video.candidate_id)
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
            self._open.discard(candidate_id)
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
            self._open.discard(video.candidate_id)
        return validated.video

    async def _fingerprint(self, video: Video) -> None:
        wanted = VideoInput(event_id=self._event_id, fixture_id=self._input.goal.fixture_id, video=video)
        try:
            hashed = await call_until_success(ValidationActivities.generate_video_hash, wanted, rounds=ROUNDS_PER_FILE)
        except ActivityError as error:
            await self._give_up(video.candidate_id, error)
            return
        self._open.discard(video.candidate_id)
        if hashed.video is not None:
            self._ready.append(hashed.video)

    async def _give_up(self, candidate_id: int, error: ActivityError) -> None:
        """Settle one file that cannot be processed, so that the others go on."""
        if is_cancelled_exception(error):
            raise error
        await self._settle([candidate_id], CandidateOutcome.DOWNLOAD_FAILED, failure_reason(error))
        self._count("rejected")

    async def _hand_over(self, outcome: str) -> None:
        """Settle the candidates that are still open, signal the upload, and delete the files it does not need."""
        if self._open:
            await self._settle(sorted(self._open), CandidateOutcome.DOWNLOAD_FAILED, outcome)
        queue = QueueVideosInput(
            goal=self._input.goal,
            workflow_id=workflow.info().workflow_id,
            outcome=outcome,
            videos=tuple(self._ready),
            policy=self._input.policy,
        )
        await call_until_success(DownloadActivities.queue_videos_for_upload, queue)
        ready = {video.candidate_id for video in self._ready}
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
            await call(DownloadActivities.cleanup_download_temp, scratch)
        except ActivityError as error:
            # Maintenance deletes old scratch files later.
            workflow.logger.warning("Scratch files could not be deleted: %s", failure_reason(error))

    async def _settle(self, candidate_ids: Iterable[int], outcome: CandidateOutcome, reason: str) -> None:
        settled = [SettledCandidate(candidate_id=key, outcome=outcome, reason=reason) for key in candidate_ids]
        await self._settle_all(settled)

    async def _settle_all(self, settled: Sequence[SettledCandidate]) -> None:
        if settled:
            settle = SettleInput(event_id=self._event_id, candidates=tuple(settled))
            await call_until_success(DownloadActivities.settle_candidates, settle)
            self._open -= {each.candidate_id for each in settled}

    def _count(self, counter: str) -> None:
        changes = {counter: getattr(self._progress, counter) + 1}
        if counter != "downloaded":
            changes["done"] = self._progress.done + 1
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
