"""The peers of `bench graph`: one statement per fact, and NetworkX in memory."""

import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec

import psycopg

from pressbox.curator.context.domain import EntryContext
from pressbox.curator.graph.domain import Statements, extract_statements

_TABLES = """
    CREATE SCHEMA peer;
    CREATE TABLE peer.nodes (id bigserial PRIMARY KEY, key text UNIQUE, name text, kind text);
    CREATE TABLE peer.edges (
        id bigserial PRIMARY KEY, source bigint, target bigint, relation text, UNIQUE (source, target, relation)
    );
    CREATE TABLE peer.evidence (id bigserial PRIMARY KEY, node bigint, edge bigint, entry bigint, quote text);
    CREATE INDEX ON peer.evidence (node); CREATE INDEX ON peer.evidence (edge); CREATE INDEX ON peer.evidence (entry)
"""
_NODE = (
    "INSERT INTO peer.nodes (key, name, kind) VALUES (%s, %s, %s) "
    "ON CONFLICT (key) DO UPDATE SET name = excluded.name RETURNING id"
)
_EDGE = (
    "INSERT INTO peer.edges (source, target, relation) VALUES (%s, %s, %s) "
    "ON CONFLICT (source, target, relation) DO UPDATE SET relation = excluded.relation RETURNING id"
)


def add_row_by_row(url: str, said: Sequence[EntryContext]) -> float:
    """Add each entry in its own transaction; returns the seconds."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_TABLES)
        began = time.perf_counter()
        for context in said:
            with connection.transaction():
                _write(connection, context.entry_id, extract_statements(context))
        return time.perf_counter() - began


def _write(connection: psycopg.Connection[tuple[object, ...]], entry_id: int, said: Statements) -> None:
    def number(statement: str, *values: object) -> object:
        found = connection.execute(statement.encode(), values).fetchone()
        assert found is not None
        return found[0]

    nodes = {}
    for key, entity in said.entities.items():
        nodes[key] = number(_NODE, key, entity.name, entity.kind.value)
        evidence = "INSERT INTO peer.evidence (node, entry, quote) VALUES (%s, %s, %s)"
        connection.execute(evidence, (nodes[key], entry_id, entity.quote))
    for (source, target, relation), quote in said.relations.items():
        edge = number(_EDGE, nodes[source], nodes[target], relation)
        evidence = "INSERT INTO peer.evidence (edge, entry, quote) VALUES (%s, %s, %s)"
        connection.execute(evidence, (edge, entry_id, quote))


def walk_in_memory(said: Sequence[EntryContext], names: Sequence[str], neighbours: int) -> Sequence[float]:
    """Seconds for each entity; empty without NetworkX, which the extra `lightrag` installs."""
    if find_spec("networkx") is None:
        return ()
    import networkx  # type: ignore[import-untyped] # it has no types, and nothing of it leaves this function

    graph = networkx.MultiDiGraph()
    for context in said:
        one = extract_statements(context)
        for key in one.entities:
            graph.add_node(key)
            graph.nodes[key].setdefault("entries", []).append(context.entry_id)
        for (source, target, relation), quote in one.relations.items():
            graph.add_edge(source, target, relation=relation, entry=context.entry_id, quote=quote)
    taken = []
    for name in names:
        began = time.perf_counter()
        key = name.casefold()
        beside = Counter(other for _, other in graph.out_edges(key))
        beside.update(other for other, _ in graph.in_edges(key))
        chosen = [other for other, _ in beside.most_common(neighbours)]
        for other in chosen:
            list(graph.get_edge_data(key, other, default={}).values())
            list(graph.get_edge_data(other, key, default={}).values())
        [pair for pair in graph.subgraph(chosen).edges()]
        taken.append(time.perf_counter() - began)
    return taken
