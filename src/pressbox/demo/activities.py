"""The effects of toy work."""

import asyncio

from temporalio import activity

from pressbox.core.errors import PermanentError
from pressbox.demo.contracts import DemoStepInput, DemoStepResult
from pressbox.demo.ports import Marks


class DemoActivities:
    def __init__(self, marks: Marks) -> None:
        self._marks = marks

    @activity.defn
    async def take_demo_step(self, input: DemoStepInput) -> DemoStepResult:
        await asyncio.sleep(input.pause.total_seconds())
        if input.fail:
            raise PermanentError("This leaf fails on purpose, to show what a failure looks like.")
        await self._marks.leave(input.workflow_id, input.step)
        return DemoStepResult(step=input.step)
