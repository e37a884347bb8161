"""IngestWorkflow: fetches the fixtures of the coming days."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.errors import TransientError
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, call_until_success, failure_reason
    from pressbox.footy.activities.ingest import CleanupActivities, IngestActivities
    from pressbox.footy.contracts.aliases import RAGWorkflowInput
    from pressbox.footy.contracts.ingest import (
        CleanupResult,
        FetchedFixtures,
        FetchFixturesInput,
        IngestProgress,
        IngestWorkflowInput,
        IngestWorkflowResult,
        RunReference,
        StoredFixtures,
    )
    from pressbox.footy.ids import rag_workflow_id
    from pressbox.footy.workflows.rag import RAGWorkflow

FETCHING_ROUNDS = 8
MOST_PAGES_OF_TEAMS = 20
MOST_CLEANING_ROUNDS = 500


@workflow.defn
class IngestWorkflow:
    """Stores the fixtures of the next days, caches the aliases of their teams, and deletes what is old.

    Id `ingest-scheduled-…`; started daily by the schedule `ingest-daily`, or by hand with the ids of some fixtures. A
    day that cannot be fetched does not stop the others, but fails the run at its end. A team without aliases does not.
    Whoever follows something new starts `ingest-followed`, or signals it to fetch again when it is under way.
    """

    @workflow.init
    def __init__(self, input: IngestWorkflowInput) -> None:
        self._input = input
        self._run = RunReference(run_id=workflow.info().workflow_id, policy=input.policy)
        self._progress = IngestProgress(title="Fetching the fixtures of the coming days", audience=EVERYONE)
        self._failed_days: list[str] = []
        self._again = False

    @workflow.signal
    def fetch_again(self) -> None:
        self._again = True

    @workflow.query
    def get_progress(self) -> IngestProgress:
        return self._progress

    @workflow.run
    async def run(self, input: IngestWorkflowInput) -> IngestWorkflowResult:
        # The signal that came with the start asks for what begins here.
        self._again = False
        missing = await self._fetch()
        stored = await call_until_success(IngestActivities.categorize_and_store_fixtures, self._run)
        self._show(fixtures=stored.staging + stored.active + stored.completed, message="Fixtures stored")
        aliases = await self._cache_aliases(stored.teams)
        # A fixture that somebody named may be old, and must not be deleted at once.
        deleted = 0 if input.fixture_ids else await self._clean()
        if self._again:
            workflow.continue_as_new(input)
        if self._failed_days:
            raise TransientError(f"These days could not be fetched: {'; '.join(self._failed_days)}")
        return IngestWorkflowResult(
            staging=stored.staging,
            active=stored.active,
            completed=stored.completed,
            known=stored.known,
            aliases=aliases,
            deleted=deleted,
            note=missing,
        )

    async def _fetch(self) -> str:
        policy, fixture_ids = self._input.policy, self._input.fixture_ids
        if fixture_ids:
            wanted = FetchFixturesInput(run_id=self._run.run_id, fixture_ids=fixture_ids, policy=policy)
            fetched = await call_until_success(IngestActivities.fetch_fixtures_by_ids, wanted, rounds=FETCHING_ROUNDS)
            return fetched.missing
        days = await asyncio.gather(*(self._fetch_day(number) for number in range(policy.days)))
        tomorrow = days[1] if len(days) > 1 else None
        if tomorrow is not None and not tomorrow.followed and not (tomorrow.missing or tomorrow.refused):
            await self._look_ahead()
        known = [day for day in days if day is not None]
        return next((day.missing or day.refused for day in known if day.missing or day.refused), "")

    async def _look_ahead(self) -> None:
        """Look for the next match day when tomorrow is empty, as between two rounds."""
        for number in range(self._input.policy.days, self._input.policy.lookahead_days + 1):
            found = await self._fetch_day(number)
            if found is None or found.followed or found.refused:
                return

    async def _fetch_day(self, number: int) -> FetchedFixtures | None:
        day = (workflow.info().start_time + timedelta(days=number)).date().isoformat()
        wanted = FetchFixturesInput(run_id=self._run.run_id, day=day, policy=self._input.policy)
        try:
            return await call_until_success(IngestActivities.fetch_todays_fixtures, wanted, rounds=FETCHING_ROUNDS)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._failed_days.append(f"{day}: {failure_reason(error)}")
            return None

    async def _cache_aliases(self, teams: Sequence[int]) -> int:
        """Work through the teams page by page: storing again changes nothing and returns the next teams."""
        tried: set[int] = set()
        cached = 0
        limit = asyncio.Semaphore(self._input.policy.concurrent_teams)
        for _ in range(MOST_PAGES_OF_TEAMS):
            wanted = [team for team in teams if team not in tried]
            if not wanted or self._again:
                break
            cached += sum(await asyncio.gather(*(self._cache_team(team, limit) for team in wanted)))
            tried.update(wanted)
            self._show(teams=cached, message="Team aliases cached")
            again: StoredFixtures = await call_until_success(IngestActivities.categorize_and_store_fixtures, self._run)
            teams = again.teams
        return cached

    async def _cache_team(self, team_id: int, limit: asyncio.Semaphore) -> bool:
        async with limit:
            if self._again:
                # Somebody waits for the matches of another team; the next run looks these up.
                return False
            try:
                await workflow.execute_child_workflow(
                    RAGWorkflow.run,
                    RAGWorkflowInput(team_id=team_id, policy=self._input.policy),
                    id=rag_workflow_id(team_id),
                    parent_close_policy=ParentClosePolicy.ABANDON,
                )
            except WorkflowAlreadyStartedError:
                # A search is looking up the same team right now.
                return True
            except ChildWorkflowError as error:
                if is_cancelled_exception(error):
                    raise
                workflow.logger.warning("No aliases for team %s: %s", team_id, failure_reason(error))
                return False
        return True

    async def _clean(self) -> int:
        deleted = 0
        for _ in range(MOST_CLEANING_ROUNDS):
            cleaned: CleanupResult = await call(CleanupActivities.cleanup_old_fixtures, self._run)
            deleted += cleaned.fixtures
            self._show(deleted=deleted)
            if not cleaned.more:
                break
        return deleted

    def _show(self, **changes: int | str) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
