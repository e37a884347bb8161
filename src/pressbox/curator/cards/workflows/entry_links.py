"""FetchEntryLinksWorkflow: the pages that an article links to, read because somebody asked for them."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason
    from pressbox.curator.cards.link_activities import LinkedPageActivities
    from pressbox.curator.context.contracts import (
        FetchEntryLinksInput,
        FetchEntryLinksOutput,
        FetchEntryLinksProgress,
        FetchLinksInput,
        LinkResult,
    )
    from pressbox.curator.library.progress import Shown
    from pressbox.curator.text.plain_text import shorten


@workflow.defn
class FetchEntryLinksWorkflow:
    """Reads links of an entry one after the other, and keeps each page, or why it cannot be had, as a card.

    Id `fetch-links-…`; started by a reader who ticks links. Addresses that the entry's text does not have are refused.
    """

    @workflow.init
    def __init__(self, input: FetchEntryLinksInput) -> None:
        first = FetchEntryLinksProgress(title="Pages behind links", entry_id=input.entry_id, total=len(input.urls))
        self._shown = Shown(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> FetchEntryLinksProgress:
        return self._shown.now

    @workflow.run
    async def run(self, input: FetchEntryLinksInput) -> FetchEntryLinksOutput:
        results: list[LinkResult] = []
        for url in input.urls:
            self._shown.show(current_step="fetch", message=shorten(url))
            results.append(await self._fetched(input, url))
            fetched = sum(result.fetched for result in results)
            self._shown.show(done=len(results), links_fetched=fetched, links=tuple(results))
        self._shown.done(message="")
        done = sum(result.fetched for result in results)
        return FetchEntryLinksOutput(fetched=done, failed=len(results) - done)

    async def _fetched(self, input: FetchEntryLinksInput, url: str) -> LinkResult:
        wanted = FetchLinksInput(entry_id=input.entry_id, urls=(url,), policy=input.policy)
        try:
            return (await call(LinkedPageActivities.fetch_and_save_entry_links, wanted)).results[0]
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return LinkResult(url=shorten(url), fetched=False, reason=failure_reason(error))
