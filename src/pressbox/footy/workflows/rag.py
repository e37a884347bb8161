"""RAGWorkflow: finds the names under which people write about a team."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.contracts import Progress
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.footy.activities.aliases import AliasActivities
    from pressbox.footy.activities.limits import limits
    from pressbox.footy.contracts.aliases import RAGWorkflowInput, RAGWorkflowResult, TeamReference


@workflow.defn
class RAGWorkflow:
    """Finds a team's aliases and caches them, unless the cache is fresh.

    Id `rag-{team_id}`; started by Ingest, by a search without fresh aliases, or by hand. An outage fails it and is
    never cached as "no aliases"; the next day or the next goal tries again.
    """

    @workflow.init
    def __init__(self, input: RAGWorkflowInput) -> None:
        self._progress = Progress(title=f"Names of team {input.team_id}", audience=EVERYONE, total=3, routine=True)

    @workflow.query
    def get_progress(self) -> Progress:
        return self._progress

    @workflow.run
    async def run(self, input: RAGWorkflowInput) -> RAGWorkflowResult:
        team = TeamReference(team_id=input.team_id, policy=input.policy)
        found = await call(AliasActivities.get_cached_team_aliases, team, limits(10, attempts=2))
        self._step(f"Names of {found.team_name}" if found.team_name else "")
        if input.refresh or not found.fresh:
            found = await call(AliasActivities.get_team_aliases, team)
            self._step()
            await call(AliasActivities.save_team_aliases, found)
        return RAGWorkflowResult(team_id=input.team_id, aliases=found.aliases, source=found.source)

    def _step(self, title: str = "") -> None:
        changes = {"done": self._progress.done + 1, "title": title or self._progress.title}
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
