"""Deletes old entries, a batch at a time."""

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK
from pressbox.curator.cleanup.contracts import CleanupInput, CleanupResult
from pressbox.curator.cleanup.ports import CleanupStore


class CleanupActivities:
    def __init__(self, entries: CleanupStore) -> None:
        self._entries = entries

    @activity.defn
    @call_with(QUICK)
    async def cleanup_old_entries(self, input: CleanupInput) -> CleanupResult:
        return await self._entries.clean_up(input.before, input.dry_run, input.limit)
