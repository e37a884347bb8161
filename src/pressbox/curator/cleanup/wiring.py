"""The workflow, activity and schedule of the cleanup."""

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.temporal.pinning import pinned
from pressbox.curator.cleanup.activities import CleanupActivities
from pressbox.curator.cleanup.store import SqlCleanupStore
from pressbox.curator.cleanup.workflow import EntriesCleanupWorkflow
from pressbox.curator.library.slice import Slice
from pressbox.curator.names import QUEUE


def activities(resources: Resources) -> ActivitiesByQueue:
    return {QUEUE: (CleanupActivities(SqlCleanupStore(resources.database)).cleanup_old_entries,)}


SLICE = Slice(workflows=(pinned(EntriesCleanupWorkflow),), activities=activities)
