"""The graph as one person sees it: only what an entry that they may see stands behind."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ARRAY, BigInteger, ColumnElement, and_, any_, case, exists, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.core.errors import NotFoundError
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import cover_title, find_told
from pressbox.curator.context.domain import EntityKind, entity_key
from pressbox.curator.graph.domain import (
    EntityView,
    Evidence,
    Failure,
    GraphState,
    MentionedEntity,
    Neighbour,
    Relation,
)
from pressbox.curator.graph.store import (
    BUILDING,
    CURRENT,
    GraphEdgeRow,
    GraphEvidenceRow,
    GraphGenerationRow,
    GraphNodeRow,
    current_generation,
    has_failed,
    is_missing_from_graph,
    is_settled,
)
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, FeedRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore, feed_name, subscribed_by

# "Most mentioned" counts in this many of the newest entries: what matters now, at a price that does not grow.
AMONG = 2_000
# Entities whose name holds the words; whoever looks for more of them needs better words.
MOST_FOUND = 500
EVIDENCE_SHOWN = 12
EVIDENCE_PER_RELATION = 3
DESCRIPTIONS_SHOWN = 3
FAILURES_SHOWN = 5
MOST_EDGES = 400
# "Named together" is counted in this many of the entries that name an entity.
TOGETHER_AMONG = 200
NO_SUCH_ENTITY = "There is no such entity, or none of your feeds names it."


@dataclass(frozen=True)
class Viewer:
    """`entry` is the condition for an entry. The feeds are looked up once: asked row by row they cost most of all."""

    user_id: int
    entry: ColumnElement[bool]


async def load_viewer(session: AsyncSession, user_id: int) -> Viewer:
    feeds = list(await session.scalars(select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)))
    return Viewer(user_id, EntryRow.feed_id == any_(literal(feeds, ARRAY(BigInteger))))


@dataclass
class _Found:
    """What is known of a neighbour while it is put together: by word and direction the edge and its entries."""

    relations: list[tuple[int, str, bool, int]] = field(default_factory=list)
    together: int = 0

    @property
    def weight(self) -> int:
        return sum(entries for *_, entries in self.relations)


class SqlGraphPages(SqlStore):
    async def entities(self, user_id: int, words: str, limit: int) -> Sequence[MentionedEntity]:
        key = entity_key(words)
        async with self._database.unit_of_work() as work:
            generation, viewer = await current_generation(work.session), await load_viewer(work.session, user_id)
            if generation is None:
                return ()
            return await (_load_most_mentioned if not key else _load_matching)(
                work.session, viewer, generation, key, limit
            )

    async def entity(self, user_id: int, key: str, neighbours: int) -> EntityView:
        async with self._database.unit_of_work() as work:
            session = work.session
            viewer = await load_viewer(session, user_id)
            current = and_(GraphGenerationRow.id == GraphNodeRow.generation_id, GraphGenerationRow.state == CURRENT)
            wanted = select(GraphNodeRow).join(GraphGenerationRow, current).where(GraphNodeRow.key == entity_key(key))
            node = await session.scalar(wanted)
            entries, evidence, descriptions = await _load_evidence(session, viewer, node.id) if node else (0, (), ())
            if node is None or not entries:
                raise NotFoundError(NO_SUCH_ENTITY, key=key)
            beside, more = await _neighbours(session, viewer, node.id, neighbours)
            among = await _load_related_pairs(session, viewer, list(beside))
            names = await _load_nodes(session, list(beside))
        found = [_neighbour(names[number], relations) for number, relations in beside.items()]
        return EntityView(
            key=node.key,
            name=node.name,
            kind=_kind(node.kind),
            descriptions=descriptions,
            entries=entries,
            evidence=evidence,
            neighbours=found,
            among=[(names[one].key, names[other].key) for one, other in among],
            more=more,
        )

    async def state(self, user_id: int) -> GraphState:
        mine = subscribed_by(user_id)
        with_text = exists().where(EntryBodyRow.entry_id == EntryRow.id, EntryBodyRow.filtered_content != "")
        waiting = (
            select(func.count())
            .select_from(EntryRow)
            .where(is_missing_from_graph(), ~has_failed(), is_settled(), mine, with_text)
        )
        added = select(func.count(), func.max(EntryRow.graph_added_at)).where(
            EntryRow.graph_added_at.is_not(None), mine
        )
        failed = (
            select(EntryRow.id, EntryRow.title, EntryRow.graph_reason)
            .where(is_missing_from_graph(), has_failed(), mine)
            .order_by(EntryRow.id.desc())
            .limit(FAILURES_SHOWN)
        )
        async with self._database.unit_of_work() as work:
            session = work.session
            number, added_at = (await session.execute(added)).tuples().one()
            guarded = await load_guarded(session, user_id)
            building = select(GraphGenerationRow.id).where(GraphGenerationRow.state == BUILDING)
            return GraphState(
                entries=number,
                waiting=await session.scalar(waiting) or 0,
                added_at=added_at,
                rebuilding=await session.scalar(building) is not None,
                failures=[
                    Failure(entry_id, cover_title(title, guarded), reason)
                    for entry_id, title, reason in (await session.execute(failed)).tuples()
                ],
            )


async def _load_most_mentioned(
    session: AsyncSession, viewer: Viewer, generation: int, _: str, limit: int
) -> Sequence[MentionedEntity]:
    newest = (
        select(EntryRow.id)
        .where(viewer.entry, EntryRow.graph_added_at.is_not(None))
        .order_by(EntryRow.published_at.desc(), EntryRow.id.desc())
        .limit(AMONG)
        .scalar_subquery()
    )
    counted = (
        select(GraphNodeRow.key, GraphNodeRow.name, GraphNodeRow.kind, func.count())
        .join(GraphEvidenceRow, GraphEvidenceRow.node_id == GraphNodeRow.id)
        .where(GraphNodeRow.generation_id == generation, GraphEvidenceRow.entry_id.in_(newest))
        .group_by(GraphNodeRow.id)
        .order_by(func.count().desc(), GraphNodeRow.key)
        .limit(limit)
    )
    rows = (await session.execute(counted)).tuples()
    return [MentionedEntity(key, name, _kind(kind), number) for key, name, kind, number in rows]


async def _load_matching(
    session: AsyncSession, viewer: Viewer, generation: int, key: str, limit: int
) -> Sequence[MentionedEntity]:
    """The name itself first, then names that begin with the words, then those that hold them."""
    place = case((GraphNodeRow.key == key, 0), (GraphNodeRow.key.startswith(key, autoescape=True), 1), else_=2)
    matching = (
        select(GraphNodeRow.id, place.label("place"))
        .where(GraphNodeRow.generation_id == generation, GraphNodeRow.key.contains(key, autoescape=True))
        .order_by(place, GraphNodeRow.key)
        .limit(MOST_FOUND)
        .subquery()
    )
    counted = (
        select(GraphNodeRow.key, GraphNodeRow.name, GraphNodeRow.kind, func.count())
        .join(matching, matching.c.id == GraphNodeRow.id)
        .join(GraphEvidenceRow, GraphEvidenceRow.node_id == GraphNodeRow.id)
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(viewer.entry)
        .group_by(GraphNodeRow.id, matching.c.place)
        .order_by(matching.c.place, func.count().desc(), GraphNodeRow.key)
        .limit(limit)
    )
    rows = (await session.execute(counted)).tuples()
    return [MentionedEntity(key, name, _kind(kind), number) for key, name, kind, number in rows]


async def _load_evidence(
    session: AsyncSession, viewer: Viewer, node: int
) -> tuple[int, Sequence[Evidence], Sequence[str]]:
    """How many entries name it, the newest of them, and how they describe it."""
    seen = (
        select(GraphEvidenceRow.entry_id, GraphEvidenceRow.quote, GraphEvidenceRow.description, func.count().over())
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(GraphEvidenceRow.node_id == node, viewer.entry)
        .order_by(EntryRow.published_at.desc(), EntryRow.id.desc())
        .limit(EVIDENCE_SHOWN)
    )
    rows = (await session.execute(seen)).tuples().all()
    number = rows[0][3] if rows else 0
    told = await _describe_entries(session, viewer, [(entry_id, quote) for entry_id, quote, _, _ in rows])
    guarded = await load_guarded(session, viewer.user_id)
    said = (text for _, _, text, _ in rows if text and not find_told(text, guarded))
    descriptions = list(dict.fromkeys(said))[:DESCRIPTIONS_SHOWN]
    return number, told, descriptions


async def _describe_entries(
    session: AsyncSession, viewer: Viewer, quotes: Sequence[tuple[int, str]]
) -> Sequence[Evidence]:
    """Entries as the person knows them, in this order; feeds under their own titles, hidden scores as their match."""
    own = (
        select(SubscriptionRow.title)
        .where(SubscriptionRow.user_id == viewer.user_id, SubscriptionRow.feed_id == FeedRow.id)
        .scalar_subquery()
    )
    title = feed_name(own)
    statement = (
        select(EntryRow.id, EntryRow.title, title, EntryRow.published_at)
        .join(FeedRow, FeedRow.id == EntryRow.feed_id)
        .where(EntryRow.id.in_([entry_id for entry_id, _ in quotes]))
    )
    known = {row[0]: row for row in (await session.execute(statement)).tuples()}
    guarded = await load_guarded(session, viewer.user_id)
    told = []
    for entry_id, quote in quotes:
        number, named, feed_title, published_at = known[entry_id]
        match = find_told(f"{named}\n{quote}", guarded)
        named, quote = (match.heading, "") if match else (named, quote)
        told.append(Evidence(number, named, feed_title, published_at, quote))
    return told


async def _neighbours(
    session: AsyncSession, viewer: Viewer, node: int, limit: int
) -> tuple[Mapping[int, tuple[_Found, Mapping[int, Sequence[Evidence]]]], bool]:
    """First those that an entry relates to it, by how many do; then those that are only named beside it."""
    found: dict[int, _Found] = defaultdict(_Found)
    for edge, other, relation, outgoing, entries in await _load_related(session, viewer, node):
        found[other].relations.append((edge, relation, outgoing, entries))
    ranked = sorted(found, key=lambda other: (-found[other].weight, other))
    if len(ranked) <= limit:
        for other, entries in await _load_named_together(session, viewer, node, limit + 1 + len(ranked)):
            if other not in found:
                found[other].together = entries
                ranked.append(other)
    chosen = ranked[:limit]
    edges = [edge for other in chosen for edge, *_ in found[other].relations[:EVIDENCE_PER_RELATION]]
    evidence = await _load_edge_evidence(session, viewer, edges)
    return {other: (found[other], evidence) for other in chosen}, len(ranked) > limit


async def _load_related(session: AsyncSession, viewer: Viewer, node: int) -> Sequence[tuple[int, int, str, bool, int]]:
    """Edge, neighbour, word, whether it leads there, and how many entries say so."""
    outgoing = (GraphEdgeRow.source_id == node).label("outgoing")
    other = case((GraphEdgeRow.source_id == node, GraphEdgeRow.target_id), else_=GraphEdgeRow.source_id)
    statement = (
        select(GraphEdgeRow.id, other, GraphEdgeRow.relation, outgoing, func.count())
        .join(GraphEvidenceRow, GraphEvidenceRow.edge_id == GraphEdgeRow.id)
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(or_(GraphEdgeRow.source_id == node, GraphEdgeRow.target_id == node), viewer.entry)
        .group_by(GraphEdgeRow.id)
        .order_by(func.count().desc(), GraphEdgeRow.id)
        .limit(MOST_EDGES)
    )
    return (await session.execute(statement)).tuples().all()


async def _load_named_together(
    session: AsyncSession, viewer: Viewer, node: int, limit: int
) -> Sequence[tuple[int, int]]:
    """Other entities that the newest entries name beside this one."""
    newest = (
        select(EntryRow.id)
        .join(GraphEvidenceRow, GraphEvidenceRow.entry_id == EntryRow.id)
        .where(GraphEvidenceRow.node_id == node, viewer.entry)
        .order_by(EntryRow.published_at.desc(), EntryRow.id.desc())
        .limit(TOGETHER_AMONG)
        .subquery()
    )
    generation = select(GraphNodeRow.generation_id).where(GraphNodeRow.id == node).scalar_subquery()
    beside = aliased(GraphEvidenceRow)
    statement = (
        select(GraphNodeRow.id, func.count())
        .join(beside, beside.node_id == GraphNodeRow.id)
        .join(newest, newest.c.id == beside.entry_id)
        .where(GraphNodeRow.id != node, GraphNodeRow.generation_id == generation)
        .group_by(GraphNodeRow.id)
        .order_by(func.count().desc(), GraphNodeRow.key)
        .limit(limit)
    )
    return (await session.execute(statement)).tuples().all()


async def _load_edge_evidence(
    session: AsyncSession, viewer: Viewer, edges: Sequence[int]
) -> Mapping[int, Sequence[Evidence]]:
    """The newest entries behind each edge."""
    rank = func.row_number().over(
        partition_by=GraphEvidenceRow.edge_id, order_by=(EntryRow.published_at.desc(), EntryRow.id.desc())
    )
    ranked = (
        select(GraphEvidenceRow.edge_id, GraphEvidenceRow.entry_id, GraphEvidenceRow.quote, rank.label("place"))
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(GraphEvidenceRow.edge_id.in_(edges), viewer.entry)
        .subquery()
    )
    newest = select(ranked.c.edge_id, ranked.c.entry_id, ranked.c.quote).where(ranked.c.place <= EVIDENCE_PER_RELATION)
    rows = (await session.execute(newest.order_by(ranked.c.edge_id, ranked.c.place))).tuples().all()
    told = await _describe_entries(session, viewer, [(entry_id, quote) for _, entry_id, quote in rows])
    by_edge: dict[int, list[Evidence]] = defaultdict(list)
    for (edge, _, _), evidence in zip(rows, told, strict=True):
        by_edge[edge].append(evidence)
    return by_edge


async def _load_related_pairs(session: AsyncSession, viewer: Viewer, nodes: Sequence[int]) -> Sequence[tuple[int, int]]:
    """Pairs of these that an entry relates to each other."""
    behind = (
        select(literal(1))
        .select_from(GraphEvidenceRow)
        .join(EntryRow, EntryRow.id == GraphEvidenceRow.entry_id)
        .where(GraphEvidenceRow.edge_id == GraphEdgeRow.id, viewer.entry)
    )
    statement = select(GraphEdgeRow.source_id, GraphEdgeRow.target_id).where(
        GraphEdgeRow.source_id.in_(nodes), GraphEdgeRow.target_id.in_(nodes), behind.exists()
    )
    rows = (await session.execute(statement)).tuples()
    return sorted({(min(one, other), max(one, other)) for one, other in rows})


async def _load_nodes(session: AsyncSession, nodes: Sequence[int]) -> Mapping[int, GraphNodeRow]:
    found = await session.scalars(select(GraphNodeRow).where(GraphNodeRow.id.in_(nodes)))
    return {node.id: node for node in found}


def _neighbour(node: GraphNodeRow, found: tuple[_Found, Mapping[int, Sequence[Evidence]]]) -> Neighbour:
    relations, evidence = found
    told = [
        Relation(word, outgoing, entries, evidence.get(edge, ()))
        for edge, word, outgoing, entries in relations.relations[:EVIDENCE_PER_RELATION]
    ]
    if not told:
        told = [Relation("", True, relations.together, ())]
    return Neighbour(node.key, node.name, _kind(node.kind), told)


def _kind(stored: str) -> EntityKind:
    return EntityKind(stored) if stored in EntityKind.__members__.values() else EntityKind.OTHER
