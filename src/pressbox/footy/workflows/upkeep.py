"""UpkeepWorkflow: tries the clip sources, and has unchecked clips judged."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.footy.activities.upkeep import CanaryActivities, RecheckActivities
    from pressbox.footy.contracts.ingest import RunReference
    from pressbox.footy.contracts.upkeep import RecheckResult, UpkeepProgress, UpkeepWorkflowInput

MOST_ROUNDS = 100


@workflow.defn
class UpkeepWorkflow:
    """Runs a canary search on every clip source, and has unchecked clips judged.

    Id `footy-upkeep-…`; started hourly by the schedule `footy-upkeep`. Repeating it is harmless.
    """

    @workflow.init
    def __init__(self, input: UpkeepWorkflowInput) -> None:
        self._progress = UpkeepProgress(title="Trying the clip sources", audience=EVERYONE, total=2, routine=True)

    @workflow.query
    def get_progress(self) -> UpkeepProgress:
        return self._progress

    @workflow.run
    async def run(self, input: UpkeepWorkflowInput) -> RecheckResult:
        reference = RunReference(run_id=workflow.info().workflow_id, policy=input.policy)
        canaries = await call(CanaryActivities.run_canaries, reference)
        self._show(done=1, sources_failing=len(canaries.failing))
        judged, waiting = 0, 0
        for _ in range(MOST_ROUNDS):
            checked = await call(RecheckActivities.recheck_clips, reference)
            judged, waiting = judged + checked.judged, checked.waiting
            self._show(rechecked=judged)
            if not checked.judged or checked.waiting:
                break
        self._show(done=2)
        return RecheckResult(judged=judged, waiting=waiting)

    def _show(self, **changes: int) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
