"""Migrations: one line of history, applied by `up` and by `pressbox migrate`."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

import pressbox.migrations
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger

log = get_logger(__name__)

MIGRATIONS = Path(pressbox.migrations.__path__[0])
_LOCK = 0x4D_49_47_52  # "MIGR": two processes that start together take turns


def upgrade(url: str) -> None:
    """Bring the database to the newest version. Each step is one transaction; safe to repeat."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
            before = current(connection)
            connection.commit()
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
            if before != head():
                log.info("database_migrated", msg=f"Database migrated from {before or 'empty'} to {head()}")
    except OperationalError as error:
        raise TransientError("The database does not answer, so it cannot be migrated.") from error
    finally:
        engine.dispose()


def head() -> str:
    """The version that this code needs."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def knows(revision: str) -> bool:
    """Whether this code has the migration; one of a newer version it has not."""
    return any(script.revision == revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def current(connection: Connection) -> str | None:
    """The version that the database has; use it with `AsyncConnection.run_sync`."""
    # The table lies in our own schema, and both may not exist yet.
    context = MigrationContext.configure(connection, opts={"version_table_schema": "core"})
    return context.get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config
