"""The effects on the search index. Those that write run on the queue `curator-index`, one at a time, in one process."""

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.library.contracts import index_queue
from pressbox.curator.search.contracts import (
    Generation,
    IndexBatchInput,
    IndexBatchResult,
    IndexPage,
    OrphanedDocuments,
    PruneInput,
    RemovedDocuments,
    RemoveDocumentsInput,
)
from pressbox.curator.search.ports import IndexStore, SearchIndex


class IndexSelection:
    """Which entries come next when everything is indexed anew."""

    def __init__(self, entries: IndexStore) -> None:
        self._entries = entries

    @activity.defn
    @call_with(QUICK)
    async def get_entry_ids_for_indexing(self, input: IndexBatchInput) -> IndexPage:
        entry_ids = tuple(await self._entries.ids_after(input.after_entry_id, input.limit))
        return IndexPage(entry_ids=entry_ids, last_entry_id=entry_ids[-1] if entry_ids else None)


class IndexActivities:
    def __init__(self, entries: IndexStore, index: SearchIndex) -> None:
        self._entries = entries
        self._index = index

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def init_search_index(self, input: Generation) -> Generation:
        """A new generation beside the one that is searched, unless this run has begun one."""
        return input if input.name else Generation(name=await self._index.begin_generation())

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def clear_search_index(self, input: Generation) -> Generation:
        """Search an empty index from now on, for when the present one is broken or wrong."""
        await self._index.swap(input.name)
        return input

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def swap_search_index(self, input: Generation) -> Generation:
        await self._index.swap(input.name)
        return input

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def index_entries_batch(self, input: IndexBatchInput) -> IndexBatchResult:
        """These entries, or without any the next ones that are not indexed as they are shown. Gone ones leave it."""
        async with Heartbeat():
            wanted = input.entry_ids or tuple(await self._entries.unindexed(input.limit))
            documents = await self._entries.documents(wanted)
            await self._index.add(documents, input.generation)
            # A generation that is never searched must not count: then nothing would bring these up again.
            if not input.generation:
                await self._entries.note_indexed({document.entry_id: document.shown_hash for document in documents})
        return IndexBatchResult(indexed=len(documents), last_entry_id=wanted[-1] if wanted else None)

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def get_orphaned_document_ids(self, input: PruneInput) -> OrphanedDocuments:
        """Documents whose entry is gone. Asked in this order, an entry that arrives meanwhile is never among them."""
        documents = await self._index.document_ids(input.after_document_id, input.limit)
        existing = await self._entries.existing(documents)
        return OrphanedDocuments(
            document_ids=tuple(number for number in documents if number not in existing),
            last_document_id=documents[-1] if documents else None,
        )

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def remove_documents_from_index(self, input: RemoveDocumentsInput) -> RemovedDocuments:
        """These, or without any those of entries that were removed. One whose entry exists always stays."""
        async with Heartbeat():
            wanted = input.document_ids or tuple(await self._entries.removed(input.limit))
            existing = await self._entries.existing(wanted)
            gone = [number for number in wanted if number not in existing]
            await self._index.remove(gone)
            await self._entries.note_removed(wanted)
        return RemovedDocuments(removed=len(gone), more=not input.document_ids and len(wanted) == input.limit)
