"""The entries and contexts of `bench graph`, the same in every run."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import psycopg

from pressbox.bench.copy_rows import copy_rows
from pressbox.curator.context.domain import ContextMethod, Entity, EntityKind, EntryContext, Relationship
from pressbox.curator.library.domain import DistilState, FetchState

FEEDS = 100
# The reader follows half of them: the others must be left out of every answer.
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
    """Make contexts with ten entities and nine relations each, until there are this many different relations."""
    chance = random.Random(edges)  # noqa: S311 - the same in every run
    known: set[tuple[int, int, str]] = set()
    entry_id = 0
    while len(known) < edges:
        entry_id += 1
        numbers = list(dict.fromkeys(_choose_entity(chance) for _ in range(PER_ENTRY)))
        relations = []
        for one in numbers[1:]:
            other = chance.choice([number for number in numbers if number != one])
            word = chance.choice(RELATIONS)
            known.add((one, other, word))
            relations.append(Relationship(name_of(one), name_of(other), word, _write_quote(one, word, other)))
        entities = tuple(
            Entity(name_of(number), KINDS[number % len(KINDS)], quote=_write_quote(number)) for number in numbers
        )
        yield EntryContext(
            entry_id, f"hash-{entry_id}", ContextMethod.OFFLINE, entities=entities, relationships=tuple(relations)
        )


def name_of(number: int) -> str:
    return f"Example Name {number}"


def feed_of(entry_id: int) -> int:
    return entry_id % FEEDS + 1


def fill(url: str, said: Sequence[EntryContext]) -> int:
    """Add the entries and a person who reads half of the feeds; returns the id of the person."""
    now = datetime.now(UTC)
    with psycopg.connect(url, autocommit=True) as connection, connection.transaction():
        person = connection.execute(
            "INSERT INTO core.users (email, name, password_hash, role) "
            "VALUES ('reader@example.org', '', 'unusable', 'member') RETURNING id"
        ).fetchone()
        assert person is not None
        copy_rows(
            connection, "feeds", ("id", "url"), [(one, f"https://example.org/{one}") for one in range(1, FEEDS + 1)]
        )
        read = [(person[0], number) for number in range(1, READ_FEEDS + 1)]
        copy_rows(connection, "subscriptions", ("user_id", "feed_id"), read)
        copy_rows(connection, "entries", _ENTRY, [_entry_row(one, now) for one in said])
    return int(person[0])


def _entry_row(one: EntryContext, now: datetime) -> tuple[object, ...]:
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


def _choose_entity(chance: random.Random) -> int:
    """Choose an entity: the best known are in one of seven articles, most in a handful."""
    popular = chance.random() < 0.5
    return min(int(20 * chance.paretovariate(0.6)), ENTITIES) if popular else chance.randrange(1, ENTITIES)


def _write_quote(one: int, word: str = "is named", other: int | None = None) -> str:
    end = f" {name_of(other)}" if other is not None else ""
    return f"In this passage of the article {name_of(one)} {word}{end}, as it was said before by others."
