"""The documents and questions of `bench ask`: pages and feeds, handwritten questions, made-up articles.

Real pages and feeds if they are in `../shared/data`, the articles of the demo's newspapers otherwise.
"""

import json
import random
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import psycopg
from psycopg import sql

from pressbox.bench.copy_rows import Row, copy_rows
from pressbox.bench.library import articles
from pressbox.core.errors import ConfigurationError, PressboxError
from pressbox.curator.articles.html_tree import html_to_text
from pressbox.curator.feeds.parser import parse_feed
from pressbox.curator.library.domain import DistilState, FetchState
from pressbox.curator.search.ports import IndexDocument
from pressbox.curator.text.plain_text import to_plain_text
from pressbox.demo.news import library as demo_library

REAL_TEXTS = Path("../shared/data")
FEEDS = 500
PUBLISHED = datetime(2026, 1, 1, tzinfo=UTC)
_URL = "https://example.org/"


@dataclass(frozen=True)
class Question:
    """A question with the keys of the documents that answer it."""

    language: str
    question: str
    right: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """`key` is the folder of a page, or the file of a feed and the position of the entry in it."""

    key: str
    title: str
    text: str
    language: str = ""


def load_questions() -> Sequence[Question]:
    return _read_questions("questions.json")


def load_demo_questions() -> Sequence[Question]:
    return _read_questions("demo_questions.json")


def _read_questions(name: str) -> Sequence[Question]:
    stored = json.loads((files("pressbox.bench") / name).read_text(encoding="utf-8"))
    return [Question(one["language"], one["question"], tuple(one["right"])) for one in stored]


async def load_documents(data: Path) -> Sequence[Document]:
    """Read the folders `articles` and `feeds` of `data`; nothing is copied."""
    feeds = sorted(path for path in (data / "feeds").glob("*") if path.is_file())
    found = [*_read_pages(data / "articles"), *[one async for one in _read_feeds(feeds)]]
    if not found:
        raise ConfigurationError(f"{data} has nothing to ask about. Give --data a folder with articles and feeds.")
    return found


def load_demo_documents() -> Sequence[Document]:
    return [
        Document(f"demo/{one.slug}", one.title, html_to_text(one.html), one.language) for one in demo_library.articles()
    ]


def _read_pages(folder: Path) -> Iterator[Document]:
    for page in sorted(folder.glob("*/expected.html")):
        told = json.loads((page.parent / "expected-metadata.json").read_text(encoding="utf-8"))
        text = html_to_text(page.read_text(encoding="utf-8", errors="replace"))
        yield Document(f"articles/{page.parent.name}", str(told.get("title") or ""), text)


async def _read_feeds(feeds: Sequence[Path]) -> AsyncIterator[Document]:
    for file in feeds:
        try:
            parsed = parse_feed(file.read_bytes(), "", _URL)
        except PressboxError:
            # Some feeds of the set are broken on purpose, and no question is about them.
            continue
        for place, entry in enumerate(parsed.entries):
            yield Document(f"{file.name}/{place}", entry.title, to_plain_text(entry.content))


def make_documents(count: int) -> Iterator[Document]:
    return (Document(f"made/{one.number}", one.title, one.text, one.language) for one in articles(count))


def index_document(entry_id: int, document: Document) -> IndexDocument:
    return IndexDocument(entry_id, feed_of(entry_id), document.title, "", document.text, "", "", PUBLISHED)


def feed_of(entry_id: int) -> int:
    return entry_id % FEEDS + 1


def fill(url: str, found: Iterable[Document]) -> int:
    """Add a person who reads everything, and the entries, numbered from one; returns the person."""
    with psycopg.connect(url, autocommit=True) as connection, connection.transaction():
        row = connection.execute(
            "INSERT INTO core.users (email, name, password_hash, role) "
            "VALUES ('reader@example.org', '', 'unusable', 'member') RETURNING id"
        ).fetchone()
        assert row is not None
        user_id = int(row[0])
        numbers = range(1, FEEDS + 1)
        copy_rows(
            connection, "feeds", ("id", "url", "title"), ((one, f"{_URL}{one}", f"Feed {one}") for one in numbers)
        )
        copy_rows(connection, "subscriptions", ("user_id", "feed_id"), ((user_id, one) for one in numbers))
        bodies: list[Row] = []
        copy_rows(connection, "entries", _ENTRY, _make_entry_rows(found, bodies))
        copy_rows(connection, "entry_bodies", ("entry_id", "filtered_content"), bodies)
    return user_id


def fill_vectors(url: str, model: str, entries: int, size: int) -> None:
    """Add random vectors, because only the index is measured and not its answers; by COPY, before the index exists."""
    chance = random.Random(size)  # noqa: S311 - the same in every run
    numbers = [f"{chance.gauss(0, 1):.3f}" for _ in range(100_000)]

    def vector() -> str:
        at = chance.randrange(len(numbers) - size)
        return f"[{','.join(numbers[at : at + size])}]"

    with psycopg.connect(url, autocommit=True) as connection:
        rows = ((number, model, vector(), "") for number in range(1, entries + 1))
        copy_rows(connection, "entry_embeddings", ("entry_id", "model", "embedding", "shown_hash"), rows)
        # Memory to build an index of this size at once; an index that grows with its entries does not need it.
        here = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET maintenance_work_mem = '512MB'").format(here))


_ENTRY = (
    "id",
    "feed_id",
    "guid",
    "url",
    "title",
    "language",
    "published_at",
    "first_seen_at",
    "updated_at",
    "content_hash",
    "fetch_state",
    "distil_state",
)


def _make_entry_rows(found: Iterable[Document], bodies: list[Row]) -> Iterator[Row]:
    states = (FetchState.FETCHED.value, DistilState.DISTILLED.value)
    for number, one in enumerate(found, start=1):
        text = one.text.replace("\x00", "")
        bodies.append((number, text))
        times = (PUBLISHED, PUBLISHED, PUBLISHED)
        yield number, feed_of(number), one.key, f"{_URL}{one.key}", one.title, one.language, *times, one.key, *states
