"""The effects of maintenance: one activity for each kind of thing that grows old."""

from temporalio import activity

from pressbox.core.temporal.heartbeat import ResumableHeartbeat
from pressbox.maintenance.contracts import PruneInput, PruneResult, ScratchCursor
from pressbox.maintenance.ports import Records, Scratch


class MaintenanceActivities:
    def __init__(self, records: Records, scratch: Scratch) -> None:
        self._records = records
        self._scratch = scratch

    @activity.defn
    async def prune_sessions(self, input: PruneInput) -> PruneResult:
        return PruneResult(removed=await self._records.prune_sessions(input.before))

    @activity.defn
    async def prune_tokens(self, input: PruneInput) -> PruneResult:
        return PruneResult(removed=await self._records.prune_tokens(input.before))

    @activity.defn
    async def prune_rate_limits(self, input: PruneInput) -> PruneResult:
        return PruneResult(removed=await self._records.prune_rate_limits(input.before))

    @activity.defn
    async def prune_changes(self, input: PruneInput) -> PruneResult:
        return PruneResult(removed=await self._records.prune_changes(input.before))

    @activity.defn
    async def prune_progress(self, input: PruneInput) -> PruneResult:
        return PruneResult(removed=await self._records.prune_progress(input.before))

    @activity.defn
    async def prune_scratch_objects(self, input: PruneInput) -> PruneResult:
        """A retry continues the count: what an earlier attempt removed is no longer listed."""
        async with ResumableHeartbeat(ScratchCursor()) as heart:
            heart.advance(
                ScratchCursor(removed=heart.cursor.removed + await self._scratch.remove_unfinished(input.before))
            )
            async for key in self._scratch.older_than(input.before):
                await self._scratch.remove(key)
                heart.advance(ScratchCursor(removed=heart.cursor.removed + 1))
            return PruneResult(removed=heart.cursor.removed)
