"""The databases that tests get: as the migrations leave them, whatever the test before did."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import CursorResult, literal, select
from sqlalchemy.engine.interfaces import CacheStats

from pressbox.core.db.database import Database
from tests.conftest import Parts
from tests.databases import Databases


@pytest.fixture
def lender(parts: Parts) -> Iterator[Databases]:
    databases = Databases(parts.postgres_url)
    yield databases
    databases.close()


def write(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def lent_after(lender: Databases, *statements: str) -> str:
    """The address that comes after one on which these statements ran."""
    name = lender.lend()
    write(lender.url(name), *statements)
    lender.take_back(name)
    return lender.url(lender.lend())


NOTE = "INSERT INTO core.changes (kind, key) VALUES ('test', 'one')"


def number_of_a_note(url: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(NOTE.encode())
        return connection.execute("SELECT array_agg(id) FROM core.changes").fetchone()


def test_rows_are_gone_and_numbers_begin_again(lender: Databases) -> None:
    assert number_of_a_note(lent_after(lender, NOTE, NOTE)) == ([1],)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE core.left_over (id int)",
        "ALTER TABLE core.changes ALTER COLUMN kind DROP NOT NULL",
        "DROP TABLE core.changes",
        "UPDATE core.alembic_version SET version_num = '0001'",
    ],
)
def test_a_changed_structure_is_not_handed_on(lender: Databases, change: str) -> None:
    url = lent_after(lender, change)
    with psycopg.connect(url) as connection:
        assert lender.is_pristine(connection)
    assert number_of_a_note(url) == ([1],)


def test_a_swollen_database_is_not_handed_on(lender: Databases) -> None:
    many = "INSERT INTO core.changes (kind, key) SELECT 'test', repeat('x', 100) FROM generate_series(1, 60000)"
    with psycopg.connect(lent_after(lender, many)) as connection:
        size = connection.execute("SELECT pg_total_relation_size('core.changes')").fetchone()
    assert size is not None
    assert size[0] < 100_000


def test_whoever_stayed_is_thrown_out_and_cannot_come_back(lender: Databases) -> None:
    name = lender.lend()
    stayed = psycopg.connect(lender.url(name), autocommit=True)
    lender.take_back(name)
    with pytest.raises(psycopg.OperationalError):
        stayed.execute("SELECT 1")
    stayed.close()
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(lender.url(name))


def test_two_borrowers_do_not_share(lender: Databases) -> None:
    assert lender.lend() != lender.lend()


async def test_a_statement_that_one_engine_has_compiled_is_known_to_the_next(lender: Databases) -> None:
    known = []
    for _ in range(2):
        database = Database(lender.url(lender.lend()))
        async with database.unit_of_work() as work:
            answer = await work.session.execute(select(literal(7).label("compiled_once")))
            assert isinstance(answer, CursorResult)
            assert answer.scalar_one() == 7
            known.append(answer.context.cache_hit)
        await database.close()
    assert known == [CacheStats.CACHE_MISS, CacheStats.CACHE_HIT]
