"""TwitterWorkflow: searches for clips of one goal."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ChildWorkflowError,
    RetryState,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import (
        call,
        call_until_success,
        failure_reason,
        finish_despite_cancellation,
        is_evicted,
    )
    from pressbox.footy.activities.aliases import AliasActivities
    from pressbox.footy.activities.attempts import AttemptActivities
    from pressbox.footy.activities.handing_over import HandOverActivities
    from pressbox.footy.activities.limits import ROUNDS_PER_FILE
    from pressbox.footy.activities.search import SearchActivities
    from pressbox.footy.contracts.aliases import RAGWorkflowInput, TeamReference
    from pressbox.footy.contracts.audiences import watchers_of
    from pressbox.footy.contracts.search import (
        AttemptInput,
        AttemptResult,
        FinishSearchInput,
        GoalReference,
        SetMonitorCompleteInput,
        TwitterProgress,
        TwitterWorkflowInput,
        TwitterWorkflowResult,
    )
    from pressbox.footy.domain.goals import SearchEnd
    from pressbox.footy.domain.search_window import pause_after
    from pressbox.footy.ids import rag_workflow_id
    from pressbox.footy.workflows.patches import STEPS_AT_ONCE
    from pressbox.footy.workflows.rag import RAGWorkflow
    from pressbox.footy.workflows.search_steps import SearchSteps


@workflow.defn
class TwitterWorkflow:
    """Searches all clip sources again and again, and starts a download per attempt.

    Id `twitter-{team}-{player}-{minute}min-{event_id}`; child of the poll that confirmed the goal, which it outlives.
    Its first attempt records that it runs; if it dies before, the next poll starts it again. Ends with enough
    downloads, after the last attempt, or when the goal is gone; however it ends, the reason is stored.
    """

    @workflow.init
    def __init__(self, input: TwitterWorkflowInput) -> None:
        self._input = input
        goal = input.goal
        self._goal = GoalReference(fixture_id=goal.fixture_id, event_id=goal.event_id, policy=input.policy)
        name = goal.player_slug.replace("-", " ")
        self._progress = TwitterProgress(
            audience=watchers_of(goal.fixture_id),
            title=f"Searching for clips of {name}’s goal ({goal.minute_label}′)",
            total=input.policy.attempts,
        )
        self._team = TeamReference(team_id=goal.team_id, policy=input.policy)
        self._aliases: tuple[str, ...] | None = None
        self._recorded = False

    @workflow.query
    def get_progress(self) -> TwitterProgress:
        return self._progress

    @workflow.run
    async def run(self, input: TwitterWorkflowInput) -> TwitterWorkflowResult:
        at_once = workflow.patched(STEPS_AT_ONCE)
        if not at_once:
            running = SetMonitorCompleteInput(event_id=self._goal.event_id, workflow_id=workflow.info().workflow_id)
            await call(SearchActivities.set_monitor_complete, running)
        try:
            ended = await (self._search() if at_once else self._search_by_steps())
        except (asyncio.CancelledError, ActivityError, ChildWorkflowError) as error:
            if not is_evicted(error):
                await self._finish(SearchEnd.FAILED)
            raise
        if not self._recorded:
            await finish_despite_cancellation(self._finish(ended))
        return TwitterWorkflowResult(attempts=self._progress.attempt, found=self._progress.found, ended=ended)

    async def _search_by_steps(self) -> SearchEnd:
        return await SearchSteps(self._input, await self._find_aliases(), self._show).search()

    async def _search(self) -> SearchEnd:
        """One activity for each attempt; the last one also records how the search ended."""
        policy, attempt = self._input.policy, 1
        if self._input.goal.again:
            # Go on counting after the downloads of the earlier search.
            before = await call_until_success(SearchActivities.get_download_workflow_count, self._goal)
            attempt = before.registered + 1
        while True:
            started = workflow.now()
            self._show(attempt=min(attempt, policy.attempts), message=f"Attempt {attempt} of {policy.attempts}")
            made = await self._attempt(attempt)
            if made.stale_aliases:
                self._aliases = await self._find_fresh_aliases(made.aliases)
                continue
            self._show(found=self._progress.found + made.saved, downloads=made.registered)
            if made.ended is not None:
                self._recorded = True
                self._show(attempt=attempt if made.made else attempt - 1)
                return made.ended
            self._show(done=attempt)
            attempt += 1
            # Also after the last attempt: its download needs time to register, so that it is counted.
            await workflow.sleep(pause_after(policy, started, workflow.now()))

    async def _attempt(self, attempt: int) -> AttemptResult:
        """An attempt that cannot be made in a quarter of an hour is left out: the next one looks further back."""
        wanted = AttemptInput(
            goal=self._input.goal,
            workflow_id=workflow.info().workflow_id,
            attempt=attempt,
            aliases=self._aliases,
            policy=self._input.policy,
        )
        try:
            made = await call_until_success(AttemptActivities.search_once, wanted, rounds=ROUNDS_PER_FILE)
        except ActivityError as error:
            if is_cancelled_exception(error) or error.retry_state is not RetryState.MAXIMUM_ATTEMPTS_REACHED:
                raise
            self._show(message=f"The search failed: {failure_reason(error)}")
            return AttemptResult()
        if not made.stale_aliases:
            self._aliases = made.aliases
        return made

    async def _find_fresh_aliases(self, known: tuple[str, ...]) -> tuple[str, ...]:
        if not await self._refresh_aliases():
            return known
        cached = await call_until_success(AliasActivities.get_cached_team_aliases, self._team)
        return cached.aliases or known

    async def _find_aliases(self) -> tuple[str, ...]:
        cached = await call_until_success(AliasActivities.get_cached_team_aliases, self._team)
        if not cached.fresh and await self._refresh_aliases():
            cached = await call_until_success(AliasActivities.get_cached_team_aliases, self._team)
        return cached.aliases or ((cached.team_name,) if cached.team_name else ())

    async def _refresh_aliases(self) -> bool:
        """Wait a short time only: the team's own name finds clips too. True when new aliases are cached."""
        try:
            child = await workflow.start_child_workflow(
                RAGWorkflow.run,
                RAGWorkflowInput(team_id=self._input.goal.team_id, policy=self._input.policy),
                id=rag_workflow_id(self._input.goal.team_id),
                parent_close_policy=ParentClosePolicy.ABANDON,
            )
            done, _ = await workflow.wait([child], timeout=self._input.policy.alias_patience.total_seconds())
            for ended in done:
                await ended
        except WorkflowAlreadyStartedError:
            return False
        except ChildWorkflowError as error:
            if is_cancelled_exception(error) and workflow.cancellation_reason() is not None:
                raise
            return False
        return bool(done)

    async def _finish(self, ended: SearchEnd) -> None:
        self._show(message=f"Ended: {ended}")
        finish = FinishSearchInput(event_id=self._goal.event_id, ended=ended, policy=self._input.policy)
        await call_until_success(SearchActivities.finish_search, finish)
        await call_until_success(HandOverActivities.check_and_mark_download_complete, self._goal)

    def _show(self, **changes: int | str) -> TwitterProgress:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
        return self._progress
