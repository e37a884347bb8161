"""The activities alone, in Temporal's activity environment."""

from datetime import UTC, datetime

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.contracts import PruneInput, PruneResult, ScratchCursor
from tests.fakes.maintenance import FakeRecords, FakeScratch

INPUT = PruneInput(before=datetime(2026, 5, 1, tzinfo=UTC))


async def test_an_activity_hands_its_instant_to_the_port() -> None:
    records = FakeRecords({"sessions": 2})
    result = await ActivityEnvironment().run(MaintenanceActivities(records, FakeScratch([])).prune_sessions, INPUT)
    assert result == PruneResult(removed=2)
    assert records.asked == [("sessions", INPUT.before)]


async def test_scratch_objects_are_removed_with_a_beating_heart() -> None:
    environment = ActivityEnvironment()
    beats: list[object] = []
    environment.on_heartbeat = lambda *details: beats.append(details[0])
    scratch = FakeScratch(["scratch/a", "scratch/b"])
    result = await environment.run(MaintenanceActivities(FakeRecords({}), scratch).prune_scratch_objects, INPUT)
    assert (result.removed, scratch.keys) == (2, [])
    assert beats == [ScratchCursor(removed=0), ScratchCursor(removed=1), ScratchCursor(removed=2)]


async def test_a_retry_continues_the_count_of_the_attempt_before() -> None:
    environment = ActivityEnvironment()
    details = [ScratchCursor(removed=5).model_dump()]
    environment.info = environment.info.__class__(**{**environment.info.__dict__, "heartbeat_details": details})
    scratch = FakeScratch(["scratch/c"])
    result = await environment.run(MaintenanceActivities(FakeRecords({}), scratch).prune_scratch_objects, INPUT)
    assert result.removed == 6


async def test_cancelling_ends_the_work() -> None:
    class Endless(FakeScratch):
        async def remove(self, key: str) -> None:
            environment.cancel()

    environment = ActivityEnvironment()
    scratch = Endless([f"scratch/{number}" for number in range(10_000)])
    with pytest.raises(BaseException) as ended:  # noqa: PT011
        await environment.run(MaintenanceActivities(FakeRecords({}), scratch).prune_scratch_objects, INPUT)
    assert type(ended.value).__name__ == "CancelledError"
