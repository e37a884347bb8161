"""Browsers that get push messages, and the key by which push services know this instance."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def _moment(name: str) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()"))


def upgrade() -> None:
    op.create_table(
        "push_subscriptions",
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("session_hash", sa.LargeBinary),
        sa.Column("endpoint_hash", sa.LargeBinary, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        _moment("created_at"),
        _moment("changed_at"),
        sa.PrimaryKeyConstraint("id", name="pk_push_subscriptions"),
        sa.UniqueConstraint("endpoint_hash", name="uq_push_subscriptions_endpoint_hash"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_push_subscriptions_user_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["session_hash"],
            ["core.sessions.token_hash"],
            name="fk_push_subscriptions_session_hash_sessions",
            ondelete="CASCADE",
        ),
        schema="core",
    )
    for column in ("user_id", "session_hash"):
        op.create_index(f"ix_push_subscriptions_{column}", "push_subscriptions", [column], schema="core")
    op.create_table(
        "push_keys",
        sa.Column("id", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("sealed_private_key", sa.LargeBinary, nullable=False),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_push_keys"),
        schema="core",
    )


def downgrade() -> None:
    op.drop_table("push_keys", schema="core")
    op.drop_table("push_subscriptions", schema="core")
