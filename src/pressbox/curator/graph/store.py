"""The tables of the graph, and the graph that is made of contexts."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Index,
    Text,
    UniqueConstraint,
    and_,
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.logs import get_logger
from pressbox.curator.graph.activities import Addition, GraphDocument, Waiting
from pressbox.curator.graph.domain import extract_statements
from pressbox.curator.graph.writer import write
from pressbox.curator.library.domain import GRAPH_CHANGED, DistilState, FetchState
from pressbox.curator.library.rows import SCHEMA, EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.text.plain_text import make_storable, shorten


class GraphGenerationRow(Base):
    """One is current. Another may be built aside; one that was replaced is old until it is removed."""

    __tablename__ = "graph_generations"
    __table_args__ = (
        CheckConstraint("state IN ('building', 'current', 'old')", name="state"),
        Index("uq_graph_generations_current", "state", unique=True, postgresql_where=text("state = 'current'")),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    state: Mapped[str] = mapped_column(Text)
    begun_at: Mapped[datetime] = mapped_column(server_default=func.now())


class GraphNodeRow(Base):
    """An entity. `key` is its name as compared: one spelling for all. Name and kind are what most entries say."""

    __tablename__ = "graph_nodes"
    __table_args__ = (UniqueConstraint("generation_id", "key"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    generation_id: Mapped[int] = mapped_column(ForeignKey("curator.graph_generations.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text, server_default="")


class GraphEdgeRow(Base):
    """One entity's relation to another."""

    __tablename__ = "graph_edges"
    __table_args__ = (UniqueConstraint("source_id", "target_id", "relation"), Index(None, "target_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    generation_id: Mapped[int] = mapped_column(
        ForeignKey("curator.graph_generations.id", ondelete="CASCADE"), index=True
    )
    source_id: Mapped[int] = mapped_column(ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"))
    target_id: Mapped[int] = mapped_column(ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"))
    relation: Mapped[str] = mapped_column(Text)


class GraphEvidenceRow(Base):
    """Which entry says so, of a node or of an edge. Without any evidence left a node or edge is nobody's knowledge."""

    __tablename__ = "graph_evidence"
    __table_args__ = (
        CheckConstraint("(node_id IS NULL) <> (edge_id IS NULL)", name="node_or_edge"),
        UniqueConstraint("node_id", "entry_id"),
        UniqueConstraint("edge_id", "entry_id"),
        Index(None, "entry_id"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    node_id: Mapped[int | None] = mapped_column(ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"))
    edge_id: Mapped[int | None] = mapped_column(ForeignKey("curator.graph_edges.id", ondelete="CASCADE"))
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"))
    quote: Mapped[str] = mapped_column(Text, server_default="")
    # Of a node: how this entry calls and describes it.
    name: Mapped[str] = mapped_column(Text, server_default="")
    kind: Mapped[str] = mapped_column(Text, server_default="")
    description: Mapped[str] = mapped_column(Text, server_default="")


log = get_logger(__name__)

NO_CONTEXT = "Nobody found out what it is about."
# Removed at a time of a generation that nobody reads: each is a short transaction.
REMOVED_AT_ONCE = 5_000
_UNSUPPORTED = tuple(
    text(
        f"DELETE FROM curator.{table} t WHERE NOT EXISTS "  # noqa: S608 - two names of ours
        f"(SELECT 1 FROM curator.graph_evidence e WHERE e.{column} = t.id)"
    )
    for table, column in (("graph_edges", "edge_id"), ("graph_nodes", "node_id"))
)
_SOME_NODES = text(
    "DELETE FROM curator.graph_nodes WHERE id IN ("
    "SELECT id FROM curator.graph_nodes WHERE generation_id = :generation LIMIT :number)"
)


class PostgresGraph(SqlStore):
    """Entities that have the same key are one node, whichever entry names them."""

    wants_contexts = True

    async def add(self, documents: Sequence[GraphDocument], generation: int = 0) -> Sequence[Addition]:
        said = {one.source.entry_id: extract_statements(one.context) for one in documents if one.context is not None}
        hashes = {one.source.entry_id: one.source.content_hash for one in documents}
        refused = [Addition(entry_id, hashes[entry_id], NO_CONTEXT) for entry_id in hashes if entry_id not in said]
        async with self._database.unit_of_work() as work:
            await lock(work.session)
            fitting = await _lock_unchanged(work.session, {entry_id: hashes[entry_id] for entry_id in said})
            for number in await _generations(work.session, generation):
                await write(work.session, number, {entry_id: said[entry_id] for entry_id in fitting})
            if fitting and not generation:
                work.changed(GRAPH_CHANGED, CHANGES_KEY)
        return [*(Addition(entry_id, hashes[entry_id]) for entry_id in fitting), *refused]

    async def generations(self, generation: int = 0) -> Sequence[int]:
        """Where an entry goes: into this one, or into the one that is read and one that is built aside."""
        async with self._database.unit_of_work() as work:
            await lock(work.session)
            return await _generations(work.session, generation)

    async def find_deleted(self, entry_ids: Sequence[int]) -> Sequence[int]:
        """Those of these that are no entries any more."""
        existing = select(EntryRow.id).where(EntryRow.id.in_(entry_ids))
        async with self._database.unit_of_work() as work:
            return sorted(set(entry_ids) - set(await work.session.scalars(existing)))

    async def begin_generation(self) -> int:
        async with self._database.unit_of_work() as work:
            await lock(work.session)
            await work.session.execute(
                update(GraphGenerationRow).where(GraphGenerationRow.state == BUILDING).values(state=OLD)
            )
            begun = await _insert(work.session, BUILDING)
        await self._remove_old()
        return begun

    async def swap(self, generation: int) -> None:
        async with self._database.unit_of_work() as work:
            await lock(work.session)
            current = await current_generation(work.session)
            if current != generation:
                for number, state in ((current, OLD), (generation, CURRENT)):
                    changed = update(GraphGenerationRow).where(GraphGenerationRow.id == number).values(state=state)
                    await work.session.execute(changed)
                work.changed(GRAPH_CHANGED, CHANGES_KEY)
                log.info("graph_swapped", msg="The graph that was built anew is read from now on", id=generation)
        await self._remove_old()

    async def prune(self) -> int:
        async with self._database.unit_of_work() as work:
            await lock(work.session)
            removed = 0
            for statement in _UNSUPPORTED:
                result = await work.session.execute(statement)
                removed += int(getattr(result, "rowcount", 0))
            if removed:
                work.changed(GRAPH_CHANGED, CHANGES_KEY)
        return removed

    async def _remove_old(self) -> None:
        """Generations that nobody reads, in pieces: edges and evidence go with their nodes."""
        async with self._database.unit_of_work() as work:
            old = list(await work.session.scalars(select(GraphGenerationRow.id).where(GraphGenerationRow.state == OLD)))
        for generation in old:
            while await self._remove_some(generation):
                pass
            async with self._database.unit_of_work() as work:
                await work.session.execute(delete(GraphGenerationRow).where(GraphGenerationRow.id == generation))

    async def _remove_some(self, generation: int) -> bool:
        async with self._database.unit_of_work() as work:
            values = {"generation": generation, "number": REMOVED_AT_ONCE}
            return int(getattr(await work.session.execute(_SOME_NODES, values), "rowcount", 0)) > 0


async def _lock_unchanged(session: AsyncSession, hashes: Mapping[int, str]) -> Sequence[int]:
    """Those that are there and still have this text; they are held until the end."""
    held = (
        select(EntryRow.id, EntryRow.content_hash)
        .where(EntryRow.id.in_(hashes))
        .order_by(EntryRow.id)
        .with_for_update(read=True)
    )
    rows = (await session.execute(held)).tuples()
    # One whose page has not been fetched has no hash of its own yet.
    return [entry_id for entry_id, content_hash in rows if content_hash in ("", hashes[entry_id])]


async def _generations(session: AsyncSession, generation: int) -> Sequence[int]:
    """The one that is named; otherwise the one that is read, made with the first entry, and one that is built."""
    if generation:
        named = select(GraphGenerationRow.id).where(GraphGenerationRow.id == generation)
        return list(await session.scalars(named))
    wanted = select(GraphGenerationRow.id).where(GraphGenerationRow.state.in_((CURRENT, BUILDING)))
    if await current_generation(session) is None:
        await _insert(session, CURRENT)
    return list(await session.scalars(wanted.order_by(GraphGenerationRow.id)))


async def _insert(session: AsyncSession, state: str) -> int:
    made = insert(GraphGenerationRow).values(state=state).returning(GraphGenerationRow.id)
    return (await session.execute(made)).scalar_one()


_LOCK = 0x47_52_41_50  # "GRAP"
# There is one graph: all of its changes have this key.
CHANGES_KEY = "graph"
BUILDING, CURRENT, OLD = "building", "current", "old"


async def lock(session: AsyncSession) -> None:
    await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))


async def current_generation(session: AsyncSession) -> int | None:
    current: int | None = await session.scalar(select(GraphGenerationRow.id).where(GraphGenerationRow.state == CURRENT))
    return current


_LONGEST_REASON = 300
# A distiller may find that less of a text is the article; where nobody distils, nobody waits for ever.
_PATIENCE = text("interval '10 minutes'")
# One whose page has not been fetched has no hash of its own yet.
_MARK = text(
    "UPDATE curator.entries e SET graph_hash = e.content_hash, graph_added_at = :now, "
    "graph_failed_hash = NULL, graph_reason = '' "
    "FROM unnest(CAST(:ids AS bigint[]), CAST(:hashes AS text[])) AS g (id, content_hash) "
    "WHERE e.id = g.id AND e.content_hash IN ('', g.content_hash) RETURNING e.id"
)


class SqlGraphQueue(SqlStore):
    async def find_pending(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, failed: bool
    ) -> Sequence[Waiting]:
        statement = (
            select(EntryRow.id, EntryRow.title)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(is_missing_from_graph(), EntryBodyRow.filtered_content != "", EntryRow.id > after_entry_id)
            .order_by(EntryRow.id)
            .limit(limit)
        )
        statement = statement.where(EntryRow.id.in_(entry_ids) if entry_ids else is_settled())
        if not failed:
            statement = statement.where(~has_failed())
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples()
            return [Waiting(entry_id, shorten(title)) for entry_id, title in rows]

    async def find_missing(self, entry_ids: Sequence[int]) -> Sequence[int]:
        statement = select(EntryRow.id).where(EntryRow.id.in_(entry_ids), is_missing_from_graph()).order_by(EntryRow.id)
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement))

    async def mark_added(self, hashes: Mapping[int, str], now: datetime) -> Sequence[int]:
        if not hashes:
            return ()
        ids = sorted(hashes)
        values = {"ids": ids, "hashes": [hashes[entry_id] for entry_id in ids], "now": now}
        async with self._database.unit_of_work() as work:
            marked = list(await work.session.scalars(_MARK, values))
            if marked:
                work.changed(GRAPH_CHANGED, CHANGES_KEY)
        return marked

    async def mark_failed(self, failures: Sequence[Addition]) -> None:
        async with self._database.unit_of_work() as work:
            for failure in sorted(failures, key=lambda one: one.entry_id):
                reason = make_storable(failure.reason)[:_LONGEST_REASON]
                await work.session.execute(
                    update(EntryRow)
                    .where(EntryRow.id == failure.entry_id, EntryRow.content_hash.in_(["", failure.content_hash]))
                    .values(
                        graph_hash=None,
                        graph_added_at=None,
                        graph_failed_hash=EntryRow.content_hash,
                        graph_reason=reason,
                    )
                    .execution_options(synchronize_session=False)
                )
            if failures:
                work.changed(GRAPH_CHANGED, CHANGES_KEY)


def is_missing_from_graph() -> ColumnElement[bool]:
    return EntryRow.graph_hash.is_distinct_from(EntryRow.content_hash)


def has_failed() -> ColumnElement[bool]:
    return EntryRow.graph_failed_hash.is_not_distinct_from(EntryRow.content_hash)


def is_settled() -> ColumnElement[bool]:
    """Its text will most likely stay: another one would be worked on once more."""
    waited = EntryRow.updated_at < func.now() - _PATIENCE
    return and_(EntryRow.fetch_state != FetchState.WAITING, or_(EntryRow.distil_state != DistilState.WAITING, waited))
