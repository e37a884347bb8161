"""DownloadWorkflow: downloads and checks the candidates of one search attempt."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, failure_reason, finish_despite_cancellation, is_evicted
    from pressbox.footy.activities.whole_download import FINISHED, FetchActivities, InspectActivities
    from pressbox.footy.contracts.audiences import watchers_of
    from pressbox.footy.contracts.download import (
        DownloadProgress,
        DownloadWorkflowInput,
        DownloadWorkflowResult,
        FetchClipsInput,
        InspectClipsInput,
    )
    from pressbox.footy.workflows.download_steps import DownloadSteps
    from pressbox.footy.workflows.patches import STEPS_AT_ONCE


@workflow.defn
class DownloadWorkflow:
    """Downloads the chosen candidates, merges equal files, has them judged and fingerprinted, and signals the upload.

    Id `download{N}-{team}-{player}-{event_id}` with the attempt N; started by an activity of the search, which it may
    outlive. Registers itself first. However it ends, also by failure or cancellation, it finishes its register row and
    signals the upload with what is ready. Every candidate that is not used gets a reason.
    """

    @workflow.init
    def __init__(self, input: DownloadWorkflowInput) -> None:
        self._input = input
        name = input.goal.player_slug.replace("-", " ")
        self._progress = DownloadProgress(
            audience=watchers_of(input.goal.fixture_id),
            title=f"Downloading clips of {name}’s goal, attempt {input.attempt}",
            total=len(input.candidate_ids),
            starter=input.search_id,
        )
        self._steps = DownloadSteps(input, lambda counter: self._count(**{counter: 1}))
        self._handed_over = False
        self._queued = 0

    @workflow.query
    def get_progress(self) -> DownloadProgress:
        return self._progress

    @workflow.run
    async def run(self, input: DownloadWorkflowInput) -> DownloadWorkflowResult:
        try:
            at_once = workflow.patched(STEPS_AT_ONCE)
            outcome = await (self._prepare_at_once() if at_once else self._steps.prepare())
        except (asyncio.CancelledError, ActivityError) as error:
            if not is_evicted(error):
                await self._steps.hand_over(failure_reason(error))
            raise
        if not self._handed_over:
            await finish_despite_cancellation(self._steps.hand_over(outcome))
        elif workflow.cancellation_reason() is not None:
            raise asyncio.CancelledError
        return DownloadWorkflowResult(
            downloaded=self._progress.downloaded, queued=self._queued if self._handed_over else len(self._steps.ready)
        )

    async def _prepare_at_once(self) -> str:
        """Two activities for all files. When one fails for good, each file gets its own: one may be to blame."""
        goal, policy, numbers = self._input.goal, self._input.policy, self._input.candidate_ids
        name = workflow.info().workflow_id
        fetch = FetchClipsInput(goal=goal, workflow_id=name, candidate_ids=numbers, policy=policy)
        try:
            fetched = await call(FetchActivities.fetch_clips, fetch)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return await self._steps.prepare()
        self._count(downloaded=fetched.downloaded, rejected=fetched.rejected)
        self._handed_over = bool(fetched.outcome)
        if self._handed_over:
            return fetched.outcome
        self._steps.open = {video.candidate_id for video in fetched.videos}
        inspect = InspectClipsInput(
            goal=goal, workflow_id=name, candidate_ids=numbers, videos=fetched.videos, policy=policy
        )
        try:
            inspected = await call(InspectActivities.inspect_clips, inspect)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return await self._steps.check(fetched.videos)
        self._count(accepted=inspected.accepted, rejected=inspected.rejected)
        self._handed_over, self._queued = True, inspected.queued
        return FINISHED

    def _count(self, **counted: int) -> None:
        changes = {name: getattr(self._progress, name) + number for name, number in counted.items()}
        done = self._progress.done + sum(number for name, number in counted.items() if name != "downloaded")
        self._progress = self._progress.model_copy(update={**changes, "done": done})
        report(self._progress)
