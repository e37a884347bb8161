"""UploadWorkflow: stores the clips of one goal, batch by batch."""

from collections import deque

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, call_until_success, failure_reason
    from pressbox.footy.activities.batches import BatchActivities, BatchSteps
    from pressbox.footy.activities.handing_over import HandOverActivities
    from pressbox.footy.activities.upload import UploadActivities
    from pressbox.footy.contracts.audiences import watchers_of
    from pressbox.footy.contracts.download import Batch
    from pressbox.footy.contracts.search import GoalReference
    from pressbox.footy.contracts.upload import (
        StoreBatchInput,
        StoredBatch,
        UploadProgress,
        UploadState,
        UploadWorkflowInput,
        UploadWorkflowResult,
    )
    from pressbox.footy.domain.candidates import CandidateOutcome
    from pressbox.footy.workflows.patches import STEPS_AT_ONCE

REMEMBERED_BATCHES = 200


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
        self._at_once = False
        self._progress = UploadProgress(
            title=f"Storing clips of goal {input.event_id}",
            audience=watchers_of(input.fixture_id),
            done=input.state.processed,
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
        self._at_once = workflow.patched(STEPS_AT_ONCE)
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
            await call_until_success(HandOverActivities.check_and_mark_download_complete, self._goal)
        return bool(self._queue)

    async def _process(self, batch: Batch) -> None:
        self._show(message=f"{len(batch.videos)} new")
        if self._at_once and await self._store_at_once(batch):
            return
        steps = BatchSteps(self._goal, call_until_success)
        try:
            self._count(await steps.add(batch))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("Batch %s failed: %s", batch.batch_id, failure_reason(error))
            await steps.settle(batch.videos, CandidateOutcome.DOWNLOAD_FAILED, f"not stored: {failure_reason(error)}")
            await steps.clean(UploadActivities.cleanup_upload_temp, {video.candidate_id for video in batch.videos})
        await call_until_success(HandOverActivities.check_and_mark_download_complete, self._goal)

    async def _store_at_once(self, batch: Batch) -> bool:
        """False when a step fails for good: then one activity for each step finds out which file it is."""
        if not batch.videos and not batch.rearrange:
            # Its download has checked whether the goal is complete.
            return True
        try:
            self._count(await call(BatchActivities.store_batch, StoreBatchInput(goal=self._goal, batch=batch)))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("Batch %s is taken step by step: %s", batch.batch_id, failure_reason(error))
            return False
        return True

    def _count(self, stored: StoredBatch) -> None:
        self._show(
            stored=self._progress.stored + stored.stored,
            replaced=self._progress.replaced + stored.replaced,
            duplicates=self._progress.duplicates + stored.duplicates,
        )

    def _state(self) -> UploadState:
        return UploadState(queue=tuple(self._queue), heard=self._heard, processed=self._progress.done)

    def _show(self, **changes: int | str) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
