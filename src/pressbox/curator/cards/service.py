"""Use cases of context: what an entry is about, cards of its software, pages behind its links."""

import secrets
from collections.abc import Sequence

from pressbox.core.errors import InvalidInputError
from pressbox.curator.cards.activities import ContextWorkflows, Enrichments
from pressbox.curator.cards.contracts import (
    CONTEXT_COLLECTION,
    DELETE_ENRICHMENT,
    FETCH_ENTRY_LINKS,
    ContextCollectionInput,
    DeleteEnrichmentInput,
    FetchEntryLinksInput,
    context_collection_workflow_id,
    delete_enrichment_workflow_id,
    entry_links_workflow_id,
)
from pressbox.curator.cards.domain import (
    BYTES_OF_ADDRESSES,
    MOST_LINKS_AT_ONCE,
    CardPage,
    ContextView,
)
from pressbox.curator.context.contracts import EXTRACT_ENTRY_CONTEXT, ExtractEntryContextInput, context_workflow_id
from pressbox.curator.library.starter import Starter

MOST_ENTRIES = 500


class CardService:
    """A person's methods take the person; those without one are for commands. Work gives the id of its workflow."""

    def __init__(self, enrichments: Enrichments, workflows: ContextWorkflows) -> None:
        self._enrichments = enrichments
        self._workflows = workflows

    async def panel(self, user_id: int, entry_id: int) -> ContextView:
        return await self._enrichments.panel(user_id, entry_id)

    async def page(self, user_id: int, enrichment_id: int) -> CardPage:
        return await self._enrichments.page(user_id, enrichment_id)

    async def collect_mine(self, user_id: int, entry_id: int, *, again: bool = False) -> str:
        await self._enrichments.require_visible(user_id, [entry_id])
        return await self._workflows.collect([entry_id], again)

    async def fetch_links(self, user_id: int, entry_id: int, urls: Sequence[str]) -> str:
        await self._enrichments.require_visible(user_id, [entry_id])
        wanted = list(dict.fromkeys(urls))
        if not wanted:
            raise InvalidInputError("Choose at least one link.", field="urls")
        if len(wanted) > MOST_LINKS_AT_ONCE or sum(len(url.encode()) for url in wanted) > BYTES_OF_ADDRESSES:
            raise InvalidInputError(f"At most {MOST_LINKS_AT_ONCE} links at a time; fewer long ones.", field="urls")
        known = await self._enrichments.find_links(entry_id, wanted)
        if len(known) < len(wanted):
            raise InvalidInputError("Only links of the article itself can be read.", field="urls")
        return await self._workflows.fetch_links(entry_id, known)

    async def delete(self, user_id: int, enrichment_id: int) -> tuple[int, str]:
        """The id of its entry, and of the workflow. The card is gone from pages when this returns."""
        entry_id = await self._enrichments.hide(user_id, enrichment_id)
        return entry_id, await self._workflows.delete_enrichment(enrichment_id)

    async def extract(self, entry_ids: Sequence[int], *, again: bool = False) -> Sequence[str]:
        return [await self._workflows.extract(entry_id, again) for entry_id in _check_entry_ids(entry_ids)]

    async def collect(self, entry_ids: Sequence[int], *, again: bool = False) -> str:
        return await self._workflows.collect(_check_entry_ids(entry_ids), again)


def _check_entry_ids(entry_ids: Sequence[int]) -> Sequence[int]:
    if not entry_ids:
        raise InvalidInputError("Name at least one entry.", field="entry_ids")
    if len(entry_ids) > MOST_ENTRIES:
        raise InvalidInputError(f"At most {MOST_ENTRIES} entries at a time.", field="entry_ids")
    return list(dict.fromkeys(entry_ids))


class CardStarter(Starter):
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
