"""The unit of work: all or nothing, and clear words when the database is not there or not ready."""

import asyncio
import secrets

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError, UnstorableError
from tests.conftest import Parts, execute


def user(email: str) -> UserRow:
    return UserRow(email=email, password_hash="x", role="member")


async def count(database: Database) -> int:
    async with database.unit_of_work() as work:
        return await work.session.scalar(select(func.count()).select_from(UserRow)) or 0


async def test_an_error_leaves_neither_rows_nor_changes(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.unit_of_work() as work:
            work.session.add(user("a@example.org"))
            work.changed("thing", "a")
            await work.session.flush()
            raise ZeroDivisionError
    assert await count(database) == 0
    async with database.unit_of_work() as work:
        assert await work.session.scalar(select(func.count()).select_from(ChangeRow)) == 0


async def test_a_cancelled_unit_of_work_leaves_nothing(database: Database) -> None:
    started = asyncio.Event()

    async def slow() -> None:
        async with database.unit_of_work() as work:
            work.session.add(user("a@example.org"))
            await work.session.flush()
            started.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(slow())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count(database) == 0


async def test_a_database_that_is_away_is_a_transient_error() -> None:
    nobody = Database("postgresql://nobody:none@127.0.0.1:1/none")
    with pytest.raises(TransientError, match="does not answer"):
        async with nobody.unit_of_work() as work:
            await work.session.execute(select(1))
    await nobody.close()


async def test_a_database_that_is_not_migrated_says_what_to_do(parts: Parts) -> None:
    name = f"empty_{secrets.token_hex(4)}"
    execute(parts.postgres_url, f"CREATE DATABASE {name}")
    empty = Database(parts.database_url(name))
    with pytest.raises(TransientError, match="Run `pressbox migrate`"):
        async with empty.unit_of_work() as work:
            await work.session.scalar(select(func.count()).select_from(UserRow))
    await empty.close()
    execute(parts.postgres_url, f"DROP DATABASE {name} WITH (FORCE)")


async def test_values_do_not_appear_in_database_errors(database: Database) -> None:
    twice = [UserRow(email="a@example.org", password_hash="planted-hash", role="member") for _ in range(2)]
    with pytest.raises(IntegrityError) as refused:
        async with database.unit_of_work() as work:
            work.session.add_all(twice)
    assert "planted-hash" not in str(refused.value)


async def test_when_all_connections_are_in_use_it_is_worth_another_try(database_url: str) -> None:
    database = Database(database_url, pool_size=1, pool_seconds=0.05)
    try:
        async with database.unit_of_work() as first:
            await first.session.execute(select(1))
            with pytest.raises(TransientError, match="in use"):
                async with database.unit_of_work() as second:
                    await second.session.execute(select(1))
    finally:
        await database.close()


LONG_NAME = "".join(secrets.token_hex(4) for _ in range(2000))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (LONG_NAME, "larger than an index row"),
        ("nul\x00inside", "a NUL character"),
        ("half \ud83d", "half of a character"),
    ],
    ids=["long", "nul", "surrogate"],
)
async def test_a_value_that_cannot_be_stored_is_no_fault_of_the_database(
    database: Database, value: str, kind: str
) -> None:
    with pytest.raises(UnstorableError, match="cannot be stored"):
        async with database.unit_of_work() as work:
            work.session.add(user(value))
    assert await count(database) == 0, kind


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 9223372036854775807::bigint + 1",
        "SELECT 'x'::integer",
        "SELECT '\"\\u0000\"'::jsonb ->> 0",
        "SELECT '5874898-01-01'::date",
        "DO $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '54001'; END $$",
    ],
    ids=["overflow", "not a number", "nul in JSON", "date", "too complex"],
)
async def test_what_a_value_makes_of_a_statement_is_no_fault_of_the_database(
    database: Database, statement: str
) -> None:
    with pytest.raises(UnstorableError):
        async with database.unit_of_work() as work:
            await work.session.execute(text(statement))


async def test_a_connection_that_is_cut_is_worth_another_try(database: Database) -> None:
    with pytest.raises(TransientError):
        async with database.unit_of_work() as work:
            await work.session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    assert await count(database) == 0


@pytest.mark.parametrize(
    ("state", "words"),
    [("53100", "disk space"), ("40P01", "side by side"), ("57014", "does not answer"), ("58030", "does not answer")],
)
async def test_trouble_of_the_server_is_worth_another_try(database: Database, state: str, words: str) -> None:
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '{state}'; END $$"
    with pytest.raises(TransientError, match=words):
        async with database.unit_of_work() as work:
            await work.session.execute(text(raising))


async def test_a_transaction_that_stands_still_is_ended_and_lets_others_go_on(database: Database) -> None:
    async with database.unit_of_work() as work:
        assert await work.session.scalar(text("SHOW idle_in_transaction_session_timeout")) == "1min"
    ours = text("SELECT pg_advisory_xact_lock(7)")
    with pytest.raises(TransientError):
        async with database.unit_of_work() as frozen:
            await frozen.session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '50ms'"))
            await frozen.session.execute(ours)
            async with database.unit_of_work() as other:
                await other.session.execute(ours)
            await frozen.session.execute(text("SELECT 1"))
