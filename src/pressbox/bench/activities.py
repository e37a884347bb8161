"""The least that an activity can do."""

from temporalio import activity

from pressbox.bench.contracts import BenchStepInput, BenchStepResult


class BenchActivities:
    @activity.defn
    async def take_bench_step(self, input: BenchStepInput) -> BenchStepResult:
        return BenchStepResult(number=input.number)
