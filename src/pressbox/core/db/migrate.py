"""Migrations: one line of history, applied by `up` and by `pressbox migrate`.

Releases run side by side while one replaces the other, so migrations expand first and contract a release later. The
database says itself which code may still use it: a note on Alembic's own table, which every release can read.
"""

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from pressbox.core.db.versions import (
    MIGRATIONS,
    NOTE,
    WRITER_NOTE,
    current,
    head,
    judge_tables,
    knows,
    oldest_code,
    writing_release,
)
from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.release import release

log = get_logger(__name__)

_LOCK = 0x4D_49_47_52  # "MIGR": two processes that start together take turns
# The tables' version of the oldest code that works on today's tables too. A migration that removes something says
# `unused_since = "0030"`, the version whose code was the first to do without; this is raised to it.
OLDEST_CODE = "0026"


def upgrade(url: str) -> None:
    """Bring the database to the newest version. Each step is one transaction; safe to repeat.

    Newer tables that still serve this code stay as they are: after a step back to an older release it simply runs.
    """
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
            before = current(connection)
            connection.commit()
            if before is not None and not knows(before):
                problem = judge_tables(before, oldest_code(connection), writing_release(connection))
                if problem is not None:
                    raise PermanentError(problem)
                log.info("tables_are_newer", msg=f"The tables have the newer version {before}, and serve this one")
                return
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.execute(text(f"COMMENT ON TABLE core.alembic_version IS '{NOTE}{OLDEST_CODE}'"))
            if before != head():
                note = f"COMMENT ON COLUMN core.alembic_version.version_num IS '{WRITER_NOTE}{release()}'"
                connection.execute(text(note))
            connection.commit()
            if before != head():
                log.info("database_migrated", msg=f"Database migrated from {before or 'empty'} to {head()}")
    except OperationalError as error:
        raise TransientError("The database does not answer, so it cannot be migrated.") from error
    finally:
        engine.dispose()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config
