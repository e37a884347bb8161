"""MonitorWorkflow: one poll."""

import asyncio

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from datetime import timedelta

    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, failure_reason
    from pressbox.footy.activities.comparison import ComparisonActivities
    from pressbox.footy.activities.poll import PollActivities
    from pressbox.footy.activities.upload import UploadActivities
    from pressbox.footy.contracts.ingest import RunReference
    from pressbox.footy.contracts.monitor import (
        ComparisonResult,
        CompletedFixtures,
        FinishRunInput,
        FixtureReferences,
        GoalToSearch,
        MonitorProgress,
        MonitorWorkflowInput,
        MonitorWorkflowResult,
        WorkflowIds,
    )
    from pressbox.footy.contracts.search import TwitterWorkflowInput
    from pressbox.footy.ids import twitter_workflow_id
    from pressbox.footy.workflows.twitter import TwitterWorkflow

TASK_TIMEOUT = timedelta(seconds=60)
MOST_COMPARING = 20


@workflow.defn
class MonitorWorkflow:
    """Polls staging and active fixtures once, compares goals, starts searches and archives what is over.

    Id `monitor-scheduled-…`; started by the schedule `monitor-every-30s`. Its id enters the registers of the goals it
    saw or missed. It never waits for a search; one that cannot be started is started by the next poll. Its history
    does not grow with the number of fixtures. Without a key for the API it does nothing and says so.
    """

    @workflow.init
    def __init__(self, input: MonitorWorkflowInput) -> None:
        self._run = RunReference(run_id=workflow.info().workflow_id, policy=input.policy)
        self._progress = MonitorProgress(title="Polling the fixtures", audience=EVERYONE, total=4, routine=True)
        self._result = MonitorWorkflowResult()

    @workflow.query
    def get_progress(self) -> MonitorProgress:
        return self._progress

    @workflow.run
    async def run(self, input: MonitorWorkflowInput) -> MonitorWorkflowResult:
        registered = await call(PollActivities.register_monitor_workflow, self._run)
        if registered.missing:
            return MonitorWorkflowResult(note=registered.missing)
        active = registered.active
        if registered.staging_due:
            active += await self._poll_staging()
        completed = CompletedFixtures()
        if active:
            await self._poll()
            completed = await call(ComparisonActivities.complete_fixture_if_ready, self._run)
            self._note(fixtures_completed=len(completed.fixture_ids))
        await asyncio.gather(self._notify(), self._clean(completed))
        return self._result

    async def _poll_staging(self) -> int:
        try:
            polled = await call(PollActivities.fetch_staging_fixtures, self._run)
            self._note(failed=polled.failed)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            # They are still activated by their known kick-off.
            self._note(note=f"Staging fixtures could not be polled: {failure_reason(error)}")
        return (await call(PollActivities.pre_activate_upcoming_fixtures, self._run)).fixtures

    async def _poll(self) -> None:
        polled = await call(PollActivities.fetch_active_fixtures, self._run)
        self._note(fixtures=polled.answered, failed=self._result.failed + polled.failed)
        for _ in range(MOST_COMPARING):
            compared: ComparisonResult = await call(ComparisonActivities.store_and_compare, self._run)
            self._note(
                goals_created=self._result.goals_created + compared.created,
                goals_removed=self._result.goals_removed + compared.removed,
                failed=self._result.failed + compared.failed,
            )
            if not compared.more:
                break
        found, _ = await asyncio.gather(
            call(ComparisonActivities.process_fixture_events, self._run),
            call(ComparisonActivities.sync_fixture_metadata, self._run),
        )
        waiting = await self._skip_running(found.goals)
        started = await asyncio.gather(*(self._search(goal) for goal in waiting))
        self._note(searches_started=sum(started))

    async def _skip_running(self, goals: tuple[GoalToSearch, ...]) -> list[GoalToSearch]:
        """Skip goals whose search was requested before and is running, although it has not reported yet."""
        asked = tuple(twitter_workflow_id(goal) for goal in goals if goal.asked_before)
        if not asked:
            return list(goals)
        running = await call(ComparisonActivities.check_twitter_workflow_running, WorkflowIds(workflow_ids=asked))
        return [goal for goal in goals if twitter_workflow_id(goal) not in running.workflow_ids]

    async def _search(self, goal: GoalToSearch) -> bool:
        try:
            await workflow.start_child_workflow(
                TwitterWorkflow.run,
                TwitterWorkflowInput(goal=goal, policy=self._run.policy),
                id=twitter_workflow_id(goal),
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE
                if goal.again
                else WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                parent_close_policy=ParentClosePolicy.ABANDON,
                task_timeout=TASK_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            return False
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            # The goal still waits for its search, so the next poll tries again.
            workflow.logger.warning("Search for %s not started: %s", goal.event_id, failure_reason(error))
            return False
        return True

    async def _notify(self) -> None:
        try:
            await call(
                ComparisonActivities.notify_frontend_refresh,
                FinishRunInput(run_id=self._run.run_id, result=self._result),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("Browsers were not notified: %s", failure_reason(error))

    async def _clean(self, completed: CompletedFixtures) -> None:
        if not completed.fixture_ids:
            return
        try:
            await call(UploadActivities.cleanup_fixture_temp_dirs, FixtureReferences(fixture_ids=completed.fixture_ids))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            # Maintenance deletes old scratch files later.
            workflow.logger.warning("Scratch files could not be deleted: %s", failure_reason(error))

    def _note(self, **changes: int | str) -> None:
        self._result = self._result.model_copy(update=changes)
        self._progress = self._progress.model_copy(
            update={"fixtures": self._result.fixtures, "goals": self._result.goals_created}
        )
        report(self._progress)
