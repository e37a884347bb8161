"""What entries say, written into one generation of the graph in bulk."""

from collections.abc import Mapping, Sequence

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.context.domain import EntityKind
from pressbox.curator.graph.domain import Statements
from pressbox.curator.text.plain_text import make_storable

_FORGET = tuple(
    text(
        f"DELETE FROM curator.graph_evidence e USING curator.{table} t "  # noqa: S608 - two names of ours
        f"WHERE e.{column} = t.id AND t.generation_id = :generation AND e.entry_id = ANY(:entries)"
    )
    for table, column in (("graph_nodes", "node_id"), ("graph_edges", "edge_id"))
)
_ADD_NODES = text(
    "INSERT INTO curator.graph_nodes (generation_id, key, name, kind) "
    "SELECT :generation, n.key, n.name, n.kind "
    "FROM unnest(CAST(:keys AS text[]), CAST(:names AS text[]), CAST(:kinds AS text[])) AS n (key, name, kind) "
    "ON CONFLICT DO NOTHING"
)
_NODES = text(
    "SELECT id, key, name, kind FROM curator.graph_nodes WHERE generation_id = :generation AND key = ANY(:keys)"
)
_ADD_EDGES = text(
    "INSERT INTO curator.graph_edges (generation_id, source_id, target_id, relation) "
    "SELECT :generation, n.source, n.target, n.relation FROM unnest(CAST(:sources AS bigint[]), "
    "CAST(:targets AS bigint[]), CAST(:relations AS text[])) AS n (source, target, relation) "
    "ON CONFLICT DO NOTHING"
)
_EDGES = text(
    "SELECT e.id, e.source_id, e.target_id, e.relation FROM unnest(CAST(:sources AS bigint[]), "
    "CAST(:targets AS bigint[]), CAST(:relations AS text[])) AS n (source, target, relation) "
    "JOIN curator.graph_edges e ON e.source_id = n.source AND e.target_id = n.target AND e.relation = n.relation"
)
_ADD_NODE_EVIDENCE = text(
    "INSERT INTO curator.graph_evidence (node_id, entry_id, quote, name, kind, description) "
    "SELECT * FROM unnest(CAST(:nodes AS bigint[]), CAST(:entries AS bigint[]), CAST(:quotes AS text[]), "
    "CAST(:names AS text[]), CAST(:kinds AS text[]), CAST(:descriptions AS text[])) ON CONFLICT DO NOTHING"
)
_ADD_EDGE_EVIDENCE = text(
    "INSERT INTO curator.graph_evidence (edge_id, entry_id, quote) "
    "SELECT * FROM unnest(CAST(:edges AS bigint[]), CAST(:entries AS bigint[]), CAST(:quotes AS text[])) "
    "ON CONFLICT DO NOTHING"
)
# What most entries say; "other" is what nobody knows better.
_RENAME = text(
    "UPDATE curator.graph_nodes n SET name = m.name, kind = coalesce(m.kind, :other) FROM ("
    'SELECT node_id, mode() WITHIN GROUP (ORDER BY name COLLATE "C") AS name, '
    "mode() WITHIN GROUP (ORDER BY kind) FILTER (WHERE kind <> :other) AS kind "
    "FROM curator.graph_evidence WHERE node_id = ANY(:nodes) GROUP BY node_id) AS m WHERE n.id = m.node_id"
)


async def write(session: AsyncSession, generation: int, said: Mapping[int, Statements]) -> None:
    """Whatever these entries said before is forgotten. Keys are sorted, should two ever write at a time."""
    entries = sorted(said)
    for statement in _FORGET:
        await session.execute(statement, {"generation": generation, "entries": entries})
    nodes = await _write_nodes(session, generation, said)
    await _write_edges(session, generation, said, nodes)


async def _write_nodes(session: AsyncSession, generation: int, said: Mapping[int, Statements]) -> Mapping[str, int]:
    named = {key: entity for one in said.values() for key, entity in one.entities.items()}
    keys = sorted(named)
    if not keys:
        return {}
    values = {
        "keys": [make_storable(key) for key in keys],
        "names": [make_storable(named[key].name) for key in keys],
        "kinds": [named[key].kind.value for key in keys],
    }
    await session.execute(_ADD_NODES, values | {"generation": generation})
    found = (await session.execute(_NODES, {"generation": generation, "keys": values["keys"]})).tuples().all()
    nodes = {key: number for number, key, _, _ in found}
    known = {key: (name, kind) for _, key, name, kind in found}
    mentions = [
        (nodes[make_storable(key)], entry_id, entity)
        for entry_id in sorted(said)
        for key, entity in said[entry_id].entities.items()
    ]
    await session.execute(
        _ADD_NODE_EVIDENCE,
        {
            "nodes": [node for node, _, _ in mentions],
            "entries": [entry_id for _, entry_id, _ in mentions],
            "quotes": [make_storable(entity.quote) for _, _, entity in mentions],
            "names": [make_storable(entity.name) for _, _, entity in mentions],
            "kinds": [entity.kind.value for _, _, entity in mentions],
            "descriptions": [make_storable(entity.description) for _, _, entity in mentions],
        },
    )
    other = {
        node
        for node, _, entity in mentions
        if known[make_storable(entity.key)] != (make_storable(entity.name), entity.kind.value)
    }
    if other:
        await session.execute(_RENAME, {"nodes": sorted(other), "other": EntityKind.OTHER.value})
    return nodes


async def _write_edges(
    session: AsyncSession, generation: int, said: Mapping[int, Statements], nodes: Mapping[str, int]
) -> None:
    wanted = [
        (
            nodes[make_storable(source)],
            nodes[make_storable(target)],
            make_storable(relation),
            entry_id,
            make_storable(quote),
        )
        for entry_id in sorted(said)
        for (source, target, relation), quote in said[entry_id].relations.items()
    ]
    if not wanted:
        return
    ends = _columns(sorted({(source, target, relation) for source, target, relation, _, _ in wanted}))
    await session.execute(_ADD_EDGES, ends | {"generation": generation})
    edges = await _edges(session, _EDGES, ends)
    await session.execute(
        _ADD_EDGE_EVIDENCE,
        {
            "edges": [edges[source, target, relation] for source, target, relation, _, _ in wanted],
            "entries": [entry_id for *_, entry_id, _ in wanted],
            "quotes": [quote for *_, quote in wanted],
        },
    )


async def _edges(
    session: AsyncSession, statement: TextClause, ends: Mapping[str, Sequence[int | str]]
) -> Mapping[tuple[int, int, str], int]:
    rows = (await session.execute(statement, ends)).tuples()
    return {(source, target, relation): number for number, source, target, relation in rows}


def _columns(ends: Sequence[tuple[int, int, str]]) -> dict[str, Sequence[int | str]]:
    return {
        "sources": [source for source, _, _ in ends],
        "targets": [target for _, target, _ in ends],
        "relations": [relation for _, _, relation in ends],
    }
