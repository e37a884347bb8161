"""The effects of maintenance: one activity for each kind of thing that grows old."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import ResumableHeartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.maintenance.contracts import Kind, PruneInput, PruneResult, ScratchCursor


class Store(Protocol):
    """Where old things lie. Repeating a call with the same instant is harmless.

    A port, and not the store itself, so that a workflow can import these activities without a database.
    """

    async def delete_rows(self, kind: Kind, before: datetime) -> int:
        """Delete what ended before the instant, and return how many."""
        ...

    def list_scratch(self, before: datetime) -> AsyncIterator[str]:
        """Keys of scratch objects that were last written before the instant."""
        ...

    async def delete_scratch(self, key: str) -> None:
        """Delete one; a missing one is fine."""
        ...

    async def delete_unfinished(self, before: datetime) -> int:
        """Delete what writers that died before the instant left half-written, and return how many."""
        ...


class MaintenanceActivities:
    def __init__(self, store: Store) -> None:
        self._store = store

    @activity.defn
    @call_with(QUICK)
    async def prune_sessions(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.SESSIONS, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_tokens(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.TOKENS, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_rate_limits(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.RATE_LIMITS, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_changes(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.CHANGES, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_progress(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.PROGRESS, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_accounts(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.ACCOUNTS, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_audit_log(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.AUDIT_LOG, input)

    @activity.defn
    @call_with(QUICK)
    async def prune_notices(self, input: PruneInput) -> PruneResult:
        return await self._delete_rows(Kind.NOTICES, input)

    @activity.defn
    @call_with(LONG)
    async def prune_scratch_objects(self, input: PruneInput) -> PruneResult:
        """A retry continues the count: what an earlier attempt removed is no longer listed."""
        async with ResumableHeartbeat(ScratchCursor()) as heartbeat:
            unfinished = await self._store.delete_unfinished(input.before)
            heartbeat.advance(ScratchCursor(removed=heartbeat.cursor.removed + unfinished))
            async for key in self._store.list_scratch(input.before):
                await self._store.delete_scratch(key)
                heartbeat.advance(ScratchCursor(removed=heartbeat.cursor.removed + 1))
            return PruneResult(removed=heartbeat.cursor.removed)

    async def _delete_rows(self, kind: Kind, input: PruneInput) -> PruneResult:
        return PruneResult(removed=await self._store.delete_rows(kind, input.before))
