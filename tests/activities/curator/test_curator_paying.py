"""A text is paid for once, however many feeds it comes with, and however many of them are read at a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import AnswerLostError, TransientError
from pressbox.core.spending import pay_once
from pressbox.curator.distil.contracts import DistilledBatch
from pressbox.curator.library.contracts import EntryIds
from tests.fakes.curator import FakeEntry, FakeWorld
from tests.waiting import until


async def distilled(world: FakeWorld, entry: FakeEntry, workflow_id: str) -> DistilledBatch:
    return await distilled_together(world, [entry], workflow_id)


async def distilled_together(
    world: FakeWorld, entries: Sequence[FakeEntry], workflow_id: str = "one"
) -> DistilledBatch:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, workflow_id=workflow_id)
    functions = {function.__name__: function for function in world.heavy_activities()}
    batch = await environment.run(
        functions["distill_entry_content"], EntryIds(entry_ids=tuple(one.entry_id for one in entries))
    )
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
    monkeypatch.setattr(pay_once, "POLL_SECONDS", 0.01)
    world, one, other = story
    world.distiller.hold = asyncio.Event()
    both = [asyncio.create_task(distilled(world, entry, f"feed-{entry.feed_id}")) for entry in (one, other)]
    await until(lambda: world.distiller.asked)
    world.distiller.hold.set()
    first, second = await asyncio.gather(*both)
    assert len(world.distiller.batches) == 1
    assert [answer.entry_id for batch in (first, second) for answer in batch.answers] == [one.entry_id, other.entry_id]
    assert first.failed == second.failed == ()


async def test_who_waits_too_long_for_the_answer_of_another_comes_back_later(
    story: tuple[FakeWorld, FakeEntry, FakeEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pay_once, "PATIENCE", pay_once.PATIENCE * 0)
    world, one, other = story
    world.distiller.hold = asyncio.Event()
    first = asyncio.create_task(distilled(world, one, "one"))
    await until(lambda: world.distiller.asked)
    second = await distilled(world, other, "other")
    assert (second.waiting, second.reason) == ((other.entry_id,), pay_once.PAID_ELSEWHERE)
    assert second.failed == ()
    world.distiller.hold.set()
    assert len((await first).answers) == 1
    assert len((await distilled(world, other, "other")).answers) == 1
    assert len(world.distiller.batches) == 1


async def test_summaries_that_cannot_be_used_are_counted_and_fail_alone() -> None:
    world = FakeWorld(paid=True)
    good, bad = world.fetched(world.feed(), 2)
    world.distiller.useless.add(bad.entry_id)
    batch = await distilled_together(world, [good, bad])
    assert [answer.entry_id for answer in batch.answers] == [good.entry_id]
    assert [entry.entry_id for entry in batch.failed] == [bad.entry_id]
    assert "The model refuses: no." in batch.failed[0].error
    assert (world.ledger.tokens, len(world.ledger.answers), world.ledger.reserved) == (330, 1, {})


async def test_a_model_that_is_down_gives_back_what_was_set_aside() -> None:
    world = FakeWorld(paid=True)
    (entry,) = world.fetched(world.feed(), 1)
    world.distiller.down = TransientError("The model does not answer.")
    assert (await distilled(world, entry, "one")).retry_at is not None
    assert (world.ledger.tokens, world.ledger.reserved) == (0, {})


async def test_a_poisoned_text_is_asked_for_a_bounded_number_of_times_and_holds_up_nobody() -> None:
    world = FakeWorld(paid=True)
    bad, *others = world.fetched(world.feed(), 5)
    world.distiller.breaks[bad.entry_id] = AnswerLostError("No complete answer within 120 seconds.")
    first = await distilled_together(world, [bad, *others])
    assert {answer.entry_id for answer in first.answers} == {one.entry_id for one in others}
    assert (first.waiting, first.failed) == ((bad.entry_id,), ())
    batches = [await distilled(world, bad, "one") for _ in range(4)]
    assert [len(batch.waiting) for batch in batches] == [1, 1, 0, 0]
    assert "No complete answer within 120 seconds" in batches[-1].failed[0].error
    assert world.distiller.batches.count((bad.entry_id,)) == pay_once.MOST_TRIES
