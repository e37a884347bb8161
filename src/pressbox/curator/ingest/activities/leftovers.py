"""Looks for work that a crash or a failure left half done."""

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK
from pressbox.curator.distil.ports import DistilStore
from pressbox.curator.ingest.contracts import Leftovers, LeftoversInput
from pressbox.curator.ingest.ports import Feeds
from pressbox.curator.search.ports import EmbeddingStore, IndexStore


class LeftoverActivities:
    def __init__(
        self,
        feeds: Feeds,
        summaries: DistilStore,
        index: IndexStore,
        embeddings: EmbeddingStore,
        embedding_model: str,
        now: Clock = utc_now,
    ) -> None:
        self._feeds = feeds
        self._summaries = summaries
        self._index = index
        self._embeddings = embeddings
        self._embedding_model = embedding_model
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_leftovers(self, input: LeftoversInput) -> Leftovers:
        """What no feed that is due would bring up again."""
        embedding = await self._embeddings.select_for_embedding(self._embedding_model, 0, 1)
        return Leftovers(
            feed_ids=tuple(await self._feeds.leftovers(input.without, input.limit, self._now())),
            undistilled=bool((await self._summaries.select_for_distillation((), 0, 1)).entries),
            unindexed=bool(await self._index.unindexed_ids(1) or await self._index.removed_ids(1)),
            unembedded=bool(embedding.entry_ids),
        )
