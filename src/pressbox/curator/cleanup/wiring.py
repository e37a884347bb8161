"""The workflow, activity and schedule of the cleanup."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.core.app import ActivitiesByQueue, Resources, ScheduleDeclaration
from pressbox.core.config import Settings
from pressbox.curator.cleanup.activities import CleanupActivities
from pressbox.curator.cleanup.contracts import CLEANUP_WORKFLOW, EntriesCleanupInput
from pressbox.curator.cleanup.store import SqlCleanupStore
from pressbox.curator.cleanup.workflow import EntriesCleanupWorkflow
from pressbox.curator.library.slice import Slice
from pressbox.curator.names import CLEANUP_SCHEDULE, QUEUE
from pressbox.curator.settings import policy


def activities(resources: Resources) -> ActivitiesByQueue:
    return {QUEUE: (CleanupActivities(SqlCleanupStore(resources.database)).cleanup_old_entries,)}


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    cleanup = ScheduleDeclaration(
        id=CLEANUP_SCHEDULE,
        workflow=EntriesCleanupWorkflow.__name__,
        workflow_id=CLEANUP_WORKFLOW,
        task_queue=QUEUE,
        input=EntriesCleanupInput(older_than_days=policy(settings).keep_days, routine=True),
        summary="Deletes old entries that everybody has read and nobody kept",
        cron="20 3 * * *",
        # A machine that was off at night still cleans up.
        catchup_window=timedelta(hours=20),
    )
    return (cleanup,)


SLICE = Slice(workflows=(EntriesCleanupWorkflow,), activities=activities, schedules=schedules)
