"""Starts the workflows of the curator."""

from datetime import timedelta

from temporalio.client import Client
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.app import Resources
from pressbox.core.contracts import Contract
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.settings import policy

RPC_TIMEOUT = timedelta(seconds=10)
# Its tasks, and those of its activities and children, come before all that nobody waits for (3, the usual).
SOMEBODY_WAITS = Priority(priority_key=1)


class Starter:
    """Starts workflows by name. If one already runs under the id, its id is returned."""

    def __init__(self, client: Client, task_queue: str, policy: CuratorPolicy) -> None:
        self._client = client
        self._task_queue = task_queue
        self._policy = policy

    async def start(
        self,
        workflow: str,
        input: Contract,
        workflow_id: str,
        limit: timedelta | None = None,
        *,
        priority: Priority = Priority.default,
    ) -> str:
        with translate_rpc_errors():
            handle = await self._client.start_workflow(
                workflow,
                input,
                id=workflow_id,
                task_queue=self._task_queue,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                execution_timeout=limit,
                rpc_timeout=RPC_TIMEOUT,
                priority=priority,
            )
        return handle.id


def workflow_starter(resources: Resources) -> Starter:
    return Starter(resources.temporal, QUEUE, policy(resources.settings))
