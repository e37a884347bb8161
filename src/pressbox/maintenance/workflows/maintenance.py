"""MaintenanceWorkflow: keeps the instance small."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.options import LONG, QUICK
    from pressbox.maintenance.activities import MaintenanceActivities
    from pressbox.maintenance.contracts import (
        MaintenanceProgress,
        MaintenanceWorkflowInput,
        MaintenanceWorkflowResult,
        PruneInput,
        PruneResult,
    )
    from pressbox.maintenance.domain.retention import PlannedStep, Step, plan


@workflow.defn
class MaintenanceWorkflow:
    """Removes what nobody needs any more, kind by kind.

    Id `core-maintenance-…`; started hourly by the schedule `core-maintenance`, or by hand from the status page. Ends
    when every kind was pruned. A retried activity repeats the same instant and so removes nothing more.
    """

    @workflow.init
    def __init__(self, input: MaintenanceWorkflowInput) -> None:
        self._progress = MaintenanceProgress(title="Cleaning up", total=len(Step))

    @workflow.query
    def get_progress(self) -> MaintenanceProgress:
        return self._progress

    @workflow.run
    async def run(self, input: MaintenanceWorkflowInput) -> MaintenanceWorkflowResult:
        policy = input.policy
        steps = plan(
            workflow.now(),
            keep_changes=policy.keep_changes,
            keep_progress=policy.keep_progress,
            keep_scratch=policy.keep_scratch,
        )
        for planned in steps:
            self._show(message=f"Removing old {planned.step}")
            result = await self._prune(planned)
            removed = {**self._progress.removed, planned.step.value: result.removed}
            self._show(done=self._progress.done + 1, removed=removed)
        self._show(message=f"Removed {sum(self._progress.removed.values())} things")
        return MaintenanceWorkflowResult(removed=self._progress.removed)

    async def _prune(self, planned: PlannedStep) -> PruneResult:
        input = PruneInput(before=planned.before)
        match planned.step:
            case Step.SESSIONS:
                return await workflow.execute_activity_method(MaintenanceActivities.prune_sessions, input, **QUICK)
            case Step.TOKENS:
                return await workflow.execute_activity_method(MaintenanceActivities.prune_tokens, input, **QUICK)
            case Step.RATE_LIMITS:
                return await workflow.execute_activity_method(MaintenanceActivities.prune_rate_limits, input, **QUICK)
            case Step.CHANGES:
                return await workflow.execute_activity_method(MaintenanceActivities.prune_changes, input, **QUICK)
            case Step.PROGRESS:
                return await workflow.execute_activity_method(MaintenanceActivities.prune_progress, input, **QUICK)
            case Step.SCRATCH:
                return await workflow.execute_activity_method(
                    MaintenanceActivities.prune_scratch_objects, input, **LONG
                )

    def _show(self, **changes: object) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
