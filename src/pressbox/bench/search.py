"""`pressbox bench search`: the full-text index over 50,000 articles, compared with PostgreSQL's full-text search."""

import asyncio
import random
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
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.search.ports import IndexDocument, SearchReader
from pressbox.curator.search.wiring import search_index

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
    """Seconds of every query, ours and the peer's, and how many found something."""

    ours: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    found: list[int] = field(default_factory=list)


def run_search(say: Say, count: int = ARTICLES, queries: int = QUERIES) -> Report:
    """Takes some minutes, mostly for PostgreSQL."""
    machine = describe_machine()
    with temporary_home() as home:
        home.create()
        folder = home.path / "index"
        say(f"Indexing {count:,} articles")
        ours = asyncio.run(_index(folder, count))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        with temporary_database(home, migrated=False) as url:
            say("The same into PostgreSQL")
            peer = load_articles(url, articles(count))
            measured = asyncio.run(_measure(folder, url, _make_queries(sample(count), queries), say))
    figures = (
        Figure(name=f"index of {count:,} articles", value=ours, unit="s", peer=peer, peer_name="PostgreSQL"),
        Figure(name="articles indexed", value=count / ours, unit="per second", better=Better.HIGHER),
        Figure(name="index on disk", value=size / MEGABYTE, unit="MB"),
        *(figure for kind, one in measured.items() for figure in _figures(kind, one)),
        _all_figure(measured),
    )
    return Report(name="search", measured_at=datetime.now(UTC), machine=machine, figures=figures)


def sample(count: int) -> Sequence[Article]:
    """Articles from which queries are taken."""
    return list(islice(articles(count), 2_000))


async def _measure(folder: Path, url: str, queries: Mapping[str, Sequence[str]], say: Say) -> Mapping[str, QueryTimes]:
    (_, reader), measured = search_index(folder), {}
    for kind, made in queries.items():
        say(f"{len(made)} queries: {kind}")
        measured[kind] = await _measure_queries(reader, url, kind, made)
    return measured


async def _index(folder: Path, count: int) -> float:
    """Index as the worker does, with a commit for each batch; making the articles does not count."""
    (index, _), seconds = search_index(folder), 0.0
    for batch in _batches(articles(count), CuratorPolicy().index_batch):
        documents = [_to_document(article) for article in batch]
        began = time.perf_counter()
        await index.add(documents)
        seconds += time.perf_counter() - began
    return seconds


async def _measure_queries(reader: SearchReader, url: str, kind: str, queries: Sequence[str]) -> QueryTimes:
    measured = QueryTimes()
    with psycopg.connect(url, autocommit=True) as connection:
        # The first of each opens files and plans.
        await reader.search(queries[0], None, PAGE, 0, False)
        measure_query(connection, kind, queries[0])
        for number, query in enumerate(queries):
            began = time.perf_counter()
            _, total = await reader.search(query, None, PAGE, 0, False)
            measured.ours.append(time.perf_counter() - began)
            measured.found.append(total)
            if number < PEER_QUERIES:
                measured.peer.append(measure_query(connection, kind, query))
    return measured


def _make_queries(known: Sequence[Article], count: int) -> Mapping[str, Sequence[str]]:
    """Make queries from the articles themselves: common and rare words, as they occur."""
    chance = random.Random(count)  # noqa: S311 - the same queries in every run
    spaced = [article.text for article in known if article.language in SPACED]
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


def _batches(source: Iterable[Article], size: int) -> Iterator[Sequence[Article]]:
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
    )


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
