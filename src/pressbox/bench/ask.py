"""`pressbox bench ask`: how well each retrieval method finds the right page for a question, and how long it takes.

Only retrieval is measured: the quality of written answers needs a real model and a real judge.
"""

import asyncio
import math
import statistics
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from pressbox.bench import ask_library as library
from pressbox.bench.ask_library import Document, Question
from pressbox.bench.instance import temporary_database, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.core.db.database import Database
from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.finder import OfflineContextExtractor
from pressbox.curator.graph.activities import GraphDocument
from pressbox.curator.graph.wiring import graph_store
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.search.domain.passages import FoundBy
from pressbox.curator.search.ports import Embedder, GraphReader, IndexReader
from pressbox.curator.search.retriever import HybridRetriever, SqlArticles
from pressbox.curator.search.store import SqlEmbeddingStore, SqlIndexStore
from pressbox.curator.search.wiring import embedder, folder_index, table_index
from pressbox.curator.settings import CuratorSettings
from pressbox.embedded.home import Home

ENTRIES = 50_000
TIMED = 100
PEER = "PostgreSQL full text"
BEST, LISTED = 5, 10
AIM_MILLISECONDS = 500.0
WORDS_AND_VECTORS = frozenset({FoundBy.FULL_TEXT, FoundBy.VECTORS})
WAYS: Mapping[str, frozenset[FoundBy]] = {
    "full text": frozenset({FoundBy.FULL_TEXT}),
    "vectors": frozenset({FoundBy.VECTORS}),
    "graph": frozenset({FoundBy.GRAPH}),
    "hybrid without graph": WORDS_AND_VECTORS,
    "hybrid": frozenset(FoundBy),
}
IN_TABLES = "full text, in tables"
# Any word of the question, without regard to language.
_PEER = """
    SELECT entry.id FROM curator.entries AS entry JOIN curator.entry_bodies AS body ON body.entry_id = entry.id,
      CAST(replace(CAST(plainto_tsquery('simple', %(question)s) AS text), '&', '|') AS tsquery) AS query,
      to_tsvector('simple', entry.title || ' ' || left(body.filtered_content, 200000)) AS document
    WHERE document @@ query ORDER BY ts_rank(document, query) DESC, entry.id LIMIT 10
"""


@dataclass(frozen=True)
class Quality:
    """Averages over the questions."""

    recall: float
    ndcg: float

    @classmethod
    def of(cls, ranked: Sequence[Sequence[str]], asked: Sequence[Question]) -> "Quality":
        pairs = list(zip(ranked, asked, strict=True))
        return cls(
            statistics.fmean(recall(keys, one.right) for keys, one in pairs),
            statistics.fmean(ndcg(keys, one.right) for keys, one in pairs),
        )


def recall(keys: Sequence[str], right: Sequence[str], best: int = BEST) -> float:
    """The share of the right documents among the best."""
    return len(set(keys[:best]) & set(right)) / len(right)


def ndcg(keys: Sequence[str], right: Sequence[str], listed: int = LISTED) -> float:
    gained = sum(1 / math.log2(place + 2) for place, key in enumerate(keys[:listed]) if key in right)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(len(right), listed)))


def run_ask(say: Say, data: Path | None = None, entries: int = ENTRIES, timed: int = TIMED) -> Report:
    """Takes some minutes, mostly for the vector index."""
    machine = describe_machine()
    if data is None and library.REAL_TEXTS.is_dir():
        data = library.REAL_TEXTS
    asked = library.load_questions() if data else library.load_demo_questions()
    with temporary_home() as home:
        home.create()
        found = asyncio.run(library.load_documents(data)) if data else library.load_demo_documents()
        say(f"{len(asked)} questions over {len(found)} pages")
        with temporary_database(home) as url:
            qualities, peer = asyncio.run(_measure_quality(home, url, found, asked, say))
    with temporary_home() as home:
        home.create()
        with temporary_database(home) as url:
            times = asyncio.run(_measure_times(home, url, entries, asked, timed, say))
    over = f"{len(found)} {'real pages and entries' if data else 'articles of the demo'}"
    figures = (*_quality_figures(qualities, peer, asked, over), *_time_figures(times, entries))
    return Report(name="ask", measured_at=datetime.now(UTC), machine=machine, figures=figures)


async def _measure_quality(
    home: Home, url: str, found: Sequence[Document], asked: Sequence[Question], say: Say
) -> tuple[Mapping[str, Quality], Quality]:
    user_id = library.fill(url, found)
    database, vectors = Database(url), embedder(CuratorSettings())
    folder = home.path / "index"
    index, reader = folder_index(folder)
    graph, _, graph_reader = graph_store(database)
    try:
        await index.add(library.index_document(number, one) for number, one in enumerate(found, start=1))
        say("Vectors of all pages")
        store, numbers = SqlEmbeddingStore(database), list(range(1, len(found) + 1))
        for begin in range(0, len(numbers), CuratorPolicy().embedding_batch):
            texts = await store.load_texts(numbers[begin : begin + CuratorPolicy().embedding_batch])
            await store.save_embeddings(
                vectors.model, dict(zip(texts, await vectors.embed(list(texts.values())), strict=True))
            )
        say("The graph of all pages")
        finder = OfflineContextExtractor(ParserPool(1))
        for number, one in enumerate(found, start=1):
            source = ContextSource(
                number, library.feed_of(number), one.title, "", one.text.replace("\x00", ""), "", "", one.key
            )
            await graph.add([GraphDocument(source, await finder.extract(source))])
        say("Questions")
        retriever = _build_retriever(database, reader, vectors, graph_reader)
        qualities = {}
        for name, ways in WAYS.items():
            ranked = [await retriever.find_entries(user_id, one.question, ways) for one in asked]
            keys = [[found[entry.entry_id - 1].key for entry in entries] for entries in ranked]
            qualities[name] = Quality.of(keys, asked)
        say("The same questions with the index in tables")
        qualities[IN_TABLES] = await _measure_tables(database, found, asked, user_id)
        return qualities, Quality.of(await asyncio.to_thread(_ask_peer, url, found, asked), asked)
    finally:
        await database.close()


async def _measure_tables(
    database: Database, found: Sequence[Document], asked: Sequence[Question], user_id: int
) -> Quality:
    index, reader = table_index(database, SqlIndexStore(database).load_documents)
    await index.add(library.index_document(number, one) for number, one in enumerate(found, start=1))
    retriever = _build_retriever(database, reader, embedder(CuratorSettings()))
    ranked = [await retriever.find_entries(user_id, one.question, WAYS["full text"]) for one in asked]
    return Quality.of([[found[entry.entry_id - 1].key for entry in entries] for entries in ranked], asked)


def _build_retriever(
    database: Database, reader: IndexReader, vectors: Embedder, graph: GraphReader | None = None
) -> HybridRetriever:
    return HybridRetriever(SqlArticles(database), reader, vectors, graph)


def _ask_peer(url: str, found: Sequence[Document], asked: Sequence[Question]) -> Sequence[Sequence[str]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return [
            [found[row[0] - 1].key for row in connection.execute(_PEER, {"question": one.question}).fetchall()]
            for one in asked
        ]


async def _measure_times(
    home: Home, url: str, entries: int, asked: Sequence[Question], timed: int, say: Say
) -> Mapping[str, Sequence[float]]:
    """Seconds of finding entries, and of the whole retrieval of passages."""
    say(f"{entries:,} made articles into database and index")
    user_id = library.fill(url, library.make_documents(entries))
    database, vectors = Database(url), embedder(CuratorSettings())
    folder = home.path / "index"
    index, reader = folder_index(folder)
    batch = []
    for number, one in enumerate(library.make_documents(entries), start=1):
        batch.append(library.index_document(number, one))
        if len(batch) == CuratorPolicy().index_batch or number == entries:
            await index.add(batch)
            batch = []
    (vector,) = await vectors.embed(["How long is a vector?"])
    say("Vectors and their index")
    library.fill_vectors(url, vectors.model, entries, len(vector))
    await SqlEmbeddingStore(database).save_embeddings(vectors.model, {1: vector})
    retriever = _build_retriever(database, reader, vectors, graph_store(database)[2])
    try:
        async with database.engine.connect() as connection:
            await connection.exec_driver_sql("ANALYZE")
        texts = [one.question for one in asked][:timed]
        # The first query opens files and makes plans.
        await retriever.find(user_id, texts[0])
        say(f"{len(texts)} questions at {entries:,} entries")
        return {
            "entries": [await _measure_seconds(retriever.find_entries(user_id, text)) for text in texts],
            "passages": [await _measure_seconds(retriever.find(user_id, text)) for text in texts],
        }
    finally:
        await database.close()


async def _measure_seconds(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _quality_figures(
    qualities: Mapping[str, Quality], peer: Quality, asked: Sequence[Question], over: str
) -> Sequence[Figure]:
    languages = len({one.language for one in asked})
    note = f"{len(asked)} questions in {languages} languages over {over}"
    figures = []
    for name, quality in qualities.items():
        for measure, value, other in (
            (f"recall@{BEST}", quality.recall, peer.recall),
            (f"nDCG@{LISTED}", quality.ndcg, peer.ndcg),
        ):
            figures.append(
                Figure(
                    name=f"{name}: {measure}",
                    value=value,
                    unit="",
                    better=Better.HIGHER,
                    peer=other,
                    peer_name=PEER,
                    note=note,
                )
            )
    return figures


def _time_figures(times: Mapping[str, Sequence[float]], entries: int) -> Sequence[Figure]:
    notes = {
        "entries": "full text, vectors and graph together; the question is embedded",
        "passages": "entries, then the passages of the best twelve, embedded and ranked",
    }
    return [
        Figure(
            name=f"{kind} per question at {entries:,}: p{percentile}",
            value=1000 * statistics.quantiles(seconds, n=100, method="inclusive")[percentile - 1],
            unit="ms",
            aim=AIM_MILLISECONDS if percentile == 95 else None,
            note=notes[kind],
        )
        for kind, seconds in times.items()
        for percentile in (50, 95)
    ]
