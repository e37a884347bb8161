"""Limits per person: those of one person, and what is used of limits per time."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quota_limits",
        sa.Column("user_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("most", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "key", name="pk_quota_limits"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_quota_limits_user_id_users", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.create_table(
        "quota_uses",
        sa.Column("user_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("used", sa.Integer, nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "key", name="pk_quota_uses"),
        sa.ForeignKeyConstraint(["user_id"], ["core.users.id"], name="fk_quota_uses_user_id_users", ondelete="CASCADE"),
        schema="core",
    )


def downgrade() -> None:
    op.drop_table("quota_uses", schema="core")
    op.drop_table("quota_limits", schema="core")
