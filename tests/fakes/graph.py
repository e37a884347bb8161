"""Articles and what they say, on a real database; and a graph, its queue and contexts in memory."""

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from pressbox.core.db.database import Database
from pressbox.core.errors import PressboxError
from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.domain import ContextMethod, Entity, EntityKind, EntryContext, Relationship
from pressbox.curator.graph.activities import Addition, GraphActivities, GraphDocument, Waiting
from pressbox.curator.graph.neighbours import SqlGraphReader
from pressbox.curator.graph.page_store import SqlGraphPages
from pressbox.curator.graph.store import GraphEdgeRow, GraphEvidenceRow, GraphNodeRow, PostgresGraph, SqlGraphQueue
from pressbox.curator.library.domain import DistilState, FetchState, content_hash
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.search.activities import IndexSelection
from tests.fakes.curator_rows import Rows

NOW = datetime(2027, 4, 1, 12, 0, tzinfo=UTC)


def context(
    entry_id: int, text: str, *names: str | Entity, relations: Sequence[tuple[str, str, str]] = ()
) -> EntryContext:
    """Entities with a quote each, and relations as source, word, target."""
    entities = [name if isinstance(name, Entity) else Entity(name, quote=f"{name} is in it.") for name in names]
    return EntryContext(
        entry_id,
        content_hash(text),
        ContextMethod.OFFLINE,
        entities=tuple(entities),
        relationships=tuple(
            Relationship(source, target, word, quote=f"{source} {word} {target}.") for source, word, target in relations
        ),
    )


class Stacks:
    """Articles in a real database, and the graph of them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.rows = Rows(database)
        self.graph = PostgresGraph(database)
        self.queue = SqlGraphQueue(database)
        self.reader = SqlGraphReader(database)
        self.pages = SqlGraphPages(database)
        self._numbers = itertools.count(1)

    async def article(self, feed_id: int, text: str = "", **changes: Any) -> int:
        number = next(self._numbers)
        text = text or f"The text of article {number}."
        values: dict[str, Any] = {
            "guid": f"article-{number}",
            "title": f"Article {number}",
            "published_at": NOW - timedelta(minutes=number),
            "first_seen_at": NOW,
            "updated_at": NOW,
            "content_hash": content_hash(text),
            "fetch_state": FetchState.FETCHED,
            "distil_state": DistilState.DISTILLED,
        }
        row = await self.rows.add(EntryRow(feed_id=feed_id, **(values | changes)))
        await self.rows.add(EntryBodyRow(entry_id=row.id, full_content=f"<p>{text}</p>", filtered_content=text))
        return int(row.id)

    async def document(
        self, entry_id: int, *names: str | Entity, relations: Sequence[tuple[str, str, str]] = ()
    ) -> GraphDocument:
        """What the article says now."""
        entry: EntryRow = await self.rows.one(EntryRow, entry_id)
        text = (await self.rows.body(entry_id)).filtered_content
        source = ContextSource(entry_id, entry.feed_id, entry.title, "", text, "", "en", entry.content_hash)
        return GraphDocument(source, context(entry_id, text, *names, relations=relations))

    async def say(
        self, entry_id: int, *names: str | Entity, relations: Sequence[tuple[str, str, str]] = (), generation: int = 0
    ) -> Sequence[Addition]:
        """Into the graph, and noted as in."""
        added = await self.graph.add([await self.document(entry_id, *names, relations=relations)], generation)
        if not generation:
            await self.queue.mark_added({one.entry_id: one.content_hash for one in added if not one.reason}, NOW)
        return added

    async def rewrite(self, entry_id: int, text: str) -> None:
        async with self.database.unit_of_work() as work:
            entry, body = await work.session.get(EntryRow, entry_id), await work.session.get(EntryBodyRow, entry_id)
            assert entry is not None
            assert body is not None
            entry.content_hash, body.filtered_content = content_hash(text), text

    async def remove(self, entry_id: int) -> None:
        async with self.database.unit_of_work() as work:
            await work.session.delete(await work.session.get(EntryRow, entry_id))

    async def keys(self) -> list[str]:
        return sorted(await self.rows.all(select(GraphNodeRow.key)))

    async def sizes(self) -> tuple[int, int, int]:
        """Nodes, edges and evidence, of all generations."""
        counts = [await self.rows.all(select(func.count()).select_from(row)) for row in _TABLES]
        return counts[0][0], counts[1][0], counts[2][0]


_TABLES = (GraphNodeRow, GraphEdgeRow, GraphEvidenceRow)


@dataclass
class FakeGraph:
    """Entries by generation; 0 is the one that is read."""

    wants_contexts: bool = True
    kept: dict[int, dict[int, GraphDocument]] = field(default_factory=lambda: {0: {}})
    refuse: dict[int, str] = field(default_factory=dict)
    away: PressboxError | None = None
    pruned: int = 0
    swapped: list[int] = field(default_factory=list)

    async def add(self, documents: Sequence[GraphDocument], generation: int = 0) -> Sequence[Addition]:
        if self.away is not None:
            raise self.away
        told = []
        for one in documents:
            reason = self.refuse.get(one.source.entry_id, "")
            told.append(Addition(one.source.entry_id, one.source.content_hash, reason))
            if not reason:
                self.kept[generation][one.source.entry_id] = one
        return told

    async def begin_generation(self) -> int:
        self.kept[len(self.kept)] = {}
        return len(self.kept) - 1

    async def swap(self, generation: int) -> None:
        self.kept[0] = dict(self.kept[generation])
        self.swapped.append(generation)

    async def prune(self) -> int:
        self.pruned += 1
        return 0


@dataclass
class FakeShelf:
    """The queue of the graph, contexts, the extractor and the entries behind them, in memory."""

    texts: dict[int, str] = field(default_factory=dict)
    in_graph: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    known: dict[int, EntryContext] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    troubles: dict[int, PressboxError] = field(default_factory=dict)
    away: PressboxError | None = None
    graph: FakeGraph = field(default_factory=FakeGraph)
    before_extract: Callable[[int], None] | None = None

    def put(self, number: int) -> None:
        for entry_id in range(1, number + 1):
            self.texts[entry_id] = f"Text {entry_id}."

    async def find_pending(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, failed: bool
    ) -> Sequence[Waiting]:
        lacking = await self.find_missing(list(entry_ids) or list(self.texts))
        wanted = [one for one in lacking if one > after_entry_id and (failed or one not in self.failed)]
        return [Waiting(one, f"Title {one}") for one in wanted[:limit]]

    async def find_missing(self, entry_ids: Sequence[int]) -> Sequence[int]:
        return sorted(one for one in entry_ids if self.in_graph.get(one) != content_hash(self.texts[one]))

    async def mark_added(self, hashes: Mapping[int, str], now: datetime) -> Sequence[int]:
        fitting = {one: text for one, text in hashes.items() if content_hash(self.texts.get(one, "")) == text}
        self.in_graph |= fitting
        for one in fitting:
            self.failed.pop(one, None)
        return list(fitting)

    async def mark_failed(self, failures: Sequence[Addition]) -> None:
        self.failed |= {one.entry_id: one.reason for one in failures}

    async def source(self, entry_id: int) -> ContextSource | None:
        text = self.texts.get(entry_id, "")
        return ContextSource(entry_id, 1, f"Title {entry_id}", "", text, "", "en", content_hash(text)) if text else None

    async def of(self, entry_ids: Sequence[int]) -> Mapping[int, EntryContext]:
        return {one: self.known[one] for one in entry_ids if one in self.known}

    async def save(self, context: EntryContext, now: datetime) -> bool:
        self.known[context.entry_id] = context
        return True

    async def extract(self, source: ContextSource) -> EntryContext:
        if self.before_extract is not None:
            self.before_extract(source.entry_id)
        self.asked.append(source.entry_id)
        await asyncio.sleep(0)
        if self.away is not None:
            raise self.away
        if source.entry_id in self.troubles:
            raise self.troubles[source.entry_id]
        return context(source.entry_id, source.text, f"Entity {source.entry_id}")

    async def ids_after(self, after_entry_id: int, limit: int) -> Sequence[int]:
        return sorted(one for one in self.texts if one > after_entry_id)[:limit]

    def changed(self, entry_id: int, text: str) -> None:
        self.texts[entry_id] = text

    @property
    def graphing(self) -> GraphActivities:
        return GraphActivities(self, self.graph, self, self)

    def plain_activities(self) -> list[Callable[..., Any]]:
        graph, selection = self.graphing, IndexSelection(self)  # type: ignore[arg-type] # only what it asks for
        return [
            graph.get_entries_for_graph_update,
            graph.mark_entries_graph_added,
            graph.reset_global_graph,
            graph.swap_global_graph,
            graph.prune_global_graph,
            selection.get_entry_ids_for_indexing,
        ]

    def heavy_activities(self) -> list[Callable[..., Any]]:
        return [self.graphing.add_to_global_graph_bulk, self.graphing.fetch_and_add_to_graph_bulk]


def named(name: str, kind: EntityKind) -> Entity:
    return replace(Entity(name), kind=kind)
