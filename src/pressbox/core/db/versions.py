"""Which version the tables have, and which this code needs. Read without Alembic: health checks ask often."""

import asyncio
import re
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, text

import pressbox.migrations
from pressbox.core.db.database import Database

MIGRATIONS = Path(pressbox.migrations.__path__[0])
_NAMES = re.compile(r'^(revision|down_revision)\b[^=]*= "(\w+)"', re.MULTILINE)

# A note on Alembic's own table, which every release can read.
NOTE = "oldest code: "


async def tables_problem(database: Database) -> str | None:
    """Why this code cannot work on the tables as they are; None if it can."""
    async with database.unit_of_work() as work:
        connection = await work.session.connection()
        found, oldest = await connection.run_sync(lambda plain: (current(plain), oldest_code(plain)))
    return await asyncio.to_thread(judge_tables, found, oldest)


def judge_tables(found: str | None, oldest: str | None) -> str | None:
    """What is the matter with tables of this version, which serve code from `oldest` on; None if nothing is."""
    needed = head()
    if found == needed:
        return None
    if found is None or knows(found):
        return f"The database has version {found or 'none'}, this code needs {needed}. Run `pressbox migrate`."
    # Versions are numbers with leading zeros.
    if oldest is not None and needed >= oldest:
        return None
    return (
        f"The database has version {found}, which serves code from {oldest or 'its own version'} on; this code has "
        f"{needed}. Install the newer release, or restore a backup."
    )


def oldest_code(connection: Connection) -> str | None:
    """The oldest code that the tables say they serve."""
    note = connection.scalar(text("SELECT obj_description(to_regclass('core.alembic_version'), 'pg_class')"))
    return note.removeprefix(NOTE) if note and note.startswith(NOTE) else None


def head() -> str:
    """The version that this code needs."""
    names = _revisions()
    (newest,) = names.keys() - set(names.values())
    return newest


def knows(revision: str) -> bool:
    """Whether this code has the migration; one of a newer version it has not."""
    return revision in _revisions()


def current(connection: Connection) -> str | None:
    """The version that the database has; use it with `AsyncConnection.run_sync`."""
    # The table lies in our own schema, and both may not exist yet.
    if connection.scalar(text("SELECT to_regclass('core.alembic_version')")) is None:
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM core.alembic_version"))
    return found


@cache
def _revisions() -> dict[str, str | None]:
    """Every revision of this code with the one before it."""
    files = (MIGRATIONS / "versions").glob("[0-9]*.py")
    names = [dict(_NAMES.findall(file.read_text(encoding="utf-8"))) for file in files]
    return {found["revision"]: found.get("down_revision") for found in names}
