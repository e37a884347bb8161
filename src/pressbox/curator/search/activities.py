"""The effects on the search index and on vectors. Whatever writes the index runs on its own queue, one at a time."""

from collections.abc import Sequence

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.library.contracts import EntryIds, heavy_queue, index_queue
from pressbox.curator.search.contracts import (
    EmbeddedBatch,
    EmbeddingSelection,
    Generation,
    IndexBatchInput,
    IndexBatchResult,
    IndexPage,
    OrphanedDocuments,
    PruneInput,
    RemovedDocuments,
    RemoveDocumentsInput,
    SelectForEmbeddingInput,
)
from pressbox.curator.search.ports import (
    DamagedIndexError,
    Embedder,
    EmbeddingStore,
    IndexCondition,
    IndexRebuild,
    IndexStore,
    SearchIndex,
    compare_commits,
)

TEXTS_AT_ONCE = 8


class IndexSelection:
    """Selects the entries of a complete rebuild, page by page."""

    def __init__(self, entries: IndexStore) -> None:
        self._entries = entries

    @activity.defn
    @call_with(QUICK)
    async def get_entry_ids_for_indexing(self, input: IndexBatchInput) -> IndexPage:
        entry_ids = tuple(await self._entries.ids_after(input.after_entry_id, input.limit))
        return IndexPage(entry_ids=entry_ids, last_entry_id=entry_ids[-1] if entry_ids else None)


class IndexActivities:
    def __init__(self, entries: IndexStore, index: SearchIndex, rebuild: IndexRebuild) -> None:
        self._entries = entries
        self._index = index
        self._rebuild = rebuild

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def init_search_index(self, input: Generation) -> Generation:
        """Begin a new generation beside the one in use, unless this run has one already."""
        return input if input.name else Generation(name=await self._index.begin_generation())

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def clear_search_index(self, input: Generation) -> Generation:
        """Search the new generation while it fills, but only where the present one cannot be read anyway."""
        if not await self._has_readable_index():
            await self._index.swap(input.name)
            await self._entries.record_index(await self._index.find(), complete=False)
        return input

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def swap_search_index(self, input: Generation) -> Generation:
        await self._index.swap(input.name)
        await self._entries.record_index(await self._index.find(), complete=True)
        return input

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def index_entries_batch(self, input: IndexBatchInput) -> IndexBatchResult:
        """Index these entries, or the next ones whose document is out of date."""
        async with Heartbeat():
            if not input.generation and not await self._is_as_known():
                return IndexBatchResult()
            wanted = input.entry_ids or tuple(await self._entries.unindexed_ids(input.limit))
            documents = await self._entries.load_documents(wanted)
            await self._entries.begin_index_write()
            await self._index.add(documents, input.generation)
            # Marked only in the generation in use: one that is never searched must not hide these entries.
            if not input.generation:
                await self._entries.mark_indexed({document.entry_id: document.shown_hash for document in documents})
            await self._entries.record_index(await self._index.find())
        return IndexBatchResult(indexed=len(documents), last_entry_id=wanted[-1] if wanted else None)

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def get_orphaned_document_ids(self, input: PruneInput) -> OrphanedDocuments:
        """Find documents whose entry is gone. The index is read first, so a new entry is never among them."""
        documents = await self._index.document_ids(input.after_document_id, input.limit)
        existing = await self._entries.existing_ids(documents)
        return OrphanedDocuments(
            document_ids=tuple(number for number in documents if number not in existing),
            last_document_id=documents[-1] if documents else None,
        )

    @activity.defn
    @call_with(LONG, queue=index_queue)
    async def remove_documents_from_index(self, input: RemoveDocumentsInput) -> RemovedDocuments:
        """Remove these documents, or those of removed entries. A document whose entry exists always stays."""
        async with Heartbeat():
            if not await self._is_as_known():
                return RemovedDocuments()
            wanted = input.document_ids or tuple(await self._entries.removed_ids(input.limit))
            existing = await self._entries.existing_ids(wanted)
            gone = [number for number in wanted if number not in existing]
            await self._entries.begin_index_write()
            await self._index.remove(gone)
            await self._entries.forget_removed(wanted)
            await self._entries.record_index(await self._index.find())
        return RemovedDocuments(removed=len(gone), more=not input.document_ids and len(wanted) == input.limit)

    async def _is_as_known(self) -> bool:
        """Compare the index with what the database knows, and have it rebuilt when they are not of one kind."""
        try:
            found = await self._index.find()
            condition = compare_commits(await self._entries.known_index(), found)
            reason = str(condition)
        except DamagedIndexError as error:
            found, condition, reason = None, IndexCondition.MISSING, error.message
        if condition.usable:
            await self._entries.record_index(found)
            return True
        activity.logger.warning("The search index has to be rebuilt: %s", reason)
        await self._rebuild.start()
        return False

    async def _has_readable_index(self) -> bool:
        try:
            return await self._index.find() is not None
        except DamagedIndexError:
            return False


class EmbeddingActivities:
    def __init__(self, entries: EmbeddingStore, embedder: Embedder) -> None:
        self._entries = entries
        self._embedder = embedder

    @activity.defn
    @call_with(QUICK)
    async def get_entries_for_embedding(self, input: SelectForEmbeddingInput) -> EmbeddingSelection:
        return await self._entries.select_for_embedding(self._embedder.model, input.after_entry_id, input.limit)

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def compute_embeddings(self, input: EntryIds) -> EmbeddedBatch:
        async with Heartbeat():
            texts = await self._entries.load_texts(input.entry_ids)
            vectors: list[Sequence[float]] = []
            # A process computes one call at a time: between two of these, a question has its turn.
            waiting = tuple(texts.values())
            for begin in range(0, len(waiting), TEXTS_AT_ONCE):
                vectors += await self._embedder.embed(waiting[begin : begin + TEXTS_AT_ONCE])
            computed = await self._entries.save_embeddings(self._embedder.model, dict(zip(texts, vectors, strict=True)))
        return EmbeddedBatch(computed=computed, skipped=len(input.entry_ids) - computed)
