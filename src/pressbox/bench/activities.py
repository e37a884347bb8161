"""The smallest possible activity."""

from temporalio import activity

from pressbox.bench.contracts import BenchStepInput, BenchStepResult
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK


class BenchActivities:
    @activity.defn
    @call_with(QUICK)
    async def take_bench_step(self, input: BenchStepInput) -> BenchStepResult:
        return BenchStepResult(number=input.number)
