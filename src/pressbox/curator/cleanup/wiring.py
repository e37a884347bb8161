"""The activities of the cleanup."""

from collections.abc import Mapping

from pressbox.core.app import Resources
from pressbox.curator.cleanup.activities import CleanupActivities
from pressbox.curator.cleanup.store import SqlCleanupStore
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.parts import Functions


def activities(resources: Resources) -> Mapping[str, Functions]:
    return {QUEUE: (CleanupActivities(SqlCleanupStore(resources.database)).cleanup_old_entries,)}
