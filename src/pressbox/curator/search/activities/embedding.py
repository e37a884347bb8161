"""Vectors for entries that have none."""

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.library.contracts import EntryIds, heavy_queue
from pressbox.curator.search.contracts import EmbeddedBatch, EmbeddingSelection, SelectForEmbeddingInput
from pressbox.curator.search.ports import Embedder, EmbeddingStore


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
            texts = await self._entries.texts_to_embed(input.entry_ids)
            vectors = await self._embedder.embed(tuple(texts.values())) if texts else ()
            computed = await self._entries.save_embeddings(self._embedder.model, dict(zip(texts, vectors, strict=True)))
        return EmbeddedBatch(computed=computed, skipped=len(input.entry_ids) - computed)
