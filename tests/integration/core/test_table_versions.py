"""Which tables a release works on: its own, and newer ones that say so."""

import ast
from pathlib import Path

import pytest
from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.core.db.migrate import OLDEST_CODE, upgrade
from pressbox.core.db.versions import (
    MIGRATIONS,
    NO_RELEASE,
    head,
    judge_tables,
    knows,
    oldest_code,
    tables_problem,
    writing_release,
)
from pressbox.core.errors import PermanentError
from pressbox.core.release import release

NEWER = "9999"
# Migrations up to this one were written before releases had to run side by side.
FIRST_HELD = "0026"


async def pretend(database: Database, version: str, oldest: str | None) -> None:
    """Tables that a later release has migrated."""
    note = f"'oldest code: {oldest}'" if oldest else "NULL"
    async with database.engine.begin() as connection:
        await connection.execute(text("UPDATE core.alembic_version SET version_num = :version"), {"version": version})
        await connection.execute(text(f"COMMENT ON TABLE core.alembic_version IS {note}"))


async def test_a_migrated_database_says_which_code_it_serves(database: Database) -> None:
    async with database.engine.connect() as connection:
        assert await connection.run_sync(oldest_code) == OLDEST_CODE
    assert knows(OLDEST_CODE)
    assert await tables_problem(database) is None


async def test_newer_tables_that_serve_this_code_are_well_and_stay(database: Database, database_url: str) -> None:
    await pretend(database, NEWER, head())
    assert await tables_problem(database) is None
    upgrade(database_url)
    async with database.engine.connect() as connection:
        assert await connection.scalar(text("SELECT version_num FROM core.alembic_version")) == NEWER


@pytest.mark.parametrize("oldest", [NEWER, None])
async def test_newer_tables_that_do_not_are_refused(database: Database, database_url: str, oldest: str | None) -> None:
    await pretend(database, NEWER, oldest)
    problem = await tables_problem(database)
    assert problem is not None
    assert f"A newer Pressbox ({release()})" in problem
    assert "Start that one, or restore the backup made before the upgrade" in problem
    assert "migrate" not in problem
    with pytest.raises(PermanentError, match="restore the backup made before the upgrade"):
        upgrade(database_url)


async def test_the_release_that_migrated_is_named_where_it_is_known(database: Database) -> None:
    async with database.engine.connect() as connection:
        assert await connection.run_sync(writing_release) == release()
    assert "(2.0+abc)" in (judge_tables(NEWER, NEWER, "2.0+abc") or "")
    assert f"({NO_RELEASE})" in (judge_tables(NEWER, NEWER) or "")


async def test_older_tables_want_a_migration(database: Database) -> None:
    await pretend(database, "0001", "0001")
    assert "pressbox migrate" in (await tables_problem(database) or "")
    assert "pressbox migrate" in (judge_tables(None, None) or "")


def removals(file: Path) -> list[str]:
    """What a migration takes away from code that ran before it: columns and tables, dropped or renamed."""
    tree = ast.parse(file.read_text())
    (body,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "upgrade")
    found = []
    for node in ast.walk(body):
        if isinstance(node, ast.Attribute) and node.attr in ("drop_column", "drop_table", "rename_table"):
            found.append(node.attr)
        if isinstance(node, ast.keyword) and node.arg == "new_column_name":
            found.append(node.arg)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = " ".join(node.value.upper().split())
            found += [word for word in ("DROP COLUMN", "DROP TABLE", "RENAME TO", "RENAME COLUMN") if word in words]
    return found


def unused_since(file: Path) -> str | None:
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "unused_since":
            return str(ast.literal_eval(node.value))
    return None


def served_too_long(file: Path) -> bool:
    """Whether code that the tables say they serve still uses what this migration removes."""
    since = unused_since(file)
    return bool(removals(file)) and (since is None or not OLDEST_CODE >= since < file.name[:4])


def test_a_migration_takes_nothing_from_the_code_that_it_says_it_serves() -> None:
    """Expand in one release, contract in a later one: see docs/operations.md, Upgrade."""
    later = [file for file in sorted((MIGRATIONS / "versions").glob("[0-9]*.py")) if file.name[:4] > FIRST_HELD]
    broken = {file.name: removals(file) for file in later if served_too_long(file)}
    assert broken == {}, (
        "Code of the release before still uses these. Remove them in a later release, with a line `unused_since = …` "
        "that names the first version whose code does without, and raise OLDEST_CODE of core/db/migrate.py to it"
    )


def test_the_search_for_removals_finds_them(tmp_path: Path) -> None:
    file = tmp_path / "0099_example.py"
    file.write_text(
        "def upgrade():\n    op.drop_column('a', 'b')\n    op.execute('ALTER TABLE a  RENAME COLUMN b TO c')\n"
        "def downgrade():\n    op.drop_table('a')\n"
    )
    assert sorted(removals(file)) == ["RENAME COLUMN", "drop_column"]
    assert served_too_long(file)
    for since, too_long in ((OLDEST_CODE, False), ("0098", True), ("0099", True)):
        said = tmp_path / f"0099_{since}.py"
        said.write_text(f'unused_since = "{since}"\n' + file.read_text())
        assert served_too_long(said) is too_long
