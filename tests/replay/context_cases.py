"""The named cases of context, cards and links: each is played on fakes and gives the run whose history is kept."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PermanentError, PressboxError, RateLimitedError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.cards.contracts import ContextCollectionInput, DeleteEnrichmentInput, FetchEntryLinksInput
from pressbox.curator.cards.workflows.collection import PAGE, ContextCollectionWorkflow
from pressbox.curator.cards.workflows.links import DeleteEnrichmentWorkflow, FetchEntryLinksWorkflow
from pressbox.curator.context.contracts import ExtractEntryContextInput
from pressbox.curator.context.domain import ContextLink
from pressbox.curator.context.workflow import ExtractEntryContextWorkflow
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from tests.fakes.enriching import ContextWorld

Handle = WorkflowHandle[Any, Any]
POLICY = CuratorPolicy(host_delay=timedelta(0), model_pause=timedelta(milliseconds=300))
TEXT = "Lanternfish 2.1 is an embedded database. Rahel Lindqvist stores time series in it, and nothing else."
WORKFLOWS = (
    ExtractEntryContextWorkflow,
    ContextCollectionWorkflow,
    FetchEntryLinksWorkflow,
    DeleteEnrichmentWorkflow,
)


@dataclass(frozen=True)
class Desk:
    client: Client
    queue: str
    world: ContextWorld

    def entry(self, text: str = TEXT) -> int:
        return self.world.entry(text, entry_id=secrets.randbelow(10**6) * 1000)

    async def ended(self, workflow: type, input: Contract) -> Handle:
        handle = await self.client.start_workflow(
            workflow.__name__,
            input,
            id=f"recorded-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
        with suppress(WorkflowFailureError):
            await handle.result()
        return handle


async def found_out(desk: Desk) -> Handle:
    return await desk.ended(ExtractEntryContextWorkflow, ExtractEntryContextInput(entry_id=desk.entry(), policy=POLICY))


async def known_already(desk: Desk) -> Handle:
    wanted = ExtractEntryContextInput(entry_id=desk.entry(), policy=POLICY)
    await desk.ended(ExtractEntryContextWorkflow, wanted)
    return await desk.ended(ExtractEntryContextWorkflow, wanted)


async def waiting_for_model(desk: Desk) -> Handle:
    desk.world.extractor.troubles = [TransientError("The model is away.")]
    return await found_out(desk)


async def with_cards(desk: Desk) -> Handle:
    """A card, a limit of GitHub, an entry without names, one that is gone."""
    desk.world.github.troubles = [RateLimitedError("Fewer requests.", retry_after=timedelta(milliseconds=200))]
    ids = (desk.entry(), desk.entry("Nothing is named here, and nobody is either."), 1)
    return await desk.ended(ContextCollectionWorkflow, ContextCollectionInput(entry_ids=ids, policy=POLICY))


async def card_refused(desk: Desk) -> Handle:
    desk.world.github.troubles = [PermanentError("GitHub answers 418.")]
    return await desk.ended(ContextCollectionWorkflow, ContextCollectionInput(entry_ids=(desk.entry(),), policy=POLICY))


async def two_pages(desk: Desk) -> Handle:
    ids = tuple(desk.entry("Nobody is named here.") for _ in range(PAGE + 1))
    return await desk.ended(ContextCollectionWorkflow, ContextCollectionInput(entry_ids=ids, policy=POLICY))


async def read_and_refused(desk: Desk) -> Handle:
    entry_id, urls = desk.entry(), ("https://a.example/1", "https://a.example/2", "http://127.0.0.1/")
    desk.world.contexts.links[entry_id] = [ContextLink(url) for url in urls[:2]]
    desk.world.pages.pages[urls[0]] = "<p>A page.</p>"
    return await desk.ended(FetchEntryLinksWorkflow, FetchEntryLinksInput(entry_id=entry_id, urls=urls, policy=POLICY))


async def deleted(desk: Desk) -> Handle:
    return await desk.ended(DeleteEnrichmentWorkflow, DeleteEnrichmentInput(enrichment_id=7))


CASES: tuple[tuple[type, str, Callable[[Desk], Awaitable[Handle]]], ...] = (
    (ExtractEntryContextWorkflow, "found-out", found_out),
    (ExtractEntryContextWorkflow, "known-already", known_already),
    (ExtractEntryContextWorkflow, "waiting-for-model", waiting_for_model),
    (ContextCollectionWorkflow, "with-cards", with_cards),
    (ContextCollectionWorkflow, "card-refused", card_refused),
    (ContextCollectionWorkflow, "two-pages", two_pages),
    (FetchEntryLinksWorkflow, "read-and-refused", read_and_refused),
    (DeleteEnrichmentWorkflow, "card-deleted", deleted),
)


@asynccontextmanager
async def playing(client: Client) -> AsyncIterator[Desk]:
    """A fresh world, and workers on it."""
    desk = Desk(client, f"record-{secrets.token_hex(4)}", ContextWorld())
    async with AsyncExitStack() as workers:
        for queue, functions, workflows in (
            (desk.queue, desk.world.plain(), list(WORKFLOWS)),
            (heavy_queue(desk.queue), desk.world.heavy(), []),
        ):
            worker = Worker(
                client,
                task_queue=queue,
                workflows=workflows,
                activities=functions,
                interceptors=[ErrorInterceptor()],
                workflow_failure_exception_types=[PressboxError],
            )
            await workers.enter_async_context(worker)
        yield desk
