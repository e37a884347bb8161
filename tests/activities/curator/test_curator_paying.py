"""A text is paid for once, however many feeds it comes with, and however many of them are read at a time."""

import asyncio
from dataclasses import replace

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.curator.activities import distilling
from pressbox.curator.contracts.distilling import DistilledBatch, EntryIds
from tests.fakes.curator import FakeEntry, FakeWorld


async def distilled(world: FakeWorld, entry: FakeEntry, workflow_id: str) -> DistilledBatch:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, workflow_id=workflow_id)
    functions = {function.__name__: function for function in world.heavy_activities()}
    batch = await environment.run(functions["distill_entry_content"], EntryIds(entry_ids=(entry.entry_id,)))
    assert isinstance(batch, DistilledBatch)
    return batch


@pytest.fixture
def story() -> tuple[FakeWorld, FakeEntry, FakeEntry]:
    """The same article in two feeds."""
    world = FakeWorld(paid=True)
    (one,), (other,) = world.fetched(world.feed(), 1), world.fetched(world.feed(), 1)
    other.text = one.text
    return world, one, other


async def test_two_feeds_with_the_same_article_at_a_time_pay_once(
    story: tuple[FakeWorld, FakeEntry, FakeEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distilling, "BETWEEN_LOOKS_SECONDS", 0.01)
    world, one, other = story
    world.distiller.hold = asyncio.Event()
    both = [asyncio.create_task(distilled(world, entry, f"feed-{entry.feed_id}")) for entry in (one, other)]
    await asyncio.sleep(0.1)
    world.distiller.hold.set()
    first, second = await asyncio.gather(*both)
    assert len(world.distiller.batches) == 1
    assert [answer.entry_id for batch in (first, second) for answer in batch.answers] == [one.entry_id, other.entry_id]
    assert first.failed == second.failed == ()


async def test_who_waits_too_long_for_the_answer_of_another_comes_back_later(
    story: tuple[FakeWorld, FakeEntry, FakeEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distilling, "PATIENCE", distilling.PATIENCE * 0)
    world, one, other = story
    world.distiller.hold = asyncio.Event()
    first = asyncio.create_task(distilled(world, one, "one"))
    await asyncio.sleep(0.05)
    second = await distilled(world, other, "other")
    assert (second.waiting, second.reason) == ((other.entry_id,), distilling.ASKED_ELSEWHERE)
    assert second.failed == ()
    world.distiller.hold.set()
    assert len((await first).answers) == 1
    assert len((await distilled(world, other, "other")).answers) == 1
    assert len(world.distiller.batches) == 1
