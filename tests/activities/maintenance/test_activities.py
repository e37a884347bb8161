"""The activities alone, in Temporal's activity environment."""

from datetime import UTC, datetime

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.contracts import Kind, PruneInput, PruneResult, ScratchCursor
from tests.fakes.maintenance import FakeStore

INPUT = PruneInput(before=datetime(2026, 5, 1, tzinfo=UTC))


async def test_an_activity_hands_its_instant_to_the_port() -> None:
    store = FakeStore({Kind.SESSIONS: 2})
    result = await ActivityEnvironment().run(MaintenanceActivities(store).prune_sessions, INPUT)
    assert result == PruneResult(removed=2)
    assert store.asked == [(Kind.SESSIONS, INPUT.before)]


async def test_scratch_objects_are_removed_with_heartbeats() -> None:
    environment = ActivityEnvironment()
    beats: list[object] = []
    environment.on_heartbeat = lambda *details: beats.append(details[0])
    store = FakeStore(scratch=["scratch/a", "scratch/b"])
    result = await environment.run(MaintenanceActivities(store).prune_scratch_objects, INPUT)
    assert (result.removed, store.scratch) == (2, [])
    assert beats == [ScratchCursor(removed=0), ScratchCursor(removed=1), ScratchCursor(removed=2)]


async def test_a_retry_continues_the_count_of_the_attempt_before() -> None:
    environment = ActivityEnvironment()
    details = [ScratchCursor(removed=5).model_dump()]
    environment.info = environment.info.__class__(**{**environment.info.__dict__, "heartbeat_details": details})
    store = FakeStore(scratch=["scratch/c"])
    result = await environment.run(MaintenanceActivities(store).prune_scratch_objects, INPUT)
    assert result.removed == 6


async def test_cancelling_ends_the_work() -> None:
    class Endless(FakeStore):
        async def delete_scratch(self, key: str) -> None:
            environment.cancel()

    environment = ActivityEnvironment()
    store = Endless(scratch=[f"scratch/{number}" for number in range(10_000)])
    with pytest.raises(BaseException) as ended:  # noqa: PT011
        await environment.run(MaintenanceActivities(store).prune_scratch_objects, INPUT)
    assert type(ended.value).__name__ == "CancelledError"
