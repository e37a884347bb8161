"""FetchEntryLinksWorkflow reads pages that an article links to; DeleteEnrichmentWorkflow deletes a card."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import NOBODY
    from pressbox.core.temporal.calls import call, failure_reason
    from pressbox.curator.cards.activities import LinkedPageActivities
    from pressbox.curator.cards.contracts import (
        DeleteEnrichmentInput,
        DeleteEnrichmentOutput,
        DeleteEnrichmentProgress,
        DeleteInput,
        FetchEntryLinksInput,
        FetchEntryLinksOutput,
        FetchEntryLinksProgress,
        FetchLinksInput,
        LinkResult,
    )
    from pressbox.curator.library.audiences import readers_of_entry
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.text.plain_text import shorten


@workflow.defn
class FetchEntryLinksWorkflow:
    """Reads links of an entry one after the other, and keeps each page, or why it cannot be had, as a card.

    Id `fetch-links-…`; started by a reader who ticks links. Addresses that the entry's text does not have are refused.
    """

    @workflow.init
    def __init__(self, input: FetchEntryLinksInput) -> None:
        first = FetchEntryLinksProgress(
            title="Pages behind links",
            audience=readers_of_entry(input.entry_id),
            entry_id=input.entry_id,
            total=len(input.urls),
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> FetchEntryLinksProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: FetchEntryLinksInput) -> FetchEntryLinksOutput:
        results: list[LinkResult] = []
        for url in input.urls:
            self._progress.update(current_step="fetch", message=shorten(url))
            results.append(await self._fetch_page(input, url))
            fetched = sum(result.fetched for result in results)
            self._progress.update(done=len(results), links_fetched=fetched, links=tuple(results))
        self._progress.complete(message="")
        done = sum(result.fetched for result in results)
        return FetchEntryLinksOutput(fetched=done, failed=len(results) - done)

    async def _fetch_page(self, input: FetchEntryLinksInput, url: str) -> LinkResult:
        wanted = FetchLinksInput(entry_id=input.entry_id, urls=(url,), policy=input.policy)
        try:
            return (await call(LinkedPageActivities.fetch_and_save_entry_links, wanted)).results[0]
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return LinkResult(url=shorten(url), fetched=False, reason=failure_reason(error))


@workflow.defn
class DeleteEnrichmentWorkflow:
    """Deletes one card with its text. Pages hide it from the moment somebody asked.

    Id `delete-enrichment-…`; started by a reader. One that is gone already is deleted too: nothing is left to do.
    """

    @workflow.init
    def __init__(self, input: DeleteEnrichmentInput) -> None:
        first = DeleteEnrichmentProgress(title="A card goes", audience=NOBODY, enrichment_id=input.enrichment_id)
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> DeleteEnrichmentProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: DeleteEnrichmentInput) -> DeleteEnrichmentOutput:
        wanted = DeleteInput(enrichment_id=input.enrichment_id)
        done = await call(LinkedPageActivities.delete_enrichment, wanted)
        self._progress.complete()
        return DeleteEnrichmentOutput(deleted=done.deleted)
