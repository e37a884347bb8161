"""The effects of updating and rebuilding the graph, and what they need. An entry counts as added only when it is in."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PermanentError, PressboxError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.context.activities import ContextExtractor, Contexts, ContextSource
from pressbox.curator.context.domain import EntryContext
from pressbox.curator.graph.contracts import (
    GraphAddition,
    GraphBatchInput,
    GraphBatchResult,
    GraphGeneration,
    GraphMarked,
    GraphMarkInput,
    GraphPruned,
    GraphPruneInput,
    GraphSelection,
    SelectForGraphInput,
)
from pressbox.curator.graph.domain import EntityView, GraphState, MentionedEntity
from pressbox.curator.library.contracts import EntryProgressState, heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.models.waiting import LONGEST_REASON, UNAVAILABLE, retry_later
from pressbox.curator.text.plain_text import shorten


class GraphPages(Protocol):
    """The graph as one person sees it: without an entry of theirs behind it, a node or edge does not exist."""

    async def entities(self, user_id: int, words: str, limit: int) -> Sequence[MentionedEntity]:
        """Those whose name holds these words; without words those that the newest entries name most."""
        ...

    async def entity(self, user_id: int, key: str, neighbours: int) -> EntityView: ...

    async def state(self, user_id: int) -> GraphState: ...


@dataclass(frozen=True)
class GraphDocument:
    """An entry for the graph. `context` is there when the graph wants it."""

    source: ContextSource
    context: EntryContext | None = None


@dataclass(frozen=True)
class Addition:
    """What became of one entry: in, by this text, or not, and why."""

    entry_id: int
    content_hash: str
    reason: str = ""


class Graph(Protocol):
    """Where the graph is kept. Generations are numbers: 0 is whatever is read now."""

    @property
    def wants_contexts(self) -> bool:
        """Whether it is made of contexts; otherwise it reads the text itself."""
        ...

    async def add(self, documents: Sequence[GraphDocument], generation: int = 0) -> Sequence[Addition]:
        """What an entry said before is replaced. One that is gone or has another text by now is left out.

        Without a generation it goes into the one that is read, and into one that is being built aside.
        """
        ...

    async def begin_generation(self) -> int:
        """An empty one beside that which is read. One that was begun earlier and never read is given up."""
        ...

    async def swap(self, generation: int) -> None:
        """Read this one from now on. Once more does nothing."""
        ...

    async def prune(self) -> int:
        """Remove what no entry says any more; the number of nodes and edges."""
        ...


@dataclass(frozen=True)
class Waiting:
    entry_id: int
    title: str


class GraphQueue(Protocol):
    """Which entries the graph lacks, by state."""

    async def find_pending(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, failed: bool
    ) -> Sequence[Waiting]:
        """With a text that is not in; those of these, or any. `failed`: those that could not be added too."""
        ...

    async def find_missing(self, entry_ids: Sequence[int]) -> Sequence[int]:
        """Those of these whose present text is not in the graph."""
        ...

    async def mark_added(self, hashes: Mapping[int, str], now: datetime) -> Sequence[int]:
        """By entry, the hash of the text that is in. One that has another text by now stays pending."""
        ...

    async def mark_failed(self, failures: Sequence[Addition]) -> None:
        """They are not tried again by themselves until their text changes, and shown until then."""
        ...


class GraphWork(Protocol):
    """Starting what works on the graph; each gives the id of its workflow."""

    async def update(self, batch_size: int) -> str: ...

    async def rebuild(self, batch_size: int, clean: bool) -> str: ...


# Texts that are looked at together; a model answers several at a time.
AT_ONCE = 4
# Failures of one batch, with their reasons, are one message below 10 kB.
LONGEST_FAILURE = 100


class GraphActivities:
    def __init__(
        self,
        queue: GraphQueue,
        graph: Graph,
        contexts: Contexts,
        extractor: ContextExtractor,
        now: Clock = utc_now,
    ) -> None:
        self._queue = queue
        self._graph = graph
        self._contexts = contexts
        self._extractor = extractor
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_entries_for_graph_update(self, input: SelectForGraphInput) -> GraphSelection:
        found = await self._queue.find_pending(input.entry_ids, input.after_entry_id, input.limit, failed=input.failed)
        return GraphSelection(
            entries=tuple(EntryProgressState(entry_id=one.entry_id, title=one.title) for one in found)
        )

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def add_to_global_graph_bulk(self, input: GraphBatchInput) -> GraphBatchResult:
        """What one entry cannot say does not keep the others out; who is to be asked later is not given up."""
        async with Heartbeat():
            return await self._add(input.entry_ids, input.generation, input.policy)

    @activity.defn
    @call_with(QUICK)
    async def mark_entries_graph_added(self, input: GraphMarkInput) -> GraphMarked:
        """Those that are in. What changed meanwhile stays to be added; what failed is shown, with its reason."""
        await self._queue.mark_failed([Addition(one.entry_id, one.content_hash, one.reason) for one in input.failed])
        marked = await self._queue.mark_added({one.entry_id: one.content_hash for one in input.added}, self._now())
        return GraphMarked(marked=len(marked))

    @activity.defn
    @call_with(LONG)
    async def reset_global_graph(self, input: GraphGeneration) -> GraphGeneration:
        """An empty graph beside the one that is read, unless this run has begun one. Nobody misses anything."""
        return input if input.number else GraphGeneration(number=await self._graph.begin_generation())

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def fetch_and_add_to_graph_bulk(self, input: GraphBatchInput) -> GraphBatchResult:
        """Of a page of entries: all of them into a graph that is built aside, or those that the present one lacks."""
        async with Heartbeat():
            wanted = input.entry_ids if input.generation else await self._queue.find_missing(input.entry_ids)
            return await self._add(wanted, input.generation, input.policy)

    @activity.defn
    @call_with(LONG)
    async def swap_global_graph(self, input: GraphGeneration) -> GraphGeneration:
        async with Heartbeat():
            await self._graph.swap(input.number)
        return input

    @activity.defn
    @call_with(LONG)
    async def prune_global_graph(self, _: GraphPruneInput) -> GraphPruned:
        """What no entry says any more: nobody saw it since its last entry went."""
        async with Heartbeat():
            return GraphPruned(removed=await self._graph.prune())

    async def _add(self, entry_ids: Sequence[int], generation: int, policy: CuratorPolicy) -> GraphBatchResult:
        sources = {one: source for one in entry_ids if (source := await self._contexts.source(one)) is not None}
        gone = tuple(one for one in entry_ids if one not in sources)
        documents, troubles = await self._documents(tuple(sources.values()))
        later = next((error for error in troubles.values() if isinstance(error, UNAVAILABLE)), None)
        added: Sequence[Addition] = ()
        try:
            added = await self._graph.add(documents, generation) if documents else ()
        except UNAVAILABLE as error:
            later = error
        refused = [
            Addition(one, sources[one].content_hash, shorten(error.message, LONGEST_REASON))
            for one, error in troubles.items()
            if not isinstance(error, UNAVAILABLE)
        ]
        retry_at, reason = retry_later(later, policy, self._now()) if later is not None else (None, "")
        failed = [*refused, *(one for one in added if one.reason)]
        for one in failed:
            activity.logger.warning("Entry %s is not in the graph: %s", one.entry_id, one.reason)
        return GraphBatchResult(
            added=tuple(_describe_entries(one) for one in added if not one.reason),
            failed=tuple(_describe_entries(one) for one in failed),
            gone=gone,
            retry_at=retry_at,
            reason=reason,
        )

    async def _documents(
        self, sources: Sequence[ContextSource]
    ) -> tuple[Sequence[GraphDocument], dict[int, PressboxError]]:
        """With what they are about, where the graph wants that; and who could not say it, by entry."""
        if not self._graph.wants_contexts:
            return [GraphDocument(source) for source in sources], {}
        known = await self._contexts.of([source.entry_id for source in sources])
        turns, troubles = asyncio.Semaphore(AT_ONCE), dict[int, PressboxError]()

        async def about(source: ContextSource) -> EntryContext | None:
            context = known.get(source.entry_id)
            if context is not None and context.content_hash == source.content_hash:
                return context
            async with turns:
                # With nobody to ask, the rest of the batch would only find out the same.
                if any(isinstance(error, UNAVAILABLE) for error in troubles.values()):
                    return None
                try:
                    found = await self._extractor.extract(source)
                except (*UNAVAILABLE, PermanentError) as error:
                    troubles[source.entry_id] = error
                    return None
            return found if await self._contexts.save(found, self._now()) else None

        found = await asyncio.gather(*(about(source) for source in sources))
        pairs = zip(sources, found, strict=True)
        return [GraphDocument(source, context) for source, context in pairs if context is not None], troubles


def _describe_entries(one: Addition) -> GraphAddition:
    reason = shorten(one.reason, LONGEST_FAILURE) if one.reason else ""
    return GraphAddition(entry_id=one.entry_id, content_hash=one.content_hash, reason=reason)
