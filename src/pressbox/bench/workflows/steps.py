"""BenchStepsWorkflow: runs activities and reports progress, to be counted and timed."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.bench.activities import BenchActivities
    from pressbox.bench.contracts import BenchStepInput, BenchStepsWorkflowInput, BenchStepsWorkflowResult
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.contracts import Progress
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call


@workflow.defn
class BenchStepsWorkflow:
    """Id `bench-…`; started by a benchmark, ends by itself. A retry repeats a step that has no effect."""

    @workflow.init
    def __init__(self, input: BenchStepsWorkflowInput) -> None:
        self._progress = Progress(title="Measuring", audience=EVERYONE, total=input.steps)

    @workflow.query
    def get_progress(self) -> Progress:
        return self._progress

    @workflow.run
    async def run(self, input: BenchStepsWorkflowInput) -> BenchStepsWorkflowResult:
        reports = 0
        for number in range(1, input.steps + 1):
            await call(BenchActivities.take_bench_step, BenchStepInput(number=number))
            for _ in range(input.reports):
                reports += 1
                self._progress = self._progress.model_copy(update={"done": number, "message": f"Report {reports}"})
                report(self._progress)
        return BenchStepsWorkflowResult(steps=input.steps, reports=reports)
