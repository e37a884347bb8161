"""Starts the workflows of context, cards and links."""

import secrets
from collections.abc import Sequence

from pressbox.curator.context.contracts import (
    CONTEXT_COLLECTION,
    DELETE_ENRICHMENT,
    EXTRACT_ENTRY_CONTEXT,
    FETCH_ENTRY_LINKS,
    ContextCollectionInput,
    DeleteEnrichmentInput,
    ExtractEntryContextInput,
    FetchEntryLinksInput,
    context_collection_workflow_id,
    context_workflow_id,
    delete_enrichment_workflow_id,
    entry_links_workflow_id,
)
from pressbox.curator.library.starter import Starter


class TemporalContextWorkflows(Starter):
    async def extract(self, entry_id: int, again: bool) -> str:
        input = ExtractEntryContextInput(entry_id=entry_id, again=again, policy=self._policy)
        return await self.start(EXTRACT_ENTRY_CONTEXT, input, context_workflow_id(entry_id))

    async def collect(self, entry_ids: Sequence[int], again: bool) -> str:
        """That of one entry has an id of its own, so that its page finds it again."""
        input = ContextCollectionInput(entry_ids=tuple(entry_ids), again=again, policy=self._policy)
        key = str(entry_ids[0]) if len(entry_ids) == 1 else secrets.token_hex(4)
        return await self.start(CONTEXT_COLLECTION, input, context_collection_workflow_id(key))

    async def fetch_links(self, entry_id: int, urls: Sequence[str]) -> str:
        input = FetchEntryLinksInput(entry_id=entry_id, urls=tuple(urls), policy=self._policy)
        return await self.start(FETCH_ENTRY_LINKS, input, entry_links_workflow_id(entry_id))

    async def delete_enrichment(self, enrichment_id: int) -> str:
        input = DeleteEnrichmentInput(enrichment_id=enrichment_id)
        return await self.start(DELETE_ENRICHMENT, input, delete_enrichment_workflow_id(enrichment_id))
