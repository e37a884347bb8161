"""What `bench graph` fills the graph with: entries and what they say, the same in every run."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import psycopg
from psycopg import sql

from pressbox.curator.context.domain.context import ContextMethod, Entity, EntityKind, EntryContext, Relationship
from pressbox.curator.library.domain.entries import DistilState, FetchState

FEEDS = 100
# The reader follows half of them: what the others say must be left out of every answer.
READ_FEEDS = 50
ENTITIES = 20_000
PER_ENTRY = 10
RELATIONS = ("founded", "owns", "works for", "uses", "competes with", "is in", "talks about", "was bought by")
KINDS = tuple(EntityKind)
_ENTRY = (
    "id",
    "feed_id",
    "guid",
    "title",
    "published_at",
    "first_seen_at",
    "updated_at",
    "content_hash",
    "fetch_state",
    "distil_state",
)


def contexts(edges: int) -> Iterator[EntryContext]:
    """Ten entities and nine relations each, until there are so many different relations. A few names are everywhere."""
    chance = random.Random(edges)  # noqa: S311 - the same in every run
    known: set[tuple[int, int, str]] = set()
    entry_id = 0
    while len(known) < edges:
        entry_id += 1
        numbers = list(dict.fromkeys(_popular(chance) for _ in range(PER_ENTRY)))
        relations = []
        for one in numbers[1:]:
            other = chance.choice([number for number in numbers if number != one])
            word = chance.choice(RELATIONS)
            known.add((one, other, word))
            relations.append(Relationship(name_of(one), name_of(other), word, _quote(one, word, other)))
        entities = tuple(
            Entity(name_of(number), KINDS[number % len(KINDS)], quote=_quote(number)) for number in numbers
        )
        yield EntryContext(
            entry_id, f"hash-{entry_id}", ContextMethod.OFFLINE, entities=entities, relationships=tuple(relations)
        )


def name_of(number: int) -> str:
    return f"Example Name {number}"


def feed_of(entry_id: int) -> int:
    return entry_id % FEEDS + 1


def fill(url: str, said: Sequence[EntryContext]) -> int:
    """Somebody who reads half of the feeds, and the entries; the id of that person."""
    now = datetime.now(UTC)
    with psycopg.connect(url, autocommit=True) as connection, connection.transaction():
        person = connection.execute(
            "INSERT INTO core.users (email, name, password_hash, role) "
            "VALUES ('reader@example.org', '', 'unusable', 'member') RETURNING id"
        ).fetchone()
        assert person is not None
        _copy(connection, "feeds", ("id", "url"), [(one, f"https://example.org/{one}") for one in range(1, FEEDS + 1)])
        read = [(person[0], number) for number in range(1, READ_FEEDS + 1)]
        _copy(connection, "subscriptions", ("user_id", "feed_id"), read)
        _copy(connection, "entries", _ENTRY, [_entry(one, now) for one in said])
    return int(person[0])


def _copy(
    connection: psycopg.Connection[tuple[object, ...]],
    table: str,
    columns: Sequence[str],
    rows: Sequence[tuple[object, ...]],
) -> None:
    statement = sql.SQL("COPY curator.{} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _entry(one: EntryContext, now: datetime) -> tuple[object, ...]:
    at = now - timedelta(minutes=one.entry_id)
    fetched, distilled = FetchState.FETCHED.value, DistilState.DISTILLED.value
    number = one.entry_id
    return (
        number,
        feed_of(number),
        f"guid-{number}",
        f"Article {number}",
        at,
        at,
        at,
        one.content_hash,
        fetched,
        distilled,
    )


def _popular(chance: random.Random) -> int:
    """The best known names are in one of seven articles, most in a handful."""
    popular = chance.random() < 0.5
    return min(int(20 * chance.paretovariate(0.6)), ENTITIES) if popular else chance.randrange(1, ENTITIES)


def _quote(one: int, word: str = "is named", other: int | None = None) -> str:
    end = f" {name_of(other)}" if other is not None else ""
    return f"In this passage of the article {name_of(one)} {word}{end}, as it was said before by others."
