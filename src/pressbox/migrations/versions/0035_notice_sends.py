"""The ways by which people want notices, and the ledger of what left by them."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def _moment(name: str, *, nullable: bool = False, now: bool = False) -> sa.Column[datetime]:
    default = sa.text("now()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default)


def upgrade() -> None:
    for table in ("notices", "notice_versions"):
        op.add_column(table, sa.Column("gist", sa.Text, nullable=False, server_default=""), schema="core")
    op.execute("UPDATE core.notices SET gist = title")
    op.execute("UPDATE core.notice_versions SET gist = title")
    op.create_table(
        "notice_ways",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("channel_key", sa.Text, nullable=False),
        _moment("created_at", now=True),
        sa.PrimaryKeyConstraint("user_id", "channel_key", name="pk_notice_ways"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_notice_ways_user_id_users", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.create_table(
        "notice_sends",
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("notice_id", sa.BigInteger, nullable=False),
        sa.Column("channel_key", sa.Text, nullable=False),
        sa.Column("step", sa.Integer, nullable=False, server_default="1"),
        sa.Column("state", sa.Text, nullable=False, server_default="pending"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("told_version", sa.Text, nullable=True),
        sa.Column("told_title", sa.Text, nullable=True),
        sa.Column("told_gist", sa.Text, nullable=True),
        sa.Column("told_state", sa.Text, nullable=True),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        _moment("trying_since", nullable=True),
        sa.Column("maybe_twice", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("claimed_by", sa.Text, nullable=True),
        _moment("claimed_until", nullable=True),
        sa.Column("tried_by", sa.Text, nullable=True),
        _moment("next_try_at", now=True),
        _moment("created_at", now=True),
        _moment("finished_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notice_sends"),
        sa.UniqueConstraint(
            "notice_id", "user_id", "channel_key", "step", name="uq_notice_sends_notice_id_user_id_channel_key_step"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_notice_sends_user_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["notice_id"], ["core.notices.id"], name="fk_notice_sends_notice_id_notices", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.create_index("ix_notice_sends_user_id_notice_id", "notice_sends", ["user_id", "notice_id"], schema="core")
    op.create_index(
        "ix_notice_sends_waiting",
        "notice_sends",
        ["next_try_at"],
        schema="core",
        postgresql_where=sa.text("state = 'pending'"),
    )


def downgrade() -> None:
    op.drop_table("notice_sends", schema="core")
    op.drop_table("notice_ways", schema="core")
    for table in ("notice_versions", "notices"):
        op.drop_column(table, "gist", schema="core")
