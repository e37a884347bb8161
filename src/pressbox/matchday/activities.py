"""The effects of matchday: fixtures that people follow are kept as events."""

from collections.abc import Collection, Sequence
from typing import Protocol

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG
from pressbox.matchday.contracts import KeepInput, KeptFixtures

KEPT_TOGETHER = 50


class Changes(Protocol):
    """Fixtures of which something changed, and up to where the log was read."""

    @property
    def fixture_ids(self) -> Sequence[int]: ...

    @property
    def up_to(self) -> int: ...

    @property
    def more(self) -> bool: ...

    @property
    def lost(self) -> bool: ...


class Store(Protocol):
    """Fixtures, follows and the change log. A port, so that a workflow can import these activities."""

    async def find_changed(self) -> Changes:
        """What changed since it was last noted as read."""
        ...

    async def note_read(self, up_to: int) -> None:
        """Go on after this change the next time."""
        ...

    async def find_all(self, after: int, limit: int) -> Sequence[int]:
        """Fixtures that have an event or should have one, by id."""
        ...

    async def keep(self, fixture_ids: Collection[int]) -> int:
        """Bring their events into step, and return how many could not be. Repeating it changes nothing."""
        ...


class MatchdayActivities:
    def __init__(self, store: Store) -> None:
        self._store = store

    @activity.defn
    @call_with(LONG)
    async def keep_changed_fixtures(self, _: KeepInput) -> KeptFixtures:
        """What was read is noted after its events are in step: a killed worker repeats it, which changes nothing."""
        changed = await self._store.find_changed()
        if changed.lost:
            # What changes from here on is in the log; everything before it is looked at now.
            await self._store.note_read(changed.up_to)
            return KeptFixtures(lost=True)
        async with Heartbeat():
            failed = await self._store.keep(changed.fixture_ids)
        await self._store.note_read(changed.up_to)
        return KeptFixtures(kept=len(changed.fixture_ids), failed=failed, more=changed.more)

    @activity.defn
    @call_with(LONG)
    async def keep_all_fixtures(self, input: KeepInput) -> KeptFixtures:
        found = await self._store.find_all(input.after, KEPT_TOGETHER)
        async with Heartbeat():
            failed = await self._store.keep(found)
        next_after = found[-1] if len(found) == KEPT_TOGETHER else None
        return KeptFixtures(kept=len(found), failed=failed, next_after=next_after)
