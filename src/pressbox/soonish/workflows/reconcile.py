"""ReconcileWorkflow: the sweep that finishes what was left undone."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.soonish.activities.sweeps import SweepActivities
    from pressbox.soonish.activities.upkeep import UpkeepActivities
    from pressbox.soonish.contracts import ReconcileProgress, ReconcileWorkflowInput, SweepInput, SweepResult, SweepStep

STEPS: Mapping[SweepStep, Callable[[Any, SweepInput], Awaitable[SweepResult]]] = {
    SweepStep.OUTBOX: SweepActivities.sweep_outbox,
    SweepStep.ASKED_REMINDERS: SweepActivities.sweep_asked_reminders,
    SweepStep.REMINDERS: SweepActivities.sweep_reminders,
    SweepStep.BROKEN_CHANNELS: UpkeepActivities.tell_owners_of_broken_channels,
    SweepStep.PURGE: UpkeepActivities.purge_deleted_events,
}


@workflow.defn
class ReconcileWorkflow:
    """Sends unsent signals, fires overdue reminders, reports broken channels and removes deleted events.

    Id `soonish-reconcile-…`; started every ten minutes by the schedule `soonish-reconcile`, and when a worker sees in
    the database that something is due. One activity looks; only what is due is done. Repeating it is harmless.
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
        steps: Collection[SweepStep] = tuple(SweepStep)
        if input.looks_first:
            steps = (await call(SweepActivities.find_due_work, sweep)).steps
            self._progress = self._progress.model_copy(update={"total": len(steps)})
        for step, activity in STEPS.items():
            if step in steps:
                self._add(await call(activity, sweep))
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
