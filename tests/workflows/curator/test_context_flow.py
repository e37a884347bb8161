"""Context, cards and links on a real server."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from temporalio.client import Client

from pressbox.core.errors import RateLimitedError, TransientError
from pressbox.curator.cards.contracts import (
    ContextCollectionInput,
    ContextCollectionProgress,
    DeleteEnrichmentInput,
    FetchEntryLinksInput,
    FetchEntryLinksProgress,
)
from pressbox.curator.cards.service import CardStarter
from pressbox.curator.cards.workflows.collection import ContextCollectionWorkflow
from pressbox.curator.cards.workflows.links import DeleteEnrichmentWorkflow, FetchEntryLinksWorkflow
from pressbox.curator.context.domain import ContextLink
from pressbox.curator.context.workflow import ExtractEntryContextWorkflow
from pressbox.curator.ingest.starter import IngestStarter
from pressbox.curator.library.contracts import heavy_queue
from tests.fakes.curator import FakeWorld
from tests.fakes.enriching import ContextWorld
from tests.workflows.curator.conftest import QUICK_POLICY, Stage, end, worker

TEXT = "Lanternfish 2.1 is an embedded database. Rahel Lindqvist stores time series in it, and nothing else."
WORKFLOWS = [
    ExtractEntryContextWorkflow,
    ContextCollectionWorkflow,
    FetchEntryLinksWorkflow,
    DeleteEnrichmentWorkflow,
]


@pytest.fixture
def contexts() -> ContextWorld:
    return ContextWorld()


@pytest.fixture
async def desk(temporal: Client, contexts: ContextWorld) -> AsyncIterator[Stage]:
    queue = f"test-{secrets.token_hex(4)}"
    stage = Stage(temporal, FakeWorld(), queue, IngestStarter(temporal, queue, QUICK_POLICY))
    async with AsyncExitStack() as workers:
        await workers.enter_async_context(worker(stage, queue, contexts.plain(), list(WORKFLOWS)))
        await workers.enter_async_context(worker(stage, heavy_queue(queue), contexts.heavy(), []))
        yield stage
        await end(stage)


async def test_context_of_entries_with_progress_per_entry_and_a_card_for_their_software(
    desk: Stage, contexts: ContextWorld
) -> None:
    numbers = secrets.randbelow(10**9) * 10
    good = contexts.entry(TEXT, entry_id=numbers + 1)
    other = contexts.entry("Nothing is named here, and nobody is either.", entry_id=numbers + 2)
    gone = numbers + 3
    contexts.extractor.troubles = [TransientError("The model is away.")]
    contexts.github.troubles = [RateLimitedError("Fewer requests.", retry_after=timedelta(milliseconds=300))]
    wanted = ContextCollectionInput(entry_ids=(good, other, gone), policy=QUICK_POLICY)
    handle = await desk.start(ContextCollectionWorkflow, wanted)
    done = await handle.result()
    assert (done["extracted"], done["failed"], done["candidates"], done["enriched"]) == (2, 1, 1, 1)
    progress = ContextCollectionProgress.model_validate(await handle.query("get_progress"))
    assert (progress.successful_extractions, progress.enrichment_candidates_count) == (2, 1)
    assert {key: state.status.value for key, state in progress.entry_progress.items()} == {
        str(good): "completed",
        str(other): "completed",
        str(gone): "error",
    }
    assert [card.key for card in contexts.enrichments.cards.values()] == ["lanternfish-db/lanternfish"]
    waited = {report.message for report in desk.reports if report.message}
    assert "The model is away." in waited
    assert "Fewer requests." in waited

    # What is known is not worked on again, unless somebody wants that.
    asked = len(contexts.extractor.asked)
    await desk.run(ContextCollectionWorkflow, wanted.model_copy(update={"entry_ids": (good,)}))
    assert len(contexts.extractor.asked) == asked
    await desk.run(ContextCollectionWorkflow, wanted.model_copy(update={"entry_ids": (good,), "again": True}))
    assert len(contexts.extractor.asked) == asked + 1


async def test_links_are_read_one_by_one_and_a_card_is_deleted(desk: Stage, contexts: ContextWorld) -> None:
    entry_id = contexts.entry(TEXT, entry_id=secrets.randbelow(10**9) * 10)
    urls = ("https://a.example/1", "https://a.example/2")
    contexts.contexts.links[entry_id] = [ContextLink(url) for url in urls]
    contexts.pages.pages[urls[0]] = "<p>A page.</p>"
    handle = await desk.start(
        FetchEntryLinksWorkflow, FetchEntryLinksInput(entry_id=entry_id, urls=urls, policy=QUICK_POLICY)
    )
    assert await handle.result() == {"fetched": 1, "failed": 1}
    progress = FetchEntryLinksProgress.model_validate(await handle.query("get_progress"))
    assert [(link.fetched, link.reason) for link in progress.links] == [
        (True, ""),
        (False, "The page is not there (404)."),
    ]
    delete = DeleteEnrichmentInput(enrichment_id=1)
    assert await desk.run(DeleteEnrichmentWorkflow, delete) == {"deleted": True}
    assert await desk.run(DeleteEnrichmentWorkflow, delete) == {"deleted": False}
    assert list(contexts.enrichments.cards) == [2]


async def test_one_entry_on_several_pages_is_one_run(desk: Stage, contexts: ContextWorld) -> None:
    starter = CardStarter(desk.client, desk.queue, QUICK_POLICY)
    entry_id = contexts.entry(TEXT, entry_id=secrets.randbelow(10**9) * 10 + 7)
    contexts.extractor.troubles = [TransientError("away")]
    first = await starter.collect([entry_id], again=False)
    assert await starter.collect([entry_id], again=False) == first == f"collect-context-{entry_id}"
    await desk.client.get_workflow_handle(first).result()
    assert len(contexts.extractor.asked) == 2
