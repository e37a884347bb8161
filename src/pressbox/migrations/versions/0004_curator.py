"""Feeds, entries and what people did with them; vectors and the cost ledger."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects import postgresql

from pressbox.core.errors import ConfigurationError

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_TABLES = (
    "claims",
    "host_turns",
    "model_calls",
    "entry_labels",
    "labels",
    "entry_states",
    "removed_entries",
    "seen_guids",
    "entry_embeddings",
    "entry_bodies",
    "entries",
    "stories",
    "subscriptions",
    "categories",
    "feed_errors",
    "feed_state",
    "feeds",
)


def upgrade() -> None:
    _create_extension()
    op.execute("CREATE SCHEMA IF NOT EXISTS curator")
    _create_feeds()
    _create_subscriptions()
    _create_entries()
    _create_states()
    _create_ledger()


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table, schema="curator")
    op.execute("DROP SCHEMA curator")
    # The extension stays: somebody else may use it too.


def _create_extension() -> None:
    known = op.get_bind().execute(sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")).scalar()
    if known is None:
        raise ConfigurationError(
            "This PostgreSQL server lacks the extension pgvector, which the curator needs. Install it there (the "
            "package is called postgresql-<version>-pgvector), or leave PRESSBOX_DATABASE_URL empty for the embedded "
            "server, and start again."
        )
    installed = op.get_bind().execute(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")).scalar()
    if installed is None:
        allowed = op.get_bind().execute(sa.text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).scalar()
        trusted = op.get_bind().execute(
            sa.text("SELECT bool_or(trusted) FROM pg_available_extension_versions WHERE name = 'vector'")
        )
        if not allowed and not trusted.scalar():
            raise ConfigurationError(
                "The extension pgvector is installed on the server but not in this database, and our role may not "
                "add it. Let an administrator run CREATE EXTENSION vector in this database, and start again."
            )
        op.execute("CREATE EXTENSION IF NOT EXISTS vector")


def _create_feeds() -> None:
    op.create_table(
        "feeds",
        _key(),
        sa.Column("url", sa.Text, unique=True, nullable=False),
        _text("site_url"),
        _text("title"),
        _text("description"),
        _text("language"),
        _text("icon_url"),
        sa.Column("full_text", sa.Boolean, server_default=sa.text("true"), nullable=False),
        _list("extraction_rules"),
        sa.Column("interval_seconds", sa.Integer),
        sa.Column("entry_limit", sa.Integer),
        sa.Column("paused_at", _TIME),
        _moment("created_at"),
        schema="curator",
    )
    op.create_table(
        "feed_state",
        _reference("feed_id", "feeds", primary_key=True),
        _text("etag"),
        _text("last_modified"),
        _text("content_hash"),
        sa.Column("next_crawl_at", _TIME),
        sa.Column("interval_seconds", sa.Integer, server_default="3600", nullable=False),
        sa.Column("last_crawl_at", _TIME),
        sa.Column("last_success_at", _TIME),
        sa.Column("last_new_at", _TIME),
        _text("outcome"),
        sa.Column("failures", sa.Integer, server_default="0", nullable=False),
        _text("reason"),
        sa.Column("status", sa.Integer),
        schema="curator",
    )
    _index("feed_state", "next_crawl_at")
    op.create_table(
        "feed_errors",
        _key(),
        _reference("feed_id", "feeds"),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("reason", sa.Text, nullable=False),
        schema="curator",
    )
    _index("feed_errors", "feed_id", "at")


def _create_subscriptions() -> None:
    op.create_table(
        "categories",
        _key(),
        _reference("user_id", "users", "core"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, server_default="0", nullable=False),
        sa.UniqueConstraint("user_id", "name"),
        schema="curator",
    )
    op.create_table(
        "subscriptions",
        _key(),
        _reference("user_id", "users", "core"),
        _reference("feed_id", "feeds"),
        sa.Column("category_id", sa.BigInteger, sa.ForeignKey("curator.categories.id", ondelete="SET NULL")),
        _text("title"),
        sa.Column("unread", sa.Integer, server_default="0", nullable=False),
        _moment("created_at"),
        sa.UniqueConstraint("user_id", "feed_id"),
        schema="curator",
    )
    _index("subscriptions", "feed_id")


def _create_entries() -> None:
    op.create_table(
        "stories",
        _key(),
        sa.Column("canonical_url", sa.Text, unique=True, nullable=False),
        _moment("created_at"),
        schema="curator",
    )
    op.create_table(
        "entries",
        _key(),
        _reference("feed_id", "feeds"),
        sa.Column("guid", sa.Text, nullable=False),
        _text("url"),
        _text("canonical_url"),
        sa.Column("story_id", sa.BigInteger, sa.ForeignKey("curator.stories.id", ondelete="SET NULL")),
        sa.Column("title", sa.Text, nullable=False),
        _text("author"),
        _text("language"),
        sa.Column("published_at", _TIME, nullable=False),
        sa.Column("dated", sa.Boolean, server_default=sa.text("true"), nullable=False),
        sa.Column("first_seen_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        _text("thumbnail_url"),
        _list("enclosures"),
        _text("summary"),
        sa.Column("words", sa.Integer, server_default="0", nullable=False),
        _text("content_hash"),
        _text("shown_hash"),
        sa.Column("indexed_hash", sa.Text),
        _text("feed_hash"),
        sa.Column("fetch_state", sa.Text, nullable=False),
        sa.Column("fetch_tries", sa.SmallInteger, server_default="0", nullable=False),
        _text("fetch_reason"),
        sa.Column("next_fetch_at", _TIME),
        sa.Column("distil_state", sa.Text, nullable=False),
        _text("distil_reason"),
        _text("distilled_hash"),
        _text("distil_model"),
        sa.UniqueConstraint("feed_id", "guid"),
        schema="curator",
    )
    _index("entries", "feed_id", "published_at", "id")
    _index("entries", "published_at", "id")
    _index("entries", "story_id")
    _partial("entries", "to_fetch", "fetch_state = 'waiting'", "feed_id")
    _partial("entries", "to_distil", "distil_state = 'waiting'", "id")
    _partial("entries", "to_index", "indexed_hash IS DISTINCT FROM shown_hash", "id")
    op.create_table(
        "entry_bodies",
        _reference("entry_id", "entries", primary_key=True),
        _text("feed_content"),
        _text("full_content"),
        _text("filtered_content"),
        _text("content_text"),
        schema="curator",
    )
    op.create_table(
        "entry_embeddings",
        _reference("entry_id", "entries", primary_key=True),
        sa.Column("model", sa.Text, primary_key=True),
        sa.Column("embedding", Vector(), nullable=False),
        sa.Column("shown_hash", sa.Text, nullable=False),
        schema="curator",
    )
    op.create_table(
        "seen_guids",
        _reference("feed_id", "feeds", primary_key=True),
        sa.Column("guid", sa.Text, primary_key=True),
        _moment("removed_at"),
        schema="curator",
    )
    op.create_table(
        "removed_entries",
        sa.Column("entry_id", sa.BigInteger, primary_key=True, autoincrement=False),
        schema="curator",
    )


def _create_states() -> None:
    op.create_table(
        "entry_states",
        _reference("user_id", "users", "core", primary_key=True),
        _reference("entry_id", "entries", primary_key=True),
        sa.Column("read_at", _TIME),
        sa.Column("starred_at", _TIME),
        sa.Column("preference", sa.SmallInteger, server_default="0", nullable=False),
        _text("note"),
        sa.CheckConstraint("preference IN (-1, 0, 1)", name="preference"),
        schema="curator",
    )
    _index("entry_states", "entry_id")
    _partial("entry_states", "starred", "starred_at IS NOT NULL", "user_id", "entry_id")
    _partial("entry_states", "up", "preference = 1", "user_id", "entry_id")
    _partial("entry_states", "read", "read_at IS NOT NULL", "user_id", "read_at")
    op.create_table(
        "labels",
        _key(),
        _reference("user_id", "users", "core"),
        sa.Column("name", sa.Text, nullable=False),
        sa.UniqueConstraint("user_id", "name"),
        schema="curator",
    )
    op.create_table(
        "entry_labels",
        _reference("label_id", "labels", primary_key=True),
        _reference("entry_id", "entries", primary_key=True),
        schema="curator",
    )
    _index("entry_labels", "entry_id")


def _create_ledger() -> None:
    op.create_table(
        "model_calls",
        _key(),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("prompt_version", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("feature", sa.Text, nullable=False),
        sa.Column("entry_id", sa.BigInteger),
        sa.Column("feed_id", sa.BigInteger),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float, server_default="0", nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.UniqueConstraint("content_hash", "prompt_version", "model", "feature"),
        schema="curator",
    )
    _index("model_calls", "at")
    op.create_table(
        "host_turns",
        sa.Column("host", sa.Text, primary_key=True),
        sa.Column("next_at", _TIME, nullable=False),
        schema="curator",
    )
    op.create_table(
        "claims",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("until", _TIME, nullable=False),
        schema="curator",
    )


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger, primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, server_default="", nullable=False)


def _list(name: str) -> sa.Column[object]:
    return sa.Column(name, postgresql.JSONB, server_default=sa.text("'[]'::jsonb"), nullable=False)


def _moment(name: str) -> sa.Column[datetime]:
    return sa.Column(name, _TIME, server_default=_NOW, nullable=False)


def _reference(name: str, table: str, schema: str = "curator", *, primary_key: bool = False) -> sa.Column[int]:
    key = sa.ForeignKey(f"{schema}.{table}.id", ondelete="CASCADE")
    return sa.Column(name, sa.BigInteger, key, primary_key=primary_key, nullable=False, autoincrement=False)


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns), schema="curator")


def _partial(table: str, name: str, where: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{name}", table, list(columns), schema="curator", postgresql_where=sa.text(where))
