"""DemoTreeWorkflow: toy work in a tree, so that the activity page has something to show."""

import asyncio

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import EVERYONE
    from pressbox.core.progress.contracts import Progress
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.demo.activities import DemoActivities
    from pressbox.demo.contracts import DemoStepInput, DemoTreeWorkflowInput, DemoTreeWorkflowResult
    from pressbox.demo.ids import child_workflow_id


@workflow.defn
class DemoTreeWorkflow:
    """Does nothing useful, and reports its progress.

    Id `demo-tree-{name}`, children `…-{number}`; started by `pressbox demo`. A node runs its children at the
    same time and ends when all have ended, even if some failed; a leaf takes its steps one after the other.
    """

    @workflow.init
    def __init__(self, input: DemoTreeWorkflowInput) -> None:
        self._progress = Progress(
            title=input.title, audience=EVERYONE, total=input.children if input.depth else input.steps
        )

    @workflow.query
    def get_progress(self) -> Progress:
        return self._progress

    @workflow.run
    async def run(self, input: DemoTreeWorkflowInput) -> DemoTreeWorkflowResult:
        if input.depth == 0:
            return await self._take_steps(input)
        counts = await asyncio.gather(*(self._run_child(input, number) for number in range(1, input.children + 1)))
        failed = sum(1 for count in counts if count is None)
        if failed:
            self._show(message=f"{failed} of {input.children} failed")
        return DemoTreeWorkflowResult(steps=sum(count for count in counts if count is not None))

    async def _take_steps(self, input: DemoTreeWorkflowInput) -> DemoTreeWorkflowResult:
        for step in range(1, input.steps + 1):
            fail = input.number in input.failing and step == input.steps
            step_input = DemoStepInput(workflow_id=workflow.info().workflow_id, step=step, pause=input.pause, fail=fail)
            await call(DemoActivities.take_demo_step, step_input)
            self._show(done=step, message=f"Step {step}")
        return DemoTreeWorkflowResult(steps=input.steps)

    async def _run_child(self, input: DemoTreeWorkflowInput, number: int) -> int | None:
        child = input.model_copy(
            update={"title": f"{input.title}, part {number}", "depth": input.depth - 1, "number": number}
        )
        try:
            result = await workflow.execute_child_workflow(
                DemoTreeWorkflow.run,
                child,
                id=child_workflow_id(workflow.info().workflow_id, number),
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            )
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            self._show(done=self._progress.done + 1)
            return None
        self._show(done=self._progress.done + 1)
        return result.steps

    def _show(self, **changes: object) -> None:
        self._progress = self._progress.model_copy(update=changes)
        report(self._progress)
