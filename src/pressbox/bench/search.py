"""`pressbox bench search`: both search indices over the same 50,000 articles and with the same queries.

The one in a folder (tantivy) is compared with PostgreSQL's own full-text search, the one in our tables with the first.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import psycopg

from pressbox.bench.instance import temporary_database, temporary_home
from pressbox.bench.library import Article, articles
from pressbox.bench.postgres_search import load_articles, measure_query
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine, percentile_milliseconds
from pressbox.core.db.database import Database
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.search.ports import IndexDocument, SearchIndex, SearchReader, SearchScope
from pressbox.curator.search.wiring import folder_index, table_index

ARTICLES = 50_000
QUERIES = 200
# PostgreSQL takes seconds for some of them; a few are enough.
PEER_QUERIES = 7
PAGE = 20
AIM_MILLISECONDS = 10.0
FEEDS = 500
MEGABYTE = 1_000_000

SPACED, UNSPACED = ("en", "de"), ("ja", "zh")


@dataclass(frozen=True)
class QueryTimes:
    """Seconds of every query with each index and with the peer, how many hits it has, and how far both agree."""

    ours: list[float] = field(default_factory=list)
    tables: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    same_total: list[bool] = field(default_factory=list)
    # The share of the first page of one that is also on the first page of the other, where everything fits on one.
    shared: list[float] = field(default_factory=list)


def run_search(say: Say, count: int = ARTICLES, queries: int = QUERIES) -> Report:
    """Takes some minutes, mostly for PostgreSQL."""
    machine = describe_machine()
    with temporary_home() as home:
        home.create()
        folder = home.path / "index"
        with temporary_database(home) as url:
            say("The articles into PostgreSQL's own full-text search")
            peer = load_articles(url, articles(count))
            measured = asyncio.run(_measure(folder, url, count, _make_queries(sample(count), queries), say))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    ours, tables = measured.seconds
    figures = (
        Figure(name=f"index of {count:,} articles", value=ours, unit="s", peer=peer, peer_name="PostgreSQL"),
        Figure(name="articles indexed", value=count / ours, unit="per second", better=Better.HIGHER),
        Figure(
            name="articles indexed, in tables",
            value=count / tables,
            unit="per second",
            better=Better.HIGHER,
            peer=count / ours,
            peer_name="tantivy",
            note="one writer; any number may write",
        ),
        Figure(name="index on disk", value=size / MEGABYTE, unit="MB"),
        Figure(
            name="index on disk, in tables",
            value=measured.table_bytes / MEGABYTE,
            unit="MB",
            peer=size / MEGABYTE,
            peer_name="tantivy",
            note="without the texts, which the entries have",
        ),
        *(figure for kind, one in measured.times.items() for figure in _figures(kind, one)),
        _all_figure(measured.times),
    )
    return Report(name="search", measured_at=datetime.now(UTC), machine=machine, figures=figures)


def sample(count: int) -> Sequence[Article]:
    """Articles from which queries are taken."""
    return list(islice(articles(count), 2_000))


@dataclass(frozen=True)
class Measured:
    seconds: tuple[float, float]
    table_bytes: int
    times: Mapping[str, QueryTimes]


async def _measure(folder: Path, url: str, count: int, queries: Mapping[str, Sequence[str]], say: Say) -> Measured:
    documents = {article.number: _to_document(article) for article in articles(count)}
    database = Database(url)

    async def load(entry_ids: Sequence[int]) -> Sequence[IndexDocument]:
        return [documents[entry_id] for entry_id in entry_ids]

    try:
        (index, reader), (tables, table_reader) = folder_index(folder), table_index(database, load)
        say(f"Indexing {count:,} articles in a folder")
        seconds = await _index(index, documents)
        say("The same in tables")
        seconds_of_tables = await _index(tables, documents)
        times = {}
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ANALYZE")
            size = connection.execute("SELECT pg_total_relation_size('curator.search_documents')").fetchone()
            for kind, made in queries.items():
                say(f"{len(made)} queries: {kind}")
                times[kind] = await _measure_queries(reader, table_reader, connection, kind, made)
        return Measured((seconds, seconds_of_tables), size[0] if size else 0, times)
    finally:
        await database.close()


async def _index(index: SearchIndex, documents: Mapping[int, IndexDocument]) -> float:
    """Index as the worker does, with a commit for each batch."""
    seconds = 0.0
    for batch in _batches(documents.values(), CuratorPolicy().index_batch):
        began = time.perf_counter()
        await index.add(batch)
        seconds += time.perf_counter() - began
    return seconds


async def _measure_queries(
    reader: SearchReader, tables: SearchReader, connection: psycopg.Connection, kind: str, queries: Sequence[str]
) -> QueryTimes:
    measured = QueryTimes()
    # The first of each opens files and plans.
    await reader.search(SearchScope(queries[0]), PAGE)
    await tables.search(SearchScope(queries[0]), PAGE)
    measure_query(connection, kind, queries[0])
    for number, query in enumerate(queries):
        scope = SearchScope(query)
        began = time.perf_counter()
        hits, total = await reader.search(scope, PAGE)
        measured.ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        others, other_total = await tables.search(scope, PAGE)
        measured.tables.append(time.perf_counter() - began)
        measured.found.append(total)
        measured.same_total.append(total == other_total)
        if 0 < total <= PAGE:
            ids = {hit.entry_id for hit in hits}
            measured.shared.append(len(ids.intersection(hit.entry_id for hit in others)) / len(ids))
        if number < PEER_QUERIES:
            measured.peer.append(measure_query(connection, kind, query))
    return measured


def _make_queries(known: Sequence[Article], count: int) -> Mapping[str, Sequence[str]]:
    """Make queries from the articles themselves: common and rare words, as they occur."""
    chance = random.Random(count)  # noqa: S311 - the same queries in every run
    spaced = [article.text for article in known if article.language in SPACED]
    german = [article.text for article in known if article.language == "de"]
    unspaced = [article.text for article in known if article.language in UNSPACED]

    def made(texts: Sequence[str], make: Callable[[str], str]) -> list[str]:
        return [make(chance.choice(texts)) for _ in range(count)]

    def word(text: str, shortest: int = 1) -> str:
        return chance.choice([one for one in text.replace(".", "").split() if len(one) >= shortest])

    def phrase(text: str) -> str:
        words = chance.choice(text.replace(".", "").splitlines()).split()
        at = chance.randrange(len(words) - 2)
        return f'"{" ".join(words[at : at + 3])}"'

    def slip(text: str) -> str:
        one = word(text, 6)
        at = chance.randrange(1, len(one) - 2)
        return one[:at] + one[at + 1] + one[at] + one[at + 2 :]

    def inside(text: str) -> str:
        line = chance.choice(text.replace(".", "").splitlines())
        at = chance.randrange(len(line) - 4)
        return line[at : at + chance.randint(2, 4)]

    return {
        "word": made(spaced, word),
        "phrase": made(spaced, phrase),
        "prefix": made(spaced, lambda text: word(text, 8)[:7]),
        "compound": made(german, lambda text: word(text, 14)[:8]),
        "typo": made(spaced, slip),
        "CJK": made(unspaced, inside),
    }


def _to_document(article: Article) -> IndexDocument:
    return IndexDocument(
        entry_id=article.number,
        feed_id=article.number % FEEDS,
        title=article.title,
        summary=article.summary,
        filtered_content=article.text,
        feed_content="",
        author=article.author,
        published_at=article.published_at,
    )


def _batches(source: Iterable[IndexDocument], size: int) -> Iterator[Sequence[IndexDocument]]:
    rest = iter(source)
    while batch := list(islice(rest, size)):
        yield batch


def _figures(kind: str, one: QueryTimes) -> tuple[Figure, ...]:
    found = sum(total > 0 for total in one.found)
    return (
        Figure(
            name=f"{kind}: p50",
            value=percentile_milliseconds(one.ours, 50),
            unit="ms",
            peer=percentile_milliseconds(one.peer, 50),
            peer_name="PostgreSQL",
            note=f"{found} of {len(one.found)} queries find something",
        ),
        Figure(
            name=f"{kind}: p95",
            value=percentile_milliseconds(one.ours, 95),
            unit="ms",
            peer=percentile_milliseconds(one.peer, 95),
            peer_name="PostgreSQL",
            aim=AIM_MILLISECONDS,
        ),
        Figure(
            name=f"{kind}, in tables: p95",
            value=percentile_milliseconds(one.tables, 95),
            unit="ms",
            peer=percentile_milliseconds(one.ours, 95),
            peer_name="tantivy",
            note=_agreement(one),
        ),
    )


def _agreement(one: QueryTimes) -> str:
    same = f"{sum(one.same_total)} of {len(one.same_total)} queries have the same number of hits"
    if not one.shared:
        return same
    return f"{same}; where one page holds them, {statistics.fmean(one.shared):.1%} of the hits are the same"


def _all_figure(measured: Mapping[str, QueryTimes]) -> Figure:
    return Figure(
        name="all kinds: p95",
        value=percentile_milliseconds([seconds for one in measured.values() for seconds in one.ours], 95),
        unit="ms",
        aim=AIM_MILLISECONDS,
        peer=percentile_milliseconds([seconds for one in measured.values() for seconds in one.peer], 95),
        peer_name="PostgreSQL",
        note="with count, page, passages and marks",
    )
