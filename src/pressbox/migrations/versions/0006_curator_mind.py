"""What is made of entries and asked about them: translations, context, graph, answers, research, scores, own apps."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_TABLES = (
    "model_reservations",
    "view_feeds",
    "app_tokens",
    "app_passwords",
    "evaluations",
    "research_steps",
    "research_runs",
    "answers",
    "conversations",
    "graph_evidence",
    "graph_edges",
    "graph_nodes",
    "graph_generations",
    "enrichments",
    "entry_links",
    "entry_contexts",
    "entry_translations",
)
_WORK = ["content_hash", "prompt_version", "model", "feature"]


def upgrade() -> None:
    _create_enrichments()
    _create_graph()
    _create_answers()
    _create_apps()
    _change_entries()
    for statement in _GRAPH_FOLLOWS:
        op.execute(statement)
    _change_ledger()
    _create_reservations()


def downgrade() -> None:
    op.drop_index("uq_model_calls_work", "model_calls", schema="curator")
    op.execute("DELETE FROM curator.model_calls WHERE NOT usable")
    op.drop_column("model_calls", "usable", schema="curator")
    op.create_unique_constraint(None, "model_calls", _WORK, schema="curator")
    op.drop_index("ix_entries_to_graph", "entries", schema="curator")
    for column in ("graph_reason", "graph_failed_hash", "graph_hash"):
        op.drop_column("entries", column, schema="curator")
    op.drop_column("entries", "graph_added_at", schema="curator")
    for table in _TABLES:
        op.drop_table(table, schema="curator")
    op.execute("DROP FUNCTION curator.graph_follows_context()")


# Whoever saves other entities of an entry: the graph takes them in with its next update.
_GRAPH_FOLLOWS = (
    """
    CREATE FUNCTION curator.graph_follows_context() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE curator.entries SET graph_hash = NULL WHERE id = NEW.entry_id AND graph_hash IS NOT NULL;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER graph_follows_context AFTER UPDATE ON curator.entry_contexts FOR EACH ROW
    WHEN (OLD.entities <> NEW.entities OR OLD.relationships <> NEW.relationships)
    EXECUTE FUNCTION curator.graph_follows_context()
    """,
)


def _change_entries() -> None:
    op.add_column("entries", sa.Column("graph_added_at", _TIME), schema="curator")
    op.add_column("entries", sa.Column("graph_hash", sa.Text), schema="curator")
    op.add_column("entries", sa.Column("graph_failed_hash", sa.Text), schema="curator")
    op.add_column("entries", sa.Column("graph_reason", sa.Text, nullable=False, server_default=""), schema="curator")
    op.create_index(
        "ix_entries_to_graph",
        "entries",
        ["id"],
        schema="curator",
        postgresql_where=sa.text("graph_hash IS DISTINCT FROM content_hash"),
    )


def _change_ledger() -> None:
    op.add_column(
        "model_calls", sa.Column("usable", sa.Boolean, nullable=False, server_default="true"), schema="curator"
    )
    op.drop_constraint("uq_model_calls_content_hash_prompt_version_model_feature", "model_calls", schema="curator")
    op.create_index(
        "uq_model_calls_work", "model_calls", _WORK, schema="curator", unique=True, postgresql_where=sa.text("usable")
    )


def _create_reservations() -> None:
    op.create_table(
        "model_reservations",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("prompt_version", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("feature", sa.Text, nullable=False),
        sa.Column("entry_id", sa.BigInteger),
        sa.Column("feed_id", sa.BigInteger),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float, nullable=False, server_default="0"),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("until", _TIME, nullable=False, index=True),
        schema="curator",
    )


def _create_enrichments() -> None:
    op.create_table(
        "entry_translations",
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("language", sa.Text, primary_key=True),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False, server_default=""),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False, server_default=""),
        sa.Column("blocks", postgresql.JSONB, nullable=False, server_default="[]"),
        sa.Column("complete", sa.Boolean, nullable=False, server_default="false"),
        sa.Column("at", _TIME, nullable=False),
        schema="curator",
    )
    op.create_table(
        "entry_contexts",
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False, server_default=""),
        sa.Column("prompt_version", sa.Text, nullable=False, server_default=""),
        sa.Column("domain", sa.Text, nullable=False, server_default=""),
        sa.Column("content_type", sa.Text, nullable=False, server_default=""),
        sa.Column("language", sa.Text, nullable=False, server_default=""),
        sa.Column("entities", postgresql.JSONB, nullable=False, server_default="[]"),
        sa.Column("relationships", postgresql.JSONB, nullable=False, server_default="[]"),
        sa.Column("key_points", postgresql.JSONB, nullable=False, server_default="[]"),
        sa.Column("at", _TIME, nullable=False),
        schema="curator",
    )
    op.create_table(
        "entry_links",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("curator.entries.id", ondelete="CASCADE"), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False, server_default=""),
        sa.Column("position", sa.Integer, nullable=False, server_default="0"),
        sa.UniqueConstraint("entry_id", "url"),
        schema="curator",
    )
    op.create_table(
        "enrichments",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("curator.entries.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False, server_default=""),
        sa.Column("url", sa.Text, nullable=False, server_default=""),
        sa.Column("body_html", sa.Text, nullable=False, server_default=""),
        sa.Column("facts", postgresql.JSONB, nullable=False, server_default="{}"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("hidden", sa.Boolean, nullable=False, server_default="false"),
        sa.Column("at", _TIME, nullable=False),
        sa.UniqueConstraint("entry_id", "kind", "key"),
        schema="curator",
    )


def _create_graph() -> None:
    op.create_table(
        "graph_generations",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("begun_at", _TIME, nullable=False, server_default=_NOW),
        sa.CheckConstraint("state IN ('building', 'current', 'old')", name="state"),
        schema="curator",
    )
    op.create_index(
        "uq_graph_generations_current",
        "graph_generations",
        ["state"],
        schema="curator",
        unique=True,
        postgresql_where=sa.text("state = 'current'"),
    )
    op.create_table(
        "graph_nodes",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column(
            "generation_id",
            sa.BigInteger,
            sa.ForeignKey("curator.graph_generations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False, server_default=""),
        sa.UniqueConstraint("generation_id", "key"),
        schema="curator",
    )
    op.create_table(
        "graph_edges",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column(
            "generation_id",
            sa.BigInteger,
            sa.ForeignKey("curator.graph_generations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column(
            "source_id", sa.BigInteger, sa.ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column(
            "target_id", sa.BigInteger, sa.ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("relation", sa.Text, nullable=False),
        sa.UniqueConstraint("source_id", "target_id", "relation"),
        schema="curator",
    )
    _index("graph_edges", "generation_id")
    _index("graph_edges", "target_id")
    op.create_table(
        "graph_evidence",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("node_id", sa.BigInteger, sa.ForeignKey("curator.graph_nodes.id", ondelete="CASCADE")),
        sa.Column("edge_id", sa.BigInteger, sa.ForeignKey("curator.graph_edges.id", ondelete="CASCADE")),
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("curator.entries.id", ondelete="CASCADE"), nullable=False),
        sa.Column("quote", sa.Text, nullable=False, server_default=""),
        sa.Column("name", sa.Text, nullable=False, server_default=""),
        sa.Column("kind", sa.Text, nullable=False, server_default=""),
        sa.Column("description", sa.Text, nullable=False, server_default=""),
        sa.CheckConstraint("(node_id IS NULL) <> (edge_id IS NULL)", name="node_or_edge"),
        sa.UniqueConstraint("edge_id", "entry_id"),
        sa.UniqueConstraint("node_id", "entry_id"),
        schema="curator",
    )
    _index("graph_evidence", "entry_id")


def _create_answers() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("entry_id", sa.BigInteger, sa.ForeignKey("curator.entries.id", ondelete="SET NULL")),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.Column("updated_at", _TIME, nullable=False, server_default=_NOW),
        schema="curator",
    )
    _index("conversations", "entry_id")
    _index("conversations", "user_id", "updated_at")
    op.create_table(
        "answers",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column(
            "conversation_id",
            sa.BigInteger,
            sa.ForeignKey("curator.conversations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("method", sa.Text, nullable=False, server_default=""),
        sa.Column("model", sa.Text, nullable=False, server_default=""),
        sa.Column("prompt_version", sa.Text, nullable=False, server_default=""),
        sa.Column("text", sa.Text, nullable=False, server_default=""),
        sa.Column("passages", postgresql.JSONB, nullable=False, server_default="[]"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("trace_id", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.Column("finished_at", _TIME),
        sa.UniqueConstraint("conversation_id", "position"),
        schema="curator",
    )
    op.create_table(
        "research_runs",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("limits", postgresql.JSONB, nullable=False, server_default="{}"),
        sa.Column("method", sa.Text, nullable=False, server_default=""),
        sa.Column("model", sa.Text, nullable=False, server_default=""),
        sa.Column("tokens", sa.Integer, nullable=False, server_default="0"),
        sa.Column("seconds", sa.Float, nullable=False, server_default="0"),
        sa.Column("report", sa.Text, nullable=False, server_default=""),
        sa.Column("sources", postgresql.JSONB, nullable=False, server_default="[]"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.Column("finished_at", _TIME),
        schema="curator",
    )
    _index("research_runs", "user_id", "created_at")
    op.create_table(
        "research_steps",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column(
            "run_id", sa.BigInteger, sa.ForeignKey("curator.research_runs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("round", sa.Integer, nullable=False, server_default="0"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("result", postgresql.JSONB, nullable=False, server_default="{}"),
        sa.Column("tokens", sa.Integer, nullable=False, server_default="0"),
        sa.Column("at", _TIME, nullable=False, server_default=_NOW),
        sa.UniqueConstraint("run_id", "position"),
        schema="curator",
    )
    op.create_table(
        "evaluations",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject_id", sa.BigInteger, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("score", sa.Float, nullable=False),
        sa.Column("evaluator", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False, server_default=""),
        sa.Column("prompt_version", sa.Text, nullable=False, server_default=""),
        sa.Column("trace_id", sa.Text, nullable=False, server_default=""),
        sa.Column("at", _TIME, nullable=False),
        sa.UniqueConstraint("kind", "subject_id", "metric", "evaluator", "trace_id"),
        schema="curator",
    )
    _index("evaluations", "kind", "at")


def _create_apps() -> None:
    op.create_table(
        "app_passwords",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("hint", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.Column("last_used_at", _TIME),
        sa.UniqueConstraint("user_id", "name"),
        schema="curator",
    )
    op.create_table(
        "app_tokens",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column(
            "app_password_id",
            sa.BigInteger,
            sa.ForeignKey("curator.app_passwords.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.Column("last_used_at", _TIME),
        schema="curator",
    )
    _index("app_tokens", "app_password_id")
    op.create_table(
        "view_feeds",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("view", postgresql.JSONB, nullable=False),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.Column("last_used_at", _TIME),
        sa.UniqueConstraint("token"),
        schema="curator",
    )
    _index("view_feeds", "user_id")


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns), schema="curator")
