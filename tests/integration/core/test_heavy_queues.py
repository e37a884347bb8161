"""A worker on a machine that is short of memory: heavy queues get less, the others what they always get."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from temporalio import activity, workflow

from pressbox.core.app import AppManifest, Resources, TaskQueue
from pressbox.core.config import WorkerSettings
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.worker import build_workers
from tests.waiting import until

AT_ONCE = 12
# Every machine has more in use than this.
SHORT = WorkerSettings(memory_target_percent=1)


class Steps:
    """Activities that keep their place until they are released."""

    def __init__(self) -> None:
        self.begun = 0
        self.released = asyncio.Event()

    @activity.defn
    async def hold_place(self) -> None:
        self.begun += 1
        await self.released.wait()


@workflow.defn(sandboxed=False)
class ManyStepsWorkflow:
    @workflow.run
    async def run(self) -> None:
        limit = timedelta(minutes=5)
        steps = [
            workflow.execute_activity_method(Steps.hold_place, start_to_close_timeout=limit) for _ in range(AT_ONCE)
        ]
        await asyncio.gather(*steps)


@asynccontextmanager
async def working(resources: Resources, *, heavy: bool) -> AsyncIterator[Steps]:
    """Twelve steps wait for a worker that may take twelve."""
    steps, queue = Steps(), f"steps-{secrets.token_hex(4)}"
    manifest = AppManifest(
        name="steps",
        title="Steps",
        summary="Holds places.",
        queues=(TaskQueue(queue, AT_ONCE, heavy=heavy),),
        workflows=lambda: {queue: (ManyStepsWorkflow,)},
        activities=lambda _: {queue: (steps.hold_place,)},
    )
    short = replace(resources, settings=resources.settings.model_copy(update={"worker": SHORT}))
    (worker,) = build_workers(short, [manifest], ProgressSink(resources.database))
    async with worker:
        run = await resources.temporal.start_workflow(ManyStepsWorkflow.run, id=queue, task_queue=queue)
        yield steps
        steps.released.set()
        await run.result()
    assert steps.begun == AT_ONCE, "none was lost"


async def test_less_of_a_heavy_queue_is_taken_while_memory_is_short_and_all_of_it_in_the_end(
    resources: Resources,
) -> None:
    async with working(resources, heavy=True) as steps:
        await until(lambda: steps.begun >= AT_ONCE // 4, "the share that is always taken")
        # More would come within a moment if the worker took them.
        await asyncio.sleep(1)
        assert steps.begun == AT_ONCE // 4


async def test_other_queues_are_taken_as_always(resources: Resources) -> None:
    async with working(resources, heavy=False) as steps:
        await until(lambda: steps.begun == AT_ONCE, "all of them at once")
