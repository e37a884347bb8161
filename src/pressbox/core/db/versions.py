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
# One on its column, for people: which release to go back to.
WRITER_NOTE = "migrated by Pressbox "
NO_RELEASE = "which left no name"


async def tables_problem(database: Database) -> str | None:
    """Why this code cannot work on the tables as they are; None if it can."""
    async with database.unit_of_work() as work:
        connection = await work.session.connection()
        found, oldest, writer = await connection.run_sync(
            lambda plain: (current(plain), oldest_code(plain), writing_release(plain))
        )
    return await asyncio.to_thread(judge_tables, found, oldest, writer)


def judge_tables(found: str | None, oldest: str | None, writer: str | None = None) -> str | None:
    """What is the matter with tables of this version, which serve code from `oldest` on; None if nothing is.

    `writer` is the release that migrated them.
    """
    needed = head()
    if found == needed:
        return None
    if found is None or knows(found):
        return f"The database has version {found or 'none'}, this code needs {needed}. Run `pressbox migrate`."
    # Versions are numbers with leading zeros.
    if oldest is not None and needed >= oldest:
        return None
    return (
        f"A newer Pressbox ({writer or NO_RELEASE}) has brought the database to version {found}; this one knows "
        f"{needed} at most. Start that one, or restore the backup made before the upgrade. Nothing was changed."
    )


def oldest_code(connection: Connection) -> str | None:
    """The oldest code that the tables say they serve."""
    note = connection.scalar(text("SELECT obj_description(to_regclass('core.alembic_version'), 'pg_class')"))
    return note.removeprefix(NOTE) if note and note.startswith(NOTE) else None


def writing_release(connection: Connection) -> str | None:
    """The release that migrated the tables last, as `pressbox --version` says it."""
    note = connection.scalar(text("SELECT col_description(to_regclass('core.alembic_version'), 1)"))
    return note.removeprefix(WRITER_NOTE) if note and note.startswith(WRITER_NOTE) else None


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
