"""The attempts of a search, each step by an activity of its own: of searches that began before these were joined."""

from collections.abc import Callable

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ParentClosePolicy

from pressbox.core.temporal.calls import call, call_until_success, failure_reason
from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.contracts.download import DownloadWorkflowInput
from pressbox.footy.contracts.search import (
    ExecuteSearchInput,
    GoalReference,
    SaveDiscoveredInput,
    SearchDataInput,
    SearchResult,
    TwitterProgress,
    TwitterWorkflowInput,
)
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.domain.search_window import pause_after
from pressbox.footy.ids import download_workflow_id
from pressbox.footy.workflows.download import DownloadWorkflow

Show = Callable[..., TwitterProgress]


class SearchSteps:
    def __init__(self, input: TwitterWorkflowInput, aliases: tuple[str, ...], show: Show) -> None:
        self._input = input
        self._aliases = aliases
        self._show = show
        goal = input.goal
        self._goal = GoalReference(fixture_id=goal.fixture_id, event_id=goal.event_id, policy=input.policy)

    async def search(self) -> SearchEnd:
        policy, made = self._input.policy, 0
        if self._input.goal.again:
            # Go on counting after the downloads of the earlier search.
            made = (await call_until_success(SearchActivities.get_download_workflow_count, self._goal)).registered
            self._show(attempt=made)
        while True:
            downloads = await call_until_success(SearchActivities.get_download_workflow_count, self._goal)
            self._show(downloads=downloads.registered)
            if downloads.registered >= policy.downloads_wanted:
                return SearchEnd.ENOUGH
            if made >= policy.attempts:
                return SearchEnd.EXHAUSTED
            if not (await call_until_success(SearchActivities.check_event_exists, self._goal)).exists:
                return SearchEnd.GONE
            started, made = workflow.now(), made + 1
            if not await self._attempt(made):
                return SearchEnd.NO_SOURCE
            # Also after the last attempt: its download needs time to register, so that it is counted.
            await workflow.sleep(pause_after(policy, started, workflow.now()))

    async def _attempt(self, attempt: int) -> bool:
        """Search once and start the download of what was found. False when there is no source to search."""
        policy, event_id = self._input.policy, self._goal.event_id
        shown = self._show(attempt=attempt, message=f"Attempt {attempt} of {policy.attempts}")
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
        self._show(found=shown.found + saved.saved, done=attempt)
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
