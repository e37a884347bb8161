"""Looks in the database, beside a worker, whether the sweep has something to do, and starts it then.

The schedule starts it a few times an hour in any case. Looking costs Temporal nothing.
"""

import asyncio
import random

from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.app import Resources
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.processes.calls import CallFailedError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.delivery.adapters.apprise_child import list_services
from pressbox.delivery.adapters.apprise_sender import fork_server
from pressbox.soonish.adapters.due_work import SqlDueWork
from pressbox.soonish.contracts import ReconcileWorkflowInput
from pressbox.soonish.ids import QUEUE, RECONCILE, RECONCILE_WORKFLOW
from pressbox.soonish.policy import policy

log = get_logger(__name__)

LOOK_SECONDS = 15.0
# What a sweep could not mend, the next one a moment later cannot mend either.
REST_SECONDS = 60.0


async def keep_looking(resources: Resources) -> None:
    """Runs as long as the worker polls. What sends is made ready first: the first message should not wait for it."""
    is_ready = False
    while True:
        try:
            is_ready = is_ready or await _make_ready(resources)
            started = await start_sweep_when_due(resources)
        except (TransientError, CallFailedError) as error:
            log.warning("sweep_not_started", msg="Nobody can look what is due; it is tried again", error=str(error))
            started = False
        # Several workers do not look at the same moment.
        await asyncio.sleep((REST_SECONDS if started else LOOK_SECONDS) * random.uniform(0.8, 1.2))  # noqa: S311


async def _make_ready(resources: Resources) -> bool:
    """Load what sends as soon as anybody may be written to. An instance without events does without."""
    if not await SqlDueWork(resources.database).has_followers():
        return False
    await fork_server().run(list_services)
    return True


async def start_sweep_when_due(resources: Resources) -> bool:
    """One sweep at a time, whichever worker sees first that something is due."""
    sizes = policy(resources.settings)
    if not await SqlDueWork(resources.database).look(sizes.overdue_after):
        return False
    with translate_rpc_errors():
        await resources.temporal.start_workflow(
            RECONCILE,
            ReconcileWorkflowInput(policy=sizes, looks_first=True),
            id=f"{RECONCILE_WORKFLOW}-due",
            task_queue=QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
    return True
