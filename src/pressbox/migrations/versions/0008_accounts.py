"""Proofs of sessions and tokens, known devices, account links, the audit log, and the pace of attempts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def upgrade() -> None:
    for table in ("sessions", "tokens"):
        op.add_column(table, sa.Column("proved_at", _TIME), schema="core")
    op.create_table(
        "devices",
        sa.Column("device_hash", sa.LargeBinary, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("last_seen_at", _TIME, server_default=_NOW, nullable=False),
        schema="core",
    )
    op.create_table(
        "account_links",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("user_id", sa.BigInteger, sa.ForeignKey("core.users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("email", sa.Text),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        schema="core",
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("actor_id", sa.BigInteger),
        sa.Column("subject_id", sa.BigInteger),
        sa.Column("address", sa.Text, server_default="", nullable=False),
        sa.Column("agent", sa.Text, server_default="", nullable=False),
        sa.Column("detail", postgresql.JSONB, server_default="{}", nullable=False),
        schema="core",
    )
    op.create_table(
        "paces",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("free_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        schema="core",
    )
    for table, columns in _INDEXES.items():
        for column in columns:
            op.create_index(f"ix_{table}_{column}", table, [column], schema="core")


def downgrade() -> None:
    for table in ("paces", "audit_log", "account_links", "devices"):
        op.drop_table(table, schema="core")
    for table in ("sessions", "tokens"):
        op.drop_column(table, "proved_at", schema="core")


_INDEXES = {
    "devices": ("user_id", "last_seen_at"),
    "account_links": ("user_id", "expires_at"),
    "audit_log": ("at", "actor_id", "subject_id"),
    "paces": ("expires_at",),
}
