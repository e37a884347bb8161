"""Entries near words: those that name the entities in them, then those that name what these are related to."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.graph.domain import extract_phrases
from pressbox.curator.graph.page_store import Viewer, load_viewer
from pressbox.curator.graph.store import GraphEdgeRow, GraphEvidenceRow, GraphNodeRow, current_generation
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.library.store import SqlStore

# The entities of a question that tell most of it, and of their neighbours the closest.
MOST_ENTITIES = 12
MOST_NEIGHBOURS = 12
# Of each set of entities, the newest entries that name them.
MOST_ENTRIES = 1_000
NEIGHBOURS_WEIGH = 0.3


class SqlGraphReader(SqlStore):
    async def entries_near(self, user_id: int, words: str, limit: int) -> Sequence[int]:
        phrases = extract_phrases(words)
        if not phrases:
            return ()
        async with self._database.unit_of_work() as work:
            viewer = await load_viewer(work.session, user_id)
            named = await _weigh_nodes(work.session, phrases)
            ranked = await _rank_entries(work.session, viewer, named)
            if len(ranked) < limit and named:
                beside = await _neighbours(work.session, viewer, named)
                for entry_id, weight in (await _rank_entries(work.session, viewer, beside)).items():
                    ranked.setdefault(entry_id, weight)
        # Counter keeps the newest first among equals: so they were read.
        return [entry_id for entry_id, _ in ranked.most_common(limit)]


async def _weigh_nodes(session: AsyncSession, phrases: Mapping[str, int]) -> Mapping[int, float]:
    """Entities by their keys. A name of several words tells more, one that half of all entries have tells little."""
    generation = await current_generation(session)
    nodes = select(GraphNodeRow.id, GraphNodeRow.key).where(
        GraphNodeRow.generation_id == generation, GraphNodeRow.key.in_(phrases)
    )
    found = (await session.execute(nodes)).tuples().all()
    often = await _count_mentions(session, [number for number, _ in found])
    weights = {number: phrases[key] / math.log(2 + often.get(number, 0)) for number, key in found if number in often}
    best = sorted(weights, key=lambda number: (-weights[number], number))[:MOST_ENTITIES]
    return {number: weights[number] for number in best}


async def _count_mentions(session: AsyncSession, nodes: Sequence[int]) -> Mapping[int, int]:
    counted = (
        select(GraphEvidenceRow.node_id, func.count())
        .where(GraphEvidenceRow.node_id.in_(nodes))
        .group_by(GraphEvidenceRow.node_id)
    )
    return {node: number for node, number in (await session.execute(counted)).tuples() if node is not None}


async def _rank_entries(session: AsyncSession, viewer: Viewer, weights: Mapping[int, float]) -> Counter[int]:
    """By all that they name; the newest first among equals."""
    ranked: Counter[int] = Counter()
    if not weights:
        return ranked
    statement = (
        select(GraphEvidenceRow.entry_id, GraphEvidenceRow.node_id)
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(GraphEvidenceRow.node_id.in_(weights), viewer.entry)
        .order_by(EntryRow.published_at.desc(), EntryRow.id.desc())
        .limit(MOST_ENTRIES)
    )
    for entry_id, node in (await session.execute(statement)).tuples():
        # Counters take any number; their type only knows whole ones.
        ranked[entry_id] += weights[node or 0]  # type: ignore[assignment]
    return ranked


async def _neighbours(session: AsyncSession, viewer: Viewer, named: Mapping[int, float]) -> Mapping[int, float]:
    """What most of the person's entries relate to these entities."""
    edges = (
        select(GraphEdgeRow.source_id, GraphEdgeRow.target_id, func.count())
        .join(GraphEvidenceRow, GraphEvidenceRow.edge_id == GraphEdgeRow.id)
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(or_(GraphEdgeRow.source_id.in_(named), GraphEdgeRow.target_id.in_(named)), viewer.entry)
        .group_by(GraphEdgeRow.source_id, GraphEdgeRow.target_id)
        .order_by(func.count().desc(), GraphEdgeRow.source_id, GraphEdgeRow.target_id)
        .limit(MOST_NEIGHBOURS)
    )
    found: dict[int, float] = {}
    for source, target, _ in (await session.execute(edges)).tuples():
        for near, far in ((source, target), (target, source)):
            if near in named and far not in named:
                found[far] = max(found.get(far, 0.0), NEIGHBOURS_WEIGH * named[near])
    return found
