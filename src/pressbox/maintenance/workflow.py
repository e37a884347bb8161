"""MaintenanceWorkflow: keeps the instance small."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.maintenance.activities import MaintenanceActivities
    from pressbox.maintenance.contracts import (
        Kind,
        MaintenanceProgress,
        MaintenanceWorkflowInput,
        MaintenanceWorkflowResult,
        PruneInput,
    )

ACTIVITIES = {
    Kind.SESSIONS: MaintenanceActivities.prune_sessions,
    Kind.TOKENS: MaintenanceActivities.prune_tokens,
    Kind.RATE_LIMITS: MaintenanceActivities.prune_rate_limits,
    Kind.CHANGES: MaintenanceActivities.prune_changes,
    Kind.PROGRESS: MaintenanceActivities.prune_progress,
    Kind.SCRATCH: MaintenanceActivities.prune_scratch_objects,
    Kind.ACCOUNTS: MaintenanceActivities.prune_accounts,
    Kind.AUDIT_LOG: MaintenanceActivities.prune_audit_log,
    Kind.NOTICES: MaintenanceActivities.prune_notices,
}


@workflow.defn
class MaintenanceWorkflow:
    """Removes what nobody needs any more, kind by kind.

    Id `core-maintenance-…`; started hourly by the schedule `core-maintenance`, or by hand from the status page. Ends
    when every kind was pruned. A retried activity repeats the same instant and so removes nothing more.
    """

    @workflow.init
    def __init__(self, input: MaintenanceWorkflowInput) -> None:
        self._progress = MaintenanceProgress(
            title="Cleaning up", audience=ADMINISTRATORS, total=len(input.policy.cutoffs(workflow.now()))
        )

    @workflow.query
    def get_progress(self) -> MaintenanceProgress:
        return self._progress

    @workflow.run
    async def run(self, input: MaintenanceWorkflowInput) -> MaintenanceWorkflowResult:
        for kind, before in input.policy.cutoffs(workflow.now()).items():
            self._show(message=f"Removing old {kind}")
            result = await call(ACTIVITIES[kind], PruneInput(before=before))
            removed = {**self._progress.removed, kind.value: result.removed}
            self._show(done=self._progress.done + 1, removed=removed)
        self._show(message=f"Removed {sum(self._progress.removed.values())} things")
        return MaintenanceWorkflowResult(removed=self._progress.removed)

    def _show(self, **changes: object) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
