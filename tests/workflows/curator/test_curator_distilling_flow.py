"""Distilling: batches, a model that is down or out of budget, and articles once more."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client, WorkflowFailureError

from pressbox.core.errors import ConfigurationError, PermanentError, TransientError
from pressbox.curator.distil.contracts import ContentDistillationInput
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.ingest.contracts import ReprocessEntriesInput
from pressbox.curator.ingest.workflows.reprocess import ReprocessEntriesWorkflow
from pressbox.curator.library.domain import DistilState
from tests.fakes.curator import TOKENS_PER_DAY, FakeDistiller, FakeEntries, FakeWorld
from tests.waiting import until
from tests.workflows.curator.conftest import Stage, staged


@pytest.fixture
async def paid_stage(temporal: Client) -> AsyncIterator[Stage]:
    async with staged(temporal, FakeWorld(paid=True)) as stage:
        yield stage


def wanted(stage: Stage, *entry_ids: int) -> ContentDistillationInput:
    return ContentDistillationInput(entry_ids=entry_ids, policy=stage.policy)


async def test_without_ids_everything_that_waits_is_distilled_in_batches_of_five(stage: Stage) -> None:
    stage.world.fetched(stage.world.feed(), 12)
    result = await stage.run(ContentDistillationWorkflow, wanted(stage))
    assert (result["distilled"], result["failed"]) == (12, 0)
    assert [len(batch) for batch in stage.world.distiller.batches] == [5, 5, 2]
    assert stage.world.everything_is_done()


async def test_more_than_a_page_goes_on_in_a_new_run(stage: Stage) -> None:
    stage.world.fetched(stage.world.feed(), 60)
    policy = stage.policy.model_copy(update={"distil_batch": 30})
    result = await stage.run(ContentDistillationWorkflow, ContentDistillationInput(policy=policy))
    assert result["distilled"] == 60


@pytest.mark.parametrize("trouble", [TransientError("The model does not answer."), ConfigurationError("Wrong key.")])
async def test_while_the_model_is_down_the_work_waits_and_resumes(
    paid_stage: Stage, trouble: TransientError | ConfigurationError
) -> None:
    stage = paid_stage
    entries = stage.world.fetched(stage.world.feed(), 3)
    stage.world.distiller.down = trouble
    handle = await stage.start(ContentDistillationWorkflow, wanted(stage))
    await until(lambda: any(str(trouble) in report.message for report in stage.reports))
    assert {entry.distil_state for entry in entries} == {DistilState.WAITING}
    assert stage.world.claims.held == {}
    stage.world.distiller.down = None
    assert (await handle.result())["distilled"] == 3


async def test_nonsense_from_the_model_fails_only_the_entry_that_it_is_about(stage: Stage) -> None:
    bad, good = stage.world.fetched(stage.world.feed(), 2)
    stage.world.distiller.unusable = {bad.entry_id}
    result = await stage.run(ContentDistillationWorkflow, wanted(stage))
    assert (result["distilled"], result["failed"]) == (1, 1)
    assert (bad.distil_state, good.distil_state) == (DistilState.FAILED, DistilState.DISTILLED)
    assert bad.reason


@pytest.mark.parametrize("trouble", [TransientError("The parser ended."), PermanentError("Nobody can read this.")])
async def test_a_text_that_breaks_the_offline_distiller_fails_alone(
    stage: Stage, trouble: TransientError | PermanentError
) -> None:
    bad, good = stage.world.fetched(stage.world.feed(), 2)
    stage.world.distiller.breaks = {bad.entry_id: trouble}
    result = await stage.run(ContentDistillationWorkflow, wanted(stage))
    assert (result["distilled"], result["failed"]) == (1, 1)
    assert (bad.distil_state, good.distil_state) == (DistilState.FAILED, DistilState.DISTILLED)


async def test_two_runs_at_the_same_time_distil_nothing_twice(stage: Stage) -> None:
    stage.world.fetched(stage.world.feed(), 5)
    stage.world.distiller.hold = asyncio.Event()
    first = await stage.start(ContentDistillationWorkflow, wanted(stage))
    await until(lambda: len(stage.world.distil_queue.leases.owners) == 5)
    result = await stage.run(ContentDistillationWorkflow, wanted(stage))
    assert result["distilled"] == 0
    stage.world.distiller.hold.set()
    assert (await first.result())["distilled"] == 5
    assert sum(len(batch) for batch in stage.world.distiller.batches) == 5


async def test_an_index_that_does_not_work_holds_up_no_summary(stage: Stage) -> None:
    entries = stage.world.fetched(stage.world.feed(), 1)
    stage.world.index.down = TransientError("The index is broken.")
    handle = await stage.start(ContentDistillationWorkflow, wanted(stage))
    await until(lambda: entries[0].distil_state is DistilState.DISTILLED)
    stage.world.index.down = None
    await handle.result()


async def test_a_used_up_budget_waits_for_the_next_day(paid_stage: Stage) -> None:
    stage = paid_stage
    entries = stage.world.fetched(stage.world.feed(), 2)
    stage.world.ledger.tokens = TOKENS_PER_DAY
    await stage.start(ContentDistillationWorkflow, wanted(stage))
    await until(lambda: any("budget" in report.message for report in stage.reports))
    assert stage.world.distiller.batches == []
    assert {entry.distil_state for entry in entries} == {DistilState.WAITING}


async def test_the_same_text_is_never_paid_twice(paid_stage: Stage) -> None:
    stage = paid_stage
    (entry,) = stage.world.fetched(stage.world.feed(), 1)
    await stage.run(ContentDistillationWorkflow, wanted(stage))
    spent = stage.world.ledger.tokens
    again = ReprocessEntriesInput(entry_ids=(entry.entry_id,), fetch=False, policy=stage.policy)
    result = await stage.run(ReprocessEntriesWorkflow, again)
    assert (result["distilled"], stage.world.ledger.tokens) == (1, spent)
    assert len(stage.world.distiller.batches) == 1


async def test_when_wanted_the_offline_distiller_steps_in_for_a_model_that_is_down(temporal: Client) -> None:
    world = FakeWorld(paid=True)
    world.fallback = FakeDistiller()
    world.distiller.down = TransientError("The model does not answer.")
    async with staged(temporal, world) as stage:
        world.fetched(world.feed(), 2)
        assert (await stage.run(ContentDistillationWorkflow, wanted(stage)))["distilled"] == 2
    assert world.ledger.tokens == 0


async def test_reprocessing_fetches_and_distils_entries_whatever_their_state(stage: Stage) -> None:
    feed = stage.world.feed()
    entries = stage.world.fetched(feed, 2)
    await stage.run(ContentDistillationWorkflow, wanted(stage))
    ids = tuple(entry.entry_id for entry in entries)
    again = ReprocessEntriesInput(entry_ids=(*ids, 1), policy=stage.policy)
    result = await stage.run(ReprocessEntriesWorkflow, again)
    assert (result["fetched"], result["distilled"], result["failed"]) == (2, 2, 0)
    assert len(stage.world.pages.read_urls) == 2


async def test_reprocessing_counts_summaries_while_they_come(stage: Stage) -> None:
    entries = stage.world.fetched(stage.world.feed(), 2 * stage.policy.distil_batch)
    again = ReprocessEntriesInput(
        entry_ids=tuple(entry.entry_id for entry in entries), fetch=False, policy=stage.policy
    )
    handle = await stage.start(ReprocessEntriesWorkflow, again)
    await handle.result()
    counts = [report.detail["entriesDistilled"] for report in stage.reports if report.workflow_id == handle.id]
    assert sorted(set(counts)) == [0, stage.policy.distil_batch, len(entries)]
    shown = await handle.query("get_progress")
    assert {state["status"] for state in shown["entryProgress"].values()} == {"completed"}


async def test_a_run_that_failed_says_so_when_it_is_asked(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> None:
        raise PermanentError("The database refuses this.")

    monkeypatch.setattr(FakeEntries, "distil_again", refuse)
    again = ReprocessEntriesInput(entry_ids=(1,), policy=stage.policy)
    handle = await stage.start(ReprocessEntriesWorkflow, again)
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    shown = await handle.query("get_progress")
    assert (shown["status"], shown["error"]) == ("failed", "The database refuses this.")
    last = next(report for report in reversed(stage.reports) if report.workflow_id == handle.id)
    assert (last.detail["status"], last.detail["error"]) == ("failed", "The database refuses this.")
