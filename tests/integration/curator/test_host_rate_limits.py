"""One rate limit per host for the whole instance."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.curator.ingest.fetcher import LONGEST_WAIT
from pressbox.curator.ingest.queues import SqlHostRateLimits
from tests.statements import count_statements

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DELAY = timedelta(seconds=2)


async def test_many_at_the_same_moment_get_turns_one_delay_apart(database: Database) -> None:
    # As two workers that know nothing of each other.
    other = Database(database.url.render_as_string(hide_password=False))
    workers = (SqlHostRateLimits(database), SqlHostRateLimits(other))
    try:
        turns = await asyncio.gather(*(workers[number % 2].reserve("example.org", DELAY, NOW) for number in range(60)))
    finally:
        await other.close()
    assert sorted(turns) == [NOW + DELAY * number for number in range(60)]


async def test_whoever_comes_first_goes_first(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    assert [await limits.reserve("example.org", DELAY, NOW) for _ in range(3)] == [NOW, NOW + DELAY, NOW + 2 * DELAY]


async def test_hosts_do_not_wait_for_each_other(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    await limits.reserve("one.example", DELAY, NOW)
    assert await limits.reserve("two.example", DELAY, NOW) == NOW


async def test_a_host_that_had_rest_is_asked_at_once(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    await limits.reserve("example.org", DELAY, NOW)
    later = NOW + timedelta(minutes=1)
    assert await limits.reserve("example.org", DELAY, later) == later


async def test_a_host_that_asked_for_a_pause_gets_it_and_a_shorter_one_does_not_end_it(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    await limits.pause("example.org", NOW + timedelta(minutes=2))
    await limits.pause("example.org", NOW + timedelta(minutes=1))
    assert await limits.reserve("example.org", DELAY, NOW) == NOW + timedelta(minutes=2)


async def test_asking_for_a_turn_that_nobody_waits_for_does_not_move_it(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    until = NOW + timedelta(hours=1)
    await limits.pause("example.org", until)
    for _ in range(20):
        assert LONGEST_WAIT < await limits.reserve("example.org", DELAY, NOW) - NOW <= until - NOW
    assert await limits.reserve("example.org", DELAY, until) == until


async def test_who_does_not_wait_for_a_turn_leaves_it_to_the_next_one(database: Database) -> None:
    limits, pace, briefly = SqlHostRateLimits(database), timedelta(minutes=1), timedelta(seconds=10)
    asked = [limits.reserve("example.org", pace, NOW, briefly) for _ in range(50)]
    assert await asyncio.gather(*asked) == [NOW + pace * number for number in range(50)], "one after another"
    later = NOW + pace / 2
    assert await limits.reserve("example.org", pace, later, briefly) == NOW + pace, (
        "so it is told, and does not take it"
    )
    assert await limits.reserve("example.org", pace, NOW + pace, briefly) == NOW + pace


async def test_who_waits_longer_takes_the_turns_that_others_leave(database: Database) -> None:
    limits, pace = SqlHostRateLimits(database), timedelta(minutes=1)
    asked = [limits.reserve("example.org", pace, NOW, longest) for longest in (DELAY, DELAY, LONGEST_WAIT)]
    assert await asyncio.gather(*asked) == [NOW, NOW + 2 * pace, NOW + pace]


async def test_those_who_ask_together_are_two_statements(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    hosts = [f"host{number % 50}.example" for number in range(100)]
    with count_statements(database) as statements:
        found = await asyncio.gather(*(limits.reserve(host, DELAY, NOW) for host in hosts))
    assert found == [NOW] * 50 + [NOW + DELAY] * 50
    assert len(statements) == 2


async def test_trouble_is_told_to_everybody_and_the_next_one_gets_his_turn(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = SqlHostRateLimits(database)
    with monkeypatch.context() as patched:
        patched.setattr("pressbox.curator.ingest.queues._HOLD_HOSTS", text("SELECT 1 / 0"))
        found = await asyncio.gather(
            *(limits.reserve("example.org", DELAY, NOW) for _ in range(3)), return_exceptions=True
        )
    assert all(isinstance(error, Exception) for error in found)
    assert await limits.reserve("example.org", DELAY, NOW) == NOW


async def test_whoever_gives_up_does_not_disturb_the_others(database: Database) -> None:
    limits = SqlHostRateLimits(database)
    impatient = asyncio.create_task(limits.reserve("example.org", DELAY, NOW))
    patient = asyncio.create_task(limits.reserve("example.org", DELAY, NOW))
    await asyncio.sleep(0)
    impatient.cancel()
    assert await patient == NOW + DELAY
