"""What happened, what people follow, and what each of them was told."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def _moment(name: str, *, nullable: bool = False, now: bool = False) -> sa.Column[datetime]:
    default = sa.text("now()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default)


def upgrade() -> None:
    op.create_table(
        "notices",
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("application", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("heading", sa.Text, nullable=False),
        sa.Column("followed", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False, server_default=""),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("picture", sa.Text, nullable=False, server_default=""),
        sa.Column("state", sa.Text, nullable=False, server_default="current"),
        sa.Column("version", sa.Integer, nullable=False, server_default="1"),
        _moment("occurred_at"),
        _moment("created_at", now=True),
        _moment("changed_at", now=True),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sa.UniqueConstraint("key", name="uq_notices_key"),
        schema="core",
    )
    op.create_index("ix_notices_changed_at", "notices", ["changed_at"], schema="core")
    op.create_table(
        "follows",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        _moment("muted_at", nullable=True),
        _moment("created_at", now=True),
        sa.PrimaryKeyConstraint("user_id", "subject", name="pk_follows"),
        sa.ForeignKeyConstraint(["user_id"], ["core.users.id"], name="fk_follows_user_id_users", ondelete="CASCADE"),
        schema="core",
    )
    op.create_index("ix_follows_subject", "follows", ["subject"], schema="core")
    op.create_table(
        "inbox",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("notice_id", sa.BigInteger, nullable=False),
        sa.Column("because", sa.Text, nullable=False),
        _moment("read_at", nullable=True),
        _moment("arrived_at", now=True),
        sa.PrimaryKeyConstraint("user_id", "notice_id", name="pk_inbox"),
        sa.ForeignKeyConstraint(["user_id"], ["core.users.id"], name="fk_inbox_user_id_users", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["notice_id"], ["core.notices.id"], name="fk_inbox_notice_id_notices", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.create_index("ix_inbox_notice_id", "inbox", ["notice_id"], schema="core")
    op.create_index("ix_inbox_unread", "inbox", ["user_id"], schema="core", postgresql_where=sa.text("read_at IS NULL"))


def downgrade() -> None:
    for table in ("inbox", "follows", "notices"):
        op.drop_table(table, schema="core")
