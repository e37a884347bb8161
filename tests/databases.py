"""Lends every test a migrated, empty database; one that a test gave back is emptied rather than made anew.

Making and dropping a database takes a third of a second, emptying one a tenth of that. A database whose structure or
kept rows a test changed, or which has grown, is dropped: nobody gets anything but what the migrations leave.
"""

import secrets
import time
from typing import LiteralString, cast

import psycopg
from psycopg import sql

TEMPLATE = "pressbox_template"
# Dead rows stay on disk, and a swollen table would slow the tests that get it next.
GROWTH_BYTES = 8_000_000
LEAVING_SECONDS = 5.0
# Every change of a table, column, constraint, index, trigger, function or type writes a row here with a new xmin.
_CATALOGS = ("pg_class", "pg_attribute", "pg_constraint", "pg_trigger", "pg_proc", "pg_type", "pg_namespace")
_TABLES = (
    "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p') AND relpersistence = 'p' "
    "AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
)
# What was never written to has no page. To look into a table, the server loads all its indexes first.
_WITH_PAGES = (
    "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relpersistence = 'p' "
    "AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema') AND pg_relation_size(oid) > 0"
)


class Databases:
    """Those of one server, which has the template."""

    def __init__(self, server_url: str) -> None:
        self._server = psycopg.connect(server_url, autocommit=True)
        self._base = server_url.rsplit("/", 1)[0]
        self._idle: list[str] = []
        with psycopg.connect(self.url(TEMPLATE), autocommit=True) as template:
            tables = [str(row[0]) for row in template.execute(_TABLES)]
            self._kept = [table for table in tables if _has_rows(template, table)]
            self._emptied = [table for table in tables if table not in self._kept]
            self._pristine = self._state(template)
            self._largest = _size(template) + GROWTH_BYTES

    def url(self, name: str) -> str:
        return f"{self._base}/{name}"

    def lend(self) -> str:
        """The name of a database that nobody else uses."""
        if self._idle:
            return self._idle.pop()
        name = _new_name()
        self._server.execute(_statement("CREATE DATABASE {} TEMPLATE {}", name, TEMPLATE))
        return name

    def take_back(self, name: str) -> None:
        """Whoever is still connected is thrown out; a new name keeps those away who would come again."""
        deadline = time.monotonic() + LEAVING_SECONDS
        while self._throw_out(name) and time.monotonic() < deadline:
            # The server itself would look again only after a tenth of a second.
            time.sleep(0.002)
        fresh = _new_name()
        try:
            self._server.execute(_statement("ALTER DATABASE {} RENAME TO {}", name, fresh))
        except psycopg.errors.ObjectInUse:
            self._drop(name)
            return
        if self._emptied_again(fresh):
            self._idle.append(fresh)
        else:
            self._drop(fresh)

    def is_pristine(self, connection: psycopg.Connection) -> bool:
        return self._state(connection) == self._pristine

    def close(self) -> None:
        self._server.close()

    def _throw_out(self, name: str) -> bool:
        """Was anybody there?"""
        asked = self._server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
        )
        return asked.fetchone() is not None

    def _drop(self, name: str) -> None:
        self._server.execute(_statement("DROP DATABASE {} WITH (FORCE)", name))

    def _emptied_again(self, name: str) -> bool:
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            if not self.is_pristine(connection) or _size(connection) > self._largest:
                return False
            # Nobody checks references while everything goes.
            connection.execute("SET session_replication_role = replica")
            for table in self._with_rows(connection):
                connection.execute(_trusted(f"DELETE FROM {table}"))
            connection.execute("SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence")
        return True

    def _with_rows(self, connection: psycopg.Connection) -> list[str]:
        looked_into = {str(row[0]) for row in connection.execute(_WITH_PAGES)}.intersection(self._emptied)
        asked = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in looked_into)
        return [str(row[0]) for row in connection.execute(_trusted(asked))] if asked else []

    def _state(self, connection: psycopg.Connection) -> tuple[object, ...]:
        """The structure, and the rows that the migrations leave."""
        # A sum needs no order.
        catalogs = (f"SELECT sum(hashtextextended(oid_and_age, 0)) FROM ({_ages(name)}) AS ages" for name in _CATALOGS)
        kept = (
            f"SELECT md5(string_agg(row::text, ',' ORDER BY row::text)) FROM {table} AS row" for table in self._kept
        )
        answer = connection.execute(_trusted("SELECT " + ", ".join(f"({part})" for part in (*catalogs, *kept))))
        return tuple(answer.fetchone() or ())


def _ages(catalog: str) -> str:
    key = "attrelid::text || '.' || attnum::text" if catalog == "pg_attribute" else "oid::text"
    return f"SELECT {key} || ':' || xmin::text AS oid_and_age FROM {catalog}"


def _has_rows(connection: psycopg.Connection, table: str) -> bool:
    return connection.execute(_trusted(f"SELECT FROM {table} LIMIT 1")).fetchone() is not None


def _size(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def _new_name() -> str:
    return f"test_{secrets.token_hex(6)}"


def _statement(text: LiteralString, *names: str) -> sql.Composed:
    return sql.SQL(text).format(*(sql.Identifier(name) for name in names))


def _trusted(text: str) -> LiteralString:
    # Made of names that the server itself told us.
    return cast(LiteralString, text)  # type: ignore[redundant-cast]
