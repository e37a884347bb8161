"""Alembic's entry point: runs the migrations on the connection that `core.db.migrate` gives."""

from alembic import context
from sqlalchemy import text

from pressbox.core.db.base import Base

connection = context.config.attributes["connection"]
connection.execute(text("CREATE SCHEMA IF NOT EXISTS core"))
connection.commit()
context.configure(
    connection=connection,
    # For the names of constraints alone: the tables themselves need not be imported.
    target_metadata=Base.metadata,
    version_table_schema="core",
    include_schemas=True,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
