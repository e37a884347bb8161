"""MatchdayWorkflow: keeps the fixtures that people follow as events."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.matchday.activities import MatchdayActivities
    from pressbox.matchday.contracts import (
        KeepInput,
        KeptFixtures,
        MatchdayProgress,
        MatchdayWorkflowInput,
        MatchdayWorkflowResult,
    )

MOST_PAGES = 200


@workflow.defn
class MatchdayWorkflow:
    """Brings the events of fixtures into step with what changed, or all of them.

    Id `matchday-changed`, started beside a worker that sees a change; and `matchday-sweep-…`, started by the schedule
    for everything. Ends when nothing is left. A repeated activity changes nothing more; two runs at once are harmless.
    """

    @workflow.init
    def __init__(self, input: MatchdayWorkflowInput) -> None:
        self._progress = MatchdayProgress(
            title="Keeping followed matches as events", audience=ADMINISTRATORS, routine=True
        )

    @workflow.query
    def get_progress(self) -> MatchdayProgress:
        return self._progress

    @workflow.run
    async def run(self, input: MatchdayWorkflowInput) -> MatchdayWorkflowResult:
        everything = input.everything
        for _ in range(MOST_PAGES):
            if everything:
                break
            done = await call(MatchdayActivities.keep_changed_fixtures, KeepInput())
            self._add(done)
            everything = done.lost
            if not done.more:
                break
        if everything:
            await self._keep_all()
        return MatchdayWorkflowResult(kept=self._progress.kept, failed=self._progress.failed)

    async def _keep_all(self) -> None:
        after: int | None = 0
        for _ in range(MOST_PAGES):
            if after is None:
                return
            done = await call(MatchdayActivities.keep_all_fixtures, KeepInput(after=after))
            self._add(done)
            after = done.next_after

    def _add(self, done: KeptFixtures) -> None:
        counts = {"kept": self._progress.kept + done.kept, "failed": self._progress.failed + done.failed}
        self._progress = self._progress.model_copy(update=counts)
        report(self._progress)
