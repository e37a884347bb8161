"""SQL statements in tests: counting them, and compiling them once per process.

Every test has an engine of its own, and an engine compiles whatever it has not seen yet, which takes longer than most
statements. A process of the product has one engine, and so one cache of them; here the engines share one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sqlalchemy import URL, Dialect, Engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg, PGDialectAsync_psycopg
from sqlalchemy.util import LRUCache

from pressbox.core.db.database import Database

_compiled: LRUCache[Any, Any] = LRUCache(4_000)
_counted: ContextVar[list[str] | None] = ContextVar("_counted", default=None)


@contextmanager
def count_statements(database: Database) -> Iterator[list[str]]:
    """The statements of this task and of those that it starts.

    What was begun before, such as the live feed of the same process, asks the database whenever it likes: how often
    depends on how busy the machine is.
    """
    statements: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        if _counted.get() is statements:
            statements.append(statement)

    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    token = _counted.set(statements)
    try:
        yield statements
    finally:
        _counted.reset(token)
        event.remove(engine, "before_cursor_execute", note)


class SharingDialect(PGDialectAsync_psycopg):
    """All talk to the same server in the same way: what one of them has compiled is right for the others."""

    supports_statement_cache = True

    @classmethod
    def get_dialect_cls(cls, url: URL) -> type[Dialect]:
        # Migrations run without a loop, and once.
        return PGDialect_psycopg

    @classmethod
    def get_async_dialect_cls(cls, url: URL) -> type[Dialect]:
        return cls

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        if isinstance(engine.dialect, cls):
            engine.update_execution_options(compiled_cache=_compiled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharingDialect)

    def __hash__(self) -> int:
        return hash(SharingDialect)


def share_compiled_statements() -> None:
    registry.register("postgresql.psycopg", __name__, SharingDialect.__name__)
