"""Deletes old entries, a batch at a time."""

from datetime import datetime
from typing import Protocol

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK
from pressbox.curator.cleanup.contracts import CleanupInput, CleanupResult


class CleanupStore(Protocol):
    async def clean_up(
        self, before: datetime, dry_run: bool, limit: int, *, unread_before: datetime | None = None
    ) -> CleanupResult:
        """Delete what everybody has read and nobody kept; a dry run only counts. The index learns of it later.

        What arrived before `unread_before` counts as read.
        """
        ...


class CleanupActivities:
    def __init__(self, entries: CleanupStore) -> None:
        self._entries = entries

    @activity.defn
    @call_with(QUICK)
    async def cleanup_old_entries(self, input: CleanupInput) -> CleanupResult:
        return await self._entries.clean_up(input.before, input.dry_run, input.limit, unread_before=input.unread_before)
