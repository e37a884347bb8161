"""The entries and feeds of `bench reader`, written into the tables by COPY."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

import psycopg

from pressbox.bench.copy_rows import Row, copy_rows
from pressbox.bench.library import Article, articles
from pressbox.curator.library.domain import CrawlOutcome, DistilState, FetchState

CATEGORIES = 20
WORDS = 60
BODIES = 400
BODY_WORDS = 300
# One entry in twenty is a copy of another feed's article.
COPIES = 20


def fill(url: str, user_id: int, entries: int, feeds: int) -> None:
    """Fill the tables so that everything is fetched, summarised and indexed, and the workers have nothing to do."""
    now, numbers = datetime.now(UTC), range(1, feeds + 1)
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            copy_rows(connection, "categories", ("id", "user_id", "name"), _category_rows(user_id))
            copy_rows(connection, "feeds", ("id", "url", "title", "site_url"), map(_feed_row, numbers))
            copy_rows(connection, "feed_state", _STATE, (_state_row(number, now) for number in numbers))
            copy_rows(
                connection,
                "subscriptions",
                ("user_id", "feed_id", "category_id"),
                ((user_id, number, number % CATEGORIES + 1) for number in numbers),
            )
            copy_rows(connection, "stories", ("id", "canonical_url"), _story_rows(entries))
            copy_rows(connection, "entries", _ENTRY, (_entry_row(one, feeds, now) for one in articles(entries, WORDS)))
            copy_rows(connection, "entry_bodies", ("entry_id", "full_content"), _body_rows(entries))
        connection.execute("VACUUM ANALYZE")


def mark_read(url: str, user_id: int, shares: Sequence[float], entries: int) -> None:
    """Mark these shares of equal parts of the entries as read, newest part first; star or keep a few."""
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
            copy_rows(connection, "entry_states", columns, states())
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


def _entry_row(article: Article, feeds: int, now: datetime) -> Row:
    address = f"https://feed-{article.number % feeds}.example.org/{article.number}"
    shown = str(article.number)
    return (
        article.number,
        article.number % feeds + 1,
        address,
        address,
        address,
        _story_of(article.number),
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


def _story_of(number: int) -> int:
    return number - 1 if number % COPIES == 0 else number


def _story_rows(entries: int) -> Iterator[Row]:
    return (
        (number, f"https://example.org/{number}") for number in range(1, entries + 1) if _story_of(number) == number
    )


def _body_rows(entries: int) -> Iterator[Row]:
    made = [
        "".join(f"<p>{paragraph}</p>" for paragraph in article.text.splitlines())
        for article in islice(articles(BODIES, BODY_WORDS), BODIES)
    ]
    return ((number, made[number % BODIES]) for number in range(1, entries + 1))


def _category_rows(user_id: int) -> Iterator[Row]:
    return ((number, user_id, f"Category {number}") for number in range(1, CATEGORIES + 1))


def _feed_row(number: int) -> Row:
    site = f"https://feed-{number}.example.org"
    return number, f"{site}/feed.xml", f"Feed {number}", site


def _state_row(number: int, now: datetime) -> Row:
    return number, now + timedelta(days=30), now, now, CrawlOutcome.UNCHANGED.value
