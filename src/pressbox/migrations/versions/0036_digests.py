"""Digests: what people chose, when the next one is due, and those that were sent."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def _moment(name: str, *, nullable: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.add_column("notices", sa.Column("body", sa.Text), schema="core")
    op.create_table(
        "digests",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("rhythm", sa.Text, nullable=False),
        sa.Column("weekday", sa.SmallInteger, nullable=False),
        sa.Column("local_time", sa.Time, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        _moment("due_at", nullable=True),
        _moment("covered_until"),
        _moment("writing_until", nullable=True),
        sa.Column("lease_owner", sa.Text),
        _moment("lease_until", nullable=True),
        sa.PrimaryKeyConstraint("user_id", name="pk_digests"),
        sa.ForeignKeyConstraint(["user_id"], ["core.users.id"], name="fk_digests_user_id_users", ondelete="CASCADE"),
        sa.CheckConstraint("rhythm IN ('off', 'daily', 'weekly')", name="ck_digests_rhythm"),
        sa.CheckConstraint("weekday BETWEEN 0 AND 6", name="ck_digests_weekday"),
        schema="core",
    )
    op.create_index("ix_digests_due_at", "digests", ["due_at"], schema="core")
    op.create_table(
        "digest_issues",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        _moment("period"),
        sa.Column("notice_id", sa.BigInteger, nullable=False),
        sa.Column("rhythm", sa.Text, nullable=False),
        _moment("since"),
        _moment("until"),
        sa.Column("sections", postgresql.JSONB, nullable=False),
        _moment("sent_at"),
        sa.PrimaryKeyConstraint("user_id", "period", name="pk_digest_issues"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_digest_issues_user_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["notice_id"], ["core.notices.id"], name="fk_digest_issues_notice_id_notices", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.create_index("ix_digest_issues_notice_id", "digest_issues", ["notice_id"], schema="core")


def downgrade() -> None:
    for table in ("digest_issues", "digests"):
        op.drop_table(table, schema="core")
    op.drop_column("notices", "body", schema="core")
