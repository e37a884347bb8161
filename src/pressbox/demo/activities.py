"""Activities of toy work."""

import asyncio

from temporalio import activity

from pressbox.core.errors import PermanentError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK
from pressbox.demo.contracts import DemoStepInput, DemoStepResult
from pressbox.demo.ids import step_key


class DemoActivities:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    @activity.defn
    @call_with(QUICK)
    async def take_demo_step(self, input: DemoStepInput) -> DemoStepResult:
        """Wait, then write one object, so that a lost or a repeated step can be seen."""
        await asyncio.sleep(input.pause.total_seconds())
        if input.fail:
            raise PermanentError("This leaf fails on purpose, to show what a failure looks like.")
        await self._objects.put(step_key(input.workflow_id, input.step), b"done")
        return DemoStepResult(step=input.step)
