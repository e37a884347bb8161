"""ReconcileWorkflow: the sweep that finishes what was left undone."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.soonish.activities.sweeps import SweepActivities
    from pressbox.soonish.activities.upkeep import UpkeepActivities
    from pressbox.soonish.contracts import ReconcileProgress, ReconcileWorkflowInput, SweepInput, SweepResult


@workflow.defn
class ReconcileWorkflow:
    """Sends unsent signals, fires overdue reminders, reports broken channels and removes deleted events.

    Id `soonish-reconcile-…`; started every minute by the schedule `soonish-reconcile`. Repeating it is harmless.
    """

    @workflow.init
    def __init__(self, input: ReconcileWorkflowInput) -> None:
        self._progress = ReconcileProgress(
            title="Looking for what was left behind", audience=ADMINISTRATORS, total=5, routine=True
        )

    @workflow.query
    def get_progress(self) -> ReconcileProgress:
        return self._progress

    @workflow.run
    async def run(self, input: ReconcileWorkflowInput) -> SweepResult:
        sweep = SweepInput(policy=input.policy)
        self._add(await call(SweepActivities.sweep_outbox, sweep))
        self._add(await call(SweepActivities.sweep_asked_reminders, sweep))
        self._add(await call(SweepActivities.sweep_reminders, sweep))
        self._add(await call(UpkeepActivities.tell_owners_of_broken_channels, sweep))
        self._add(await call(UpkeepActivities.purge_deleted_events, sweep))
        return self._progress.result

    def _add(self, found: SweepResult) -> None:
        so_far = self._progress.result
        total = SweepResult(
            told=so_far.told + found.told,
            started=so_far.started + found.started,
            fired=so_far.fired + found.fired,
            missed=so_far.missed + found.missed,
            deleted=so_far.deleted + found.deleted,
            broken=so_far.broken + found.broken,
            purged=so_far.purged + found.purged,
        )
        self._progress = self._progress.model_copy(update={"done": self._progress.done + 1, "result": total})
        report(self._progress)
