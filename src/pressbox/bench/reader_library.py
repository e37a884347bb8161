"""What `bench reader` fills the reader with: many entries of many feeds, by COPY into the tables."""

import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

import psycopg
from psycopg import sql

from pressbox.bench.library import Article, articles
from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.domain.feeds import CrawlOutcome

CATEGORIES = 20
WORDS = 60
BODIES = 400
BODY_WORDS = 300
# One entry in twenty is a copy of another feed's article.
COPIES = 20
Row = tuple[object, ...]


def fill(url: str, user_id: int, entries: int, feeds: int) -> None:
    """Everything is fetched, summarised and indexed, and no feed is due: the workers have nothing to do."""
    now, numbers = datetime.now(UTC), range(1, feeds + 1)
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            _copy(connection, "categories", ("id", "user_id", "name"), _categories(user_id))
            _copy(connection, "feeds", ("id", "url", "title", "site_url"), map(_feed, numbers))
            _copy(connection, "feed_state", _STATE, (_state(number, now) for number in numbers))
            _copy(
                connection,
                "subscriptions",
                ("user_id", "feed_id", "category_id"),
                ((user_id, number, number % CATEGORIES + 1) for number in numbers),
            )
            _copy(connection, "stories", ("id", "canonical_url"), _stories(entries))
            _copy(connection, "entries", _ENTRY, (_entry(one, feeds, now) for one in articles(entries, WORDS)))
            _copy(connection, "entry_bodies", ("entry_id", "full_content"), _bodies(entries))
        connection.execute("VACUUM ANALYZE")


def mark_read(url: str, user_id: int, shares: Sequence[float], entries: int) -> None:
    """Of each equal part of the entries, the newest part first, this share is read; a few are starred or kept."""
    chance = random.Random(entries)  # noqa: S311 - the same in every run
    now = datetime.now(UTC)

    def states() -> Iterator[Row]:
        for number in range(1, entries + 1):
            share = shares[(number - 1) * len(shares) // entries]
            read, starred, up = chance.random() < share, chance.random() < 0.01, chance.random() < 0.002
            if read or starred or up:
                yield user_id, number, now if read else None, now if starred else None, int(up)

    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            connection.execute("DELETE FROM curator.entry_states")
            columns = ("user_id", "entry_id", "read_at", "starred_at", "preference")
            _copy(connection, "entry_states", columns, states())
        connection.execute("VACUUM ANALYZE curator.entry_states, curator.subscriptions")


_STATE = ("feed_id", "next_crawl_at", "last_crawl_at", "last_success_at", "outcome")
_ENTRY = (
    "id",
    "feed_id",
    "guid",
    "url",
    "canonical_url",
    "story_id",
    "title",
    "author",
    "language",
    "published_at",
    "first_seen_at",
    "updated_at",
    "summary",
    "words",
    "shown_hash",
    "indexed_hash",
    "fetch_state",
    "distil_state",
)


def _entry(article: Article, feeds: int, now: datetime) -> Row:
    address = f"https://feed-{article.number % feeds}.example.org/{article.number}"
    shown = str(article.number)
    return (
        article.number,
        article.number % feeds + 1,
        address,
        address,
        address,
        _story(article.number),
        article.title,
        article.author,
        article.language,
        article.published_at,
        now,
        now,
        article.summary,
        BODY_WORDS,
        shown,
        shown,
        FetchState.FETCHED.value,
        DistilState.DISTILLED.value,
    )


def _story(number: int) -> int:
    return number - 1 if number % COPIES == 0 else number


def _stories(entries: int) -> Iterator[Row]:
    return ((number, f"https://example.org/{number}") for number in range(1, entries + 1) if _story(number) == number)


def _bodies(entries: int) -> Iterator[Row]:
    made = [
        "".join(f"<p>{paragraph}</p>" for paragraph in article.text.splitlines())
        for article in islice(articles(BODIES, BODY_WORDS), BODIES)
    ]
    return ((number, made[number % BODIES]) for number in range(1, entries + 1))


def _categories(user_id: int) -> Iterator[Row]:
    return ((number, user_id, f"Category {number}") for number in range(1, CATEGORIES + 1))


def _feed(number: int) -> Row:
    site = f"https://feed-{number}.example.org"
    return number, f"{site}/feed.xml", f"Feed {number}", site


def _state(number: int, now: datetime) -> Row:
    return number, now + timedelta(days=30), now, now, CrawlOutcome.UNCHANGED.value


def _copy(connection: psycopg.Connection, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    statement = sql.SQL("COPY curator.{} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
