"""TwitterWorkflow: searches for clips of one goal."""

import asyncio

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ParentClosePolicy

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
    from pressbox.footy.activities.aliases import AliasActivities
    from pressbox.footy.activities.download import DownloadActivities
    from pressbox.footy.activities.search import SearchActivities
    from pressbox.footy.contracts.aliases import RAGWorkflowInput, TeamReference
    from pressbox.footy.contracts.download import DownloadWorkflowInput
    from pressbox.footy.contracts.search import (
        ExecuteSearchInput,
        FinishSearchInput,
        GoalReference,
        SaveDiscoveredInput,
        SearchDataInput,
        SearchResult,
        SetMonitorCompleteInput,
        TwitterProgress,
        TwitterWorkflowInput,
        TwitterWorkflowResult,
    )
    from pressbox.footy.domain.goals import SearchEnd
    from pressbox.footy.domain.search_window import pause_after
    from pressbox.footy.ids import download_workflow_id, rag_workflow_id
    from pressbox.footy.workflows.download import DownloadWorkflow
    from pressbox.footy.workflows.rag import RAGWorkflow


@workflow.defn
class TwitterWorkflow:
    """Searches all clip sources again and again, and starts a download per attempt.

    Id `twitter-{team}-{player}-{minute}min-{event_id}`; child of the poll that confirmed the goal, which it outlives.
    It first records that it runs; if it dies before, the next poll starts it again. Ends with enough downloads, after
    the last attempt, or when the goal is gone; however it ends, the reason is stored.
    """

    @workflow.init
    def __init__(self, input: TwitterWorkflowInput) -> None:
        self._input = input
        goal = input.goal
        self._goal = GoalReference(fixture_id=goal.fixture_id, event_id=goal.event_id, policy=input.policy)
        name = goal.player_slug.replace("-", " ")
        self._progress = TwitterProgress(
            audience=EVERYONE,
            title=f"Searching for clips of {name}’s goal ({goal.minute_label}′)",
            total=input.policy.attempts,
        )
        self._aliases: tuple[str, ...] = ()

    @workflow.query
    def get_progress(self) -> TwitterProgress:
        return self._progress

    @workflow.run
    async def run(self, input: TwitterWorkflowInput) -> TwitterWorkflowResult:
        running = SetMonitorCompleteInput(event_id=self._goal.event_id, workflow_id=workflow.info().workflow_id)
        await call(SearchActivities.set_monitor_complete, running)
        try:
            ended = await self._search()
        except (asyncio.CancelledError, ActivityError, ChildWorkflowError) as error:
            if not is_evicted(error):
                await self._finish(SearchEnd.FAILED)
            raise
        await finish_despite_cancellation(self._finish(ended))
        return TwitterWorkflowResult(attempts=self._progress.attempt, found=self._progress.found, ended=ended)

    async def _search(self) -> SearchEnd:
        self._aliases = await self._find_aliases()
        policy = self._input.policy
        if self._input.goal.again:
            # Go on counting after the downloads of the earlier search.
            before = await call_until_success(SearchActivities.get_download_workflow_count, self._goal)
            self._show(attempt=before.registered)
        while True:
            downloads = await call_until_success(SearchActivities.get_download_workflow_count, self._goal)
            self._show(downloads=downloads.registered)
            if downloads.registered >= policy.downloads_wanted:
                return SearchEnd.ENOUGH
            if self._progress.attempt >= policy.attempts:
                return SearchEnd.EXHAUSTED
            if not (await call_until_success(SearchActivities.check_event_exists, self._goal)).exists:
                return SearchEnd.GONE
            started = workflow.now()
            if not await self._attempt(self._progress.attempt + 1):
                return SearchEnd.NO_SOURCE
            # Also after the last attempt: its download needs time to register, so that it is counted.
            await workflow.sleep(pause_after(policy, started, workflow.now()))

    async def _attempt(self, attempt: int) -> bool:
        """Search once and start the download of what was found. False when there is no source to search."""
        policy, event_id = self._input.policy, self._goal.event_id
        self._show(attempt=attempt, message=f"Attempt {attempt} of {policy.attempts}")
        search = await call_until_success(
            SearchActivities.get_twitter_search_data,
            SearchDataInput(event_id=event_id, attempt=attempt, aliases=self._aliases, policy=policy),
        )
        if search.sources == 0:
            return False
        found = await self._search_sources(ExecuteSearchInput(search=search, policy=policy))
        saved = await call_until_success(
            SearchActivities.save_discovered_videos,
            SaveDiscoveredInput(event_id=event_id, attempt=attempt, videos=found.videos, policy=policy),
        )
        self._show(found=self._progress.found + saved.saved, done=attempt)
        await self._download(attempt, saved.chosen)
        return True

    async def _search_sources(self, search: ExecuteSearchInput) -> SearchResult:
        """The activity records failing sources. If it fails itself, the next attempt looks further back."""
        try:
            return await call(SearchActivities.execute_twitter_search, search)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._show(message=f"The search failed: {failure_reason(error)}")
            return SearchResult()

    async def _download(self, attempt: int, chosen: tuple[int, ...]) -> None:
        """Start a download even without a video: the search ends after a number of downloads."""
        try:
            await workflow.start_child_workflow(
                DownloadWorkflow.run,
                DownloadWorkflowInput(
                    goal=self._input.goal, attempt=attempt, candidate_ids=chosen, policy=self._input.policy
                ),
                id=download_workflow_id(self._input.goal, attempt),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                parent_close_policy=ParentClosePolicy.ABANDON,
            )
        except WorkflowAlreadyStartedError:
            # An earlier run of this search started it.
            return

    async def _find_aliases(self) -> tuple[str, ...]:
        team = TeamReference(team_id=self._input.goal.team_id, policy=self._input.policy)
        cached = await call_until_success(AliasActivities.get_cached_team_aliases, team)
        if not cached.fresh and await self._refresh_aliases():
            cached = await call_until_success(AliasActivities.get_cached_team_aliases, team)
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
        await call_until_success(DownloadActivities.check_and_mark_download_complete, self._goal)

    def _show(self, **changes: int | str) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
