"""Looks in the change log, beside a worker, whether a followed fixture or a follow changed, and starts the workflow.

The schedule looks at everything a few times an hour in any case.
"""

import asyncio
import random

from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.app import Resources
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.footy.service.coming import ComingFixtures
from pressbox.matchday.contracts import CHANGED_ID, QUEUE, WORKFLOW, MatchdayWorkflowInput
from pressbox.matchday.store import MatchdayStore
from pressbox.soonish.wiring import kept_events

log = get_logger(__name__)

# Somebody who has just followed a team looks for its next match.
LOOK_SECONDS = 3.0


def build_store(resources: Resources) -> MatchdayStore:
    return MatchdayStore(resources.database, ComingFixtures(resources.database), kept_events(resources))


async def keep_looking(resources: Resources) -> None:
    """Runs as long as the worker polls."""
    store = build_store(resources)
    while True:
        try:
            await start_when_due(resources, store)
        except TransientError as error:
            log.warning("changes_not_read", msg="Nobody can look what changed; it is tried again", error=str(error))
        # Several workers do not look at the same moment.
        await asyncio.sleep(LOOK_SECONDS * random.uniform(0.8, 1.2))  # noqa: S311


async def start_when_due(resources: Resources, store: MatchdayStore) -> bool:
    """One run at a time, whichever worker sees the change first."""
    changed = await store.find_changed()
    if not await store.is_due(changed):
        if changed.fixture_ids or changed.far:
            await store.note_read(changed.up_to)
        return False
    with translate_rpc_errors():
        await resources.temporal.start_workflow(
            WORKFLOW,
            MatchdayWorkflowInput(),
            id=CHANGED_ID,
            task_queue=QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
    return True
