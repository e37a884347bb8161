"""UploadWorkflow: stores the clips of one goal, batch by batch."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, call_until_success, failure_reason
    from pressbox.footy.activities.download import DownloadActivities
    from pressbox.footy.activities.upload import UploadActivities
    from pressbox.footy.contracts.download import Batch, ScratchInput, SettledCandidate, SettleInput, Video
    from pressbox.footy.contracts.search import GoalReference
    from pressbox.footy.contracts.upload import (
        BumpPopularityInput,
        Md5Input,
        UploadProgress,
        UploadState,
        UploadWorkflowInput,
        UploadWorkflowResult,
    )
    from pressbox.footy.domain.candidates import CandidateOutcome
    from pressbox.footy.workflows.pools import Pool

REMEMBERED_BATCHES = 200
Cleaning = Callable[[UploadActivities, ScratchInput], Awaitable[None]]


@workflow.defn
class UploadWorkflow:
    """Stores new scenes of a goal, replaces copies by better ones and counts the rest. First in, first out.

    Id `upload-{event_id}`, one per goal; started and fed by the signal `add_videos` of the downloads. A batch is known
    by its id and processed once. Ends when no batch came for a while, after a last completion check; a late batch
    starts a new run. Continues as new between two batches, with its queue. A file that fails does not stop its batch,
    a batch that fails does not stop the next.
    """

    @workflow.init
    def __init__(self, input: UploadWorkflowInput) -> None:
        self._input = input
        self._goal = GoalReference(fixture_id=input.fixture_id, event_id=input.event_id, policy=input.policy)
        self._queue: deque[Batch] = deque(input.state.queue)
        self._heard: tuple[str, ...] = input.state.heard
        self._batches = 0
        self._progress = UploadProgress(
            title=f"Storing clips of goal {input.event_id}", audience=EVERYONE, done=input.state.processed
        )

    @workflow.signal
    def add_videos(self, batch: Batch) -> None:
        if batch.batch_id not in self._heard:
            self._heard = (*self._heard, batch.batch_id)[-REMEMBERED_BATCHES:]
            self._queue.append(batch)
        if batch.label:
            self._progress = self._progress.model_copy(update={"title": f"Storing clips of {batch.label}"})

    @workflow.query
    def get_progress(self) -> UploadProgress:
        return self._progress

    @workflow.run
    async def run(self, input: UploadWorkflowInput) -> UploadWorkflowResult:
        while await self._wait_for_batch():
            await self._process(self._queue.popleft())
            self._batches += 1
            self._show(done=self._progress.done + 1, total=self._progress.done + 1 + len(self._queue))
            if self._batches >= input.policy.batches_per_run or workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(input.model_copy(update={"state": self._state()}))
        shown = self._progress
        return UploadWorkflowResult(
            batches=shown.done, stored=shown.stored, replaced=shown.replaced, duplicates=shown.duplicates
        )

    async def _wait_for_batch(self) -> bool:
        """False when no batch came for a while, nor during the last completion check."""
        try:
            await workflow.wait_condition(lambda: bool(self._queue), timeout=self._input.policy.upload_idle)
        except TimeoutError:
            await call_until_success(DownloadActivities.check_and_mark_download_complete, self._goal)
        return bool(self._queue)

    async def _process(self, batch: Batch) -> None:
        self._show(message=f"{len(batch.videos)} new")
        try:
            await self._add_batch(batch)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("Batch %s failed: %s", batch.batch_id, failure_reason(error))
            await self._settle(batch.videos, CandidateOutcome.DOWNLOAD_FAILED, f"not stored: {failure_reason(error)}")
            await self._clean(UploadActivities.cleanup_upload_temp, {video.candidate_id for video in batch.videos})
        await call_until_success(DownloadActivities.check_and_mark_download_complete, self._goal)

    async def _add_batch(self, batch: Batch) -> None:
        if not batch.videos and not batch.rearrange:
            return
        goal = await call_until_success(
            UploadActivities.fetch_event_data, Md5Input(event_id=self._goal.event_id, videos=batch.videos)
        )
        videos = tuple(video for video in batch.videos if video.candidate_id not in goal.done)
        files = {video.candidate_id for video in batch.videos}
        if not goal.exists:
            await self._settle(videos, CandidateOutcome.GOAL_GONE, "removed before it was stored")
            await self._clean(UploadActivities.cleanup_individual_files, files)
            return
        same = await call_until_success(
            UploadActivities.deduplicate_by_md5, Md5Input(event_id=self._goal.event_id, videos=videos)
        )
        if same.duplicates:
            known = BumpPopularityInput(event_id=self._goal.event_id, duplicates=same.duplicates)
            await call_until_success(UploadActivities.bump_video_popularity, known)
            self._show(duplicates=self._progress.duplicates + len(same.duplicates))
        pools = [Pool(self._goal, verified=verified) for verified in (True, False)]
        await asyncio.gather(
            *(
                pool.add([video for video in same.videos if video.timestamp_verified is pool.verified], batch)
                for pool in pools
            )
        )
        self._count(pools)
        await call_until_success(UploadActivities.recalculate_video_ranks, self._goal)
        kept = {key for pool in pools for key in pool.kept}
        await self._clean(UploadActivities.cleanup_individual_files, files - kept)

    async def _settle(self, videos: tuple[Video, ...], outcome: CandidateOutcome, reason: str) -> None:
        if videos:
            settled = tuple(
                SettledCandidate(candidate_id=video.candidate_id, outcome=outcome, reason=reason) for video in videos
            )
            settle = SettleInput(event_id=self._goal.event_id, candidates=settled)
            await call_until_success(DownloadActivities.settle_candidates, settle)

    async def _clean(self, method: Cleaning, candidate_ids: set[int]) -> None:
        if not candidate_ids:
            return
        scratch = ScratchInput(
            event_id=self._goal.event_id,
            fixture_id=self._goal.fixture_id,
            candidate_ids=tuple(sorted(candidate_ids)),
        )
        try:
            await call(method, scratch)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            # Maintenance deletes old scratch files later.
            workflow.logger.warning("Scratch files could not be deleted: %s", failure_reason(error))

    def _count(self, pools: list[Pool]) -> None:
        self._show(
            stored=self._progress.stored + sum(pool.stored for pool in pools),
            replaced=self._progress.replaced + sum(pool.replaced for pool in pools),
            duplicates=self._progress.duplicates + sum(pool.duplicates for pool in pools),
        )

    def _state(self) -> UploadState:
        return UploadState(queue=tuple(self._queue), heard=self._heard, processed=self._progress.done)

    def _show(self, **changes: int | str) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
