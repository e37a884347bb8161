"""Starts, stops and resumes research."""

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.temporal.client import reaching_temporal
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.library.starter import PATIENCE, Starter
from pressbox.curator.research.contracts import (
    DEEP_RESEARCH,
    RESEARCH_RESUMED,
    RESEARCH_STOPPED,
    DeepResearchInput,
    research_workflow_id,
)


class ResearchStarter(Starter):
    def __init__(self, client: Client, task_queue: str, policy: CuratorPolicy, *, evaluate: bool = False) -> None:
        super().__init__(client, task_queue, policy)
        self._evaluate = evaluate

    async def research(self, run_id: int) -> str:
        """Start a run, or go on with it. One that is about to stop hears that it shall not."""
        with reaching_temporal():
            handle = await self._client.start_workflow(
                DEEP_RESEARCH,
                DeepResearchInput(run_id=run_id, evaluate=self._evaluate, policy=self._policy),
                id=research_workflow_id(run_id),
                task_queue=self._task_queue,
                start_signal=RESEARCH_RESUMED,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=PATIENCE,
            )
        return handle.id

    async def stop(self, run_id: int) -> bool:
        """False when nothing runs that could be stopped."""
        handle = self._client.get_workflow_handle(research_workflow_id(run_id))
        with reaching_temporal():
            try:
                await handle.signal(RESEARCH_STOPPED, rpc_timeout=PATIENCE)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                return False
        return True

    async def give_up(self, run_id: int) -> None:
        """For good: nobody wants it any more."""
        handle = self._client.get_workflow_handle(research_workflow_id(run_id))
        with reaching_temporal():
            try:
                await handle.cancel(rpc_timeout=PATIENCE)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
