"""Accounts, live changes, workflow progress and schedules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def upgrade() -> None:
    _create_accounts()
    _create_live()
    op.create_table(
        "schedules",
        sa.Column("schedule_id", sa.Text, primary_key=True),
        sa.Column("declared", postgresql.JSONB, nullable=False),
        sa.Column("applied_spec", postgresql.JSONB, nullable=False),
        sa.Column("applied_at", _TIME, server_default=_NOW, nullable=False),
        schema="core",
    )


def downgrade() -> None:
    for table in (
        "schedules",
        "workflow_progress",
        "changes",
        "rate_limits",
        "setup_links",
        "tokens",
        "sessions",
        "users",
    ):
        op.drop_table(table, schema="core")


def _create_accounts() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("name", sa.Text, server_default="", nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("language", sa.Text),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("disabled_at", _TIME),
        schema="core",
    )
    op.create_index("uq_users_email", "users", [sa.text("lower(email)")], unique=True, schema="core")
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("user_agent", sa.Text, server_default="", nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("last_seen_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        schema="core",
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("token_hash", sa.LargeBinary, unique=True, nullable=False),
        sa.Column("hint", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("last_used_at", _TIME),
        sa.Column("expires_at", _TIME),
        schema="core",
    )
    for table in ("sessions", "tokens"):
        op.create_index(f"ix_{table}_user_id", table, ["user_id"], schema="core")
        op.create_index(f"ix_{table}_expires_at", table, ["expires_at"], schema="core")
    op.create_table(
        "setup_links",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        schema="core",
    )
    op.create_table(
        "rate_limits",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        schema="core",
    )
    op.create_index("ix_rate_limits_expires_at", "rate_limits", ["expires_at"], schema="core")


def _create_live() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=sa.text("clock_timestamp()"), nullable=False),
        schema="core",
    )
    op.create_index("ix_changes_created_at", "changes", ["created_at"], schema="core")
    op.create_table(
        "workflow_progress",
        sa.Column("workflow_id", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("workflow_type", sa.Text, nullable=False),
        sa.Column("task_queue", sa.Text, nullable=False),
        sa.Column("parent_workflow_id", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("detail", postgresql.JSONB, nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("closed_at", _TIME),
        schema="core",
    )
    for columns in (["parent_workflow_id"], ["state", "updated_at"], ["started_at"]):
        op.create_index(f"ix_workflow_progress_{'_'.join(columns)}", "workflow_progress", columns, schema="core")
