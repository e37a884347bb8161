"""Claims on real tables: one statement decides, and a claim lapses by itself."""

import asyncio
from datetime import UTC, datetime, timedelta

from pressbox.core.db.database import Database
from pressbox.core.spending.ledger import SqlClaims

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)


async def test_what_one_has_another_does_not_get_until_it_is_released(database: Database) -> None:
    claims = SqlClaims(database)
    assert await claims.take(["a", "b"], "one", LATER, NOW) == {"a", "b"}
    assert await claims.take(["b", "c"], "two", LATER, NOW) == {"c"}
    await claims.release(["b"], "two")
    assert await claims.take(["b"], "two", LATER, NOW) == frozenset()
    await claims.release(["a", "b"], "one")
    assert await claims.take(["a", "b"], "two", LATER, NOW) == {"a", "b"}


async def test_another_try_of_the_same_owner_goes_on_with_what_is_its_own(database: Database) -> None:
    claims = SqlClaims(database)
    await claims.take(["a"], "one", LATER, NOW)
    assert await claims.take(["a"], "one", LATER, NOW) == {"a"}


async def test_the_claim_of_a_dead_owner_lapses(database: Database) -> None:
    claims = SqlClaims(database)
    await claims.take(["a"], "dead", LATER, NOW)
    assert await claims.take(["a"], "two", LATER + timedelta(hours=1), LATER) == {"a"}


async def test_of_many_who_want_the_same_at_once_each_piece_goes_to_one(database: Database) -> None:
    claims = SqlClaims(database)
    keys = [f"entry-{number}" for number in range(20)]
    taken = await asyncio.gather(*(claims.take(keys, f"owner-{number}", LATER, NOW) for number in range(8)))
    assert sorted(key for held in taken for key in held) == sorted(keys)


async def test_nothing_wanted_is_nothing_taken(database: Database) -> None:
    assert await SqlClaims(database).take([], "one", LATER, NOW) == frozenset()
