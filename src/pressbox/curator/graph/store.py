"""The graph in PostgreSQL, made of contexts."""

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.logs import get_logger
from pressbox.curator.graph.domain.graph import said_by
from pressbox.curator.graph.locking import BUILDING, CHANGES_KEY, CURRENT, OLD, current_generation, lock
from pressbox.curator.graph.ports import Addition, GraphDocument
from pressbox.curator.graph.rows import GraphGenerationRow
from pressbox.curator.graph.writer import write
from pressbox.curator.library.domain.changes import GRAPH_CHANGED
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.library.store import SqlStore

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
        said = {one.source.entry_id: said_by(one.context) for one in documents if one.context is not None}
        hashes = {one.source.entry_id: one.source.content_hash for one in documents}
        refused = [Addition(entry_id, hashes[entry_id], NO_CONTEXT) for entry_id in hashes if entry_id not in said]
        async with self._database.unit_of_work() as work:
            await lock(work.session)
            fitting = await _fitting(work.session, {entry_id: hashes[entry_id] for entry_id in said})
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

    async def gone(self, entry_ids: Sequence[int]) -> Sequence[int]:
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


async def _fitting(session: AsyncSession, hashes: Mapping[int, str]) -> Sequence[int]:
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
