"""The workflows that benchmarks run; never part of an instance."""

from pressbox.bench.activities import BenchActivities
from pressbox.bench.workflows.steps import BenchStepsWorkflow
from pressbox.core.app import AppManifest, TaskQueue
from pressbox.core.temporal.pinning import pinned

QUEUE = "bench"

APP = AppManifest(
    name="bench",
    title="Benchmarks",
    summary="The smallest work that can be measured.",
    queues=(TaskQueue(QUEUE),),
    workflows=lambda: {QUEUE: (pinned(BenchStepsWorkflow),)},
    activities=lambda _: {QUEUE: (BenchActivities().take_bench_step,)},
)
