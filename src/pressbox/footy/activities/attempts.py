"""The activity that makes one attempt of a search, from the question whether it is needed to its download."""

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.aliases import AliasActivities
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.limits import limits
from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.contracts.aliases import TeamReference
from pressbox.footy.contracts.download import DownloadWorkflowInput
from pressbox.footy.contracts.search import (
    AttemptInput,
    AttemptResult,
    ExecuteSearchInput,
    FinishSearchInput,
    GoalReference,
    SearchDataInput,
    SetMonitorCompleteInput,
)
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.ids import clips_queue
from pressbox.footy.ports.workflows import Workflows


class AttemptActivities:
    """Activities on the queue `footy-clips`. The steps are those of the activities that it is made from."""

    def __init__(
        self, search: SearchActivities, aliases: AliasActivities, ending: HandOverActivities, workflows: Workflows
    ) -> None:
        self._search = search
        self._aliases = aliases
        self._ending = ending
        self._workflows = workflows

    @activity.defn
    @call_with(limits(75, attempts=3, first_pause=10, factor=1.5, heartbeat=15), queue=clips_queue)
    async def search_once(self, input: AttemptInput) -> AttemptResult:
        """Search once and start the download of what was found, or end the search. Repeating it is harmless.

        The first attempt records that the search runs. What the database must answer comes before the sources, so
        that an outage of ours asks nobody twice.
        """
        # Around all of it: a slow database is not a dead worker.
        async with Heartbeat():
            return await self._search_once(input)

    async def _search_once(self, input: AttemptInput) -> AttemptResult:
        goal = GoalReference(fixture_id=input.goal.fixture_id, event_id=input.goal.event_id, policy=input.policy)
        if input.aliases is None:
            running = SetMonitorCompleteInput(event_id=goal.event_id, workflow_id=input.workflow_id)
            await self._search.set_monitor_complete(running)
        aliases = input.aliases
        if aliases is None:
            team = TeamReference(team_id=input.goal.team_id, policy=input.policy)
            cached = await self._aliases.get_cached_team_aliases(team)
            aliases = cached.aliases or ((cached.team_name,) if cached.team_name else ())
            if not cached.fresh:
                return AttemptResult(stale_aliases=True, aliases=aliases)
        registered = (await self._search.get_download_workflow_count(goal)).registered
        known = AttemptResult(aliases=aliases, registered=registered)
        if (ended := await self._find_end(input, goal, registered)) is not None:
            return await self._end(goal, ended, known)
        data = await self._search.get_twitter_search_data(
            SearchDataInput(event_id=goal.event_id, attempt=input.attempt, aliases=aliases, policy=input.policy)
        )
        if data.sources == 0:
            return await self._end(goal, SearchEnd.NO_SOURCE, known.model_copy(update={"made": True}))
        saved = await self._search.search_and_save(ExecuteSearchInput(search=data, policy=input.policy))
        # Also without a video: the search ends after a number of downloads.
        await self._workflows.start_download(
            DownloadWorkflowInput(
                goal=input.goal,
                attempt=input.attempt,
                candidate_ids=saved.chosen,
                policy=input.policy,
                search_id=input.workflow_id,
            )
        )
        made = known.model_copy(update={"made": True, "saved": saved.saved})
        # The download that was just started is the last one that is wanted; it registers itself.
        enough = registered + 1 >= input.policy.downloads_wanted
        return await self._end(goal, SearchEnd.ENOUGH, made) if enough else made

    async def _find_end(self, input: AttemptInput, goal: GoalReference, registered: int) -> SearchEnd | None:
        if registered >= input.policy.downloads_wanted:
            return SearchEnd.ENOUGH
        if input.attempt > input.policy.attempts:
            return SearchEnd.EXHAUSTED
        return None if (await self._search.check_event_exists(goal)).exists else SearchEnd.GONE

    async def _end(self, goal: GoalReference, ended: SearchEnd, known: AttemptResult) -> AttemptResult:
        finish = FinishSearchInput(event_id=goal.event_id, ended=ended, policy=goal.policy)
        await self._search.finish_search(finish)
        await self._ending.check_and_mark_download_complete(goal)
        return known.model_copy(update={"ended": ended})
