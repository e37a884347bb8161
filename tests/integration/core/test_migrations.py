"""Migrations and models say the same."""

from importlib import import_module

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from pressbox.core.db.base import Base
from pressbox.core.db.database import Database
from pressbox.core.db.migrate import upgrade
from pressbox.core.db.versions import MIGRATIONS, current, head, knows
from pressbox.entry.manifests import APPLICATIONS

CORE_TABLES = (
    "pressbox.core.accounts.factor_rows",
    "pressbox.core.accounts.rows",
    "pressbox.core.db.changes",
    "pressbox.core.notices.rows",
    "pressbox.core.progress.rows",
    "pressbox.core.quotas.rows",
    "pressbox.core.spending.rows",
    "pressbox.core.spoilers.rows",
    "pressbox.core.stored_settings.rows",
    "pressbox.core.temporal.rows",
    "pressbox.core.today.rows",
)


async def test_models_and_migrations_describe_the_same_tables(database: Database) -> None:
    def difference(connection: Connection) -> list[object]:
        context = MigrationContext.configure(
            connection, opts={"include_schemas": True, "version_table_schema": "core", "compare_server_default": True}
        )
        return list(compare_metadata(context, Base.metadata))

    for module in (*CORE_TABLES, *(module for manifest in APPLICATIONS for module in manifest.tables)):
        import_module(module)

    async with database.engine.connect() as connection:
        assert await connection.run_sync(difference) == []


async def test_every_migration_can_be_taken_back_and_applied_again(database: Database, database_url: str) -> None:
    def down_to_nothing(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")

    async with database.engine.connect() as connection:
        await connection.run_sync(down_to_nothing)
        await connection.commit()
        assert await connection.run_sync(current) is None
    upgrade(database_url)
    async with database.engine.connect() as connection:
        assert await connection.run_sync(current) == head()


async def test_upgrading_twice_changes_nothing(database: Database, database_url: str) -> None:
    upgrade(database_url)
    async with database.engine.connect() as connection:
        assert await connection.run_sync(current) == head()


def test_the_newest_version_is_the_one_that_alembic_would_apply() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert head() == scripts.get_current_head()
    assert all(knows(script.revision) for script in scripts.walk_revisions())
    assert not knows("9999")
