"""Looks in the database, beside a worker, whether a digest is due, and starts the workflow then.

Looking costs Temporal nothing. The schedule looks once an hour in any case.
"""

import asyncio
import random

from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.app import Resources
from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.digest.contracts import DUE_WORKFLOW_ID, QUEUE, WORKFLOW, DigestWorkflowInput
from pressbox.digest.store import DigestStore

log = get_logger(__name__)

LOOK_SECONDS = 20.0


async def keep_looking(resources: Resources) -> None:
    """Runs as long as the worker polls."""
    while True:
        try:
            await start_when_due(resources)
        except TransientError as error:
            log.warning("digests_not_started", msg="Nobody can look which digests are due", error=str(error))
        # Several workers do not look at the same moment.
        await asyncio.sleep(LOOK_SECONDS * random.uniform(0.8, 1.2))  # noqa: S311


async def start_when_due(resources: Resources, now: Clock = utc_now, queue: str = QUEUE) -> bool:
    """One run at a time, whichever worker sees first that something is due."""
    if not await DigestStore(resources.database).has_due(now()):
        return False
    with translate_rpc_errors():
        await resources.temporal.start_workflow(
            WORKFLOW,
            DigestWorkflowInput(),
            id=DUE_WORKFLOW_ID,
            task_queue=queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
    return True
