"""The activities of the cleanup."""

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.curator.cleanup.activities import CleanupActivities
from pressbox.curator.cleanup.store import SqlCleanupStore
from pressbox.curator.library.contracts import QUEUE


def activities(resources: Resources) -> ActivitiesByQueue:
    return {QUEUE: (CleanupActivities(SqlCleanupStore(resources.database)).cleanup_old_entries,)}
