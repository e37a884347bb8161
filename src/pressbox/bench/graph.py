"""`pressbox bench graph`: adding entries, and finding neighbours among 100,000 edges, compared with plainer ways."""

import asyncio
import random
import time
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise

from pressbox.bench.graph_library import READ_FEEDS, contexts, feed_of, fill
from pressbox.bench.graph_peers import add_row_by_row, walk_in_memory
from pressbox.bench.instance import temporary_database, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine, percentile_milliseconds
from pressbox.core.db.database import Database
from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.domain import EntryContext
from pressbox.curator.graph.activities import Graph, GraphDocument, GraphPages
from pressbox.curator.graph.wiring import graph_store
from pressbox.curator.search.ports import GraphReader

EDGES = 100_000
QUERIES = 300
BATCH = 50
NEIGHBOURS = 8
# One statement per fact takes long; a sample is enough.
PEER_ENTRIES = 200
AIM_MILLISECONDS = 50.0


@dataclass(frozen=True)
class GraphTimes:
    """Seconds of adding, and of each query."""

    entries: int
    edges: int
    adding: float
    neighbours: Sequence[float]
    near: Sequence[float]


def run_graph(say: Say, edges: int = EDGES, queries: int = QUERIES) -> Report:
    """Takes a few minutes. Contexts are made beforehand: extracting them is not measured here."""
    machine = describe_machine()
    with temporary_home() as home:
        home.create()
        with temporary_database(home) as url:
            say("Making articles and their contexts")
            said = list(contexts(edges))
            user_id = fill(url, said)
            measured = asyncio.run(_measure(url, user_id, said, queries, say))
            say(f"{PEER_ENTRIES} entries row by row")
            plain = add_row_by_row(url, said[:PEER_ENTRIES])
            say("The same neighbours in memory")
            memory = walk_in_memory(said, _choose_names(said, queries), NEIGHBOURS)
    return Report(
        name="graph", measured_at=datetime.now(UTC), machine=machine, figures=_figures(measured, plain, memory)
    )


async def _measure(url: str, user_id: int, said: Sequence[EntryContext], queries: int, say: Say) -> GraphTimes:
    database = Database(url)
    graph, pages, reader = graph_store(database)
    try:
        say(f"{len(said):,} entries into the graph")
        adding = await _measure_adding(graph, said)
        async with database.engine.connect() as connection:
            await connection.exec_driver_sql("ANALYZE")
            edges = (await connection.exec_driver_sql("SELECT count(*) FROM curator.graph_edges")).scalar_one()
        say(f"{queries} entities with their neighbours, at {edges:,} edges")
        names = _choose_names(said, queries)
        return GraphTimes(
            entries=len(said),
            edges=edges,
            adding=adding,
            neighbours=await _measure_neighbours(pages, user_id, names),
            near=await _measure_near(reader, user_id, names),
        )
    finally:
        await database.close()


async def _measure_adding(graph: Graph, said: Sequence[EntryContext]) -> float:
    """Add entries as the worker does, with a transaction for each batch."""
    seconds = 0.0
    for batch in _batches(said):
        documents = [GraphDocument(_context_source(one), one) for one in batch]
        began = time.perf_counter()
        added = await graph.add(documents)
        seconds += time.perf_counter() - began
        assert len(added) == len(batch)
    return seconds


async def _measure_neighbours(pages: GraphPages, user_id: int, names: Sequence[str]) -> Sequence[float]:
    # The first query opens a connection.
    await pages.entity(user_id, names[0], NEIGHBOURS)
    return [await _measure_seconds(pages.entity(user_id, name, NEIGHBOURS)) for name in names]


async def _measure_near(reader: GraphReader, user_id: int, names: Sequence[str]) -> Sequence[float]:
    questions = [f"What did {one} do to {other} last year?" for one, other in pairwise(names)]
    return [await _measure_seconds(reader.entries_near(user_id, words, 20)) for words in questions]


async def _measure_seconds(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _choose_names(said: Sequence[EntryContext], queries: int) -> Sequence[str]:
    """Choose entities of the reader's feeds; what is named often is chosen often."""
    chance = random.Random(queries)  # noqa: S311 - the same queries in every run
    read = [one for one in said if feed_of(one.entry_id) <= READ_FEEDS]
    return [chance.choice(chance.choice(read).entities).name for _ in range(queries)]


def _context_source(one: EntryContext) -> ContextSource:
    return ContextSource(one.entry_id, feed_of(one.entry_id), "", "", "", "", "en", one.content_hash)


def _batches(said: Sequence[EntryContext]) -> Iterator[Sequence[EntryContext]]:
    rest = iter(said)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _figures(measured: GraphTimes, plain: float, memory: Sequence[float]) -> tuple[Figure, ...]:
    at = f"{measured.edges:,} edges"
    return (
        Figure(
            name="entries added",
            value=measured.entries / measured.adding,
            unit="per second",
            better=Better.HIGHER,
            peer=PEER_ENTRIES / plain,
            peer_name="PostgreSQL, row by row",
            note=f"{measured.entries:,} entries in batches of {BATCH}; what they say was found before",
        ),
        *(
            Figure(
                name=f"neighbours at {at}: p{percentile}",
                value=percentile_milliseconds(measured.neighbours, percentile),
                unit="ms",
                aim=AIM_MILLISECONDS if percentile == 95 else None,
                peer=percentile_milliseconds(memory, percentile) if memory else None,
                peer_name="NetworkX in memory" if memory else "",
                note="the peer knows nobody's feeds, no quotes and no order of time",
            )
            for percentile in (50, 95)
        ),
        Figure(
            name=f"entries near a question at {at}: p95",
            value=percentile_milliseconds(measured.near, 95),
            unit="ms",
            aim=AIM_MILLISECONDS,
            note="two entities in each question",
        ),
    )
