"""Marks that phones made without network and sent later, by their keys."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "offline_marks",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.PrimaryKeyConstraint("user_id", "key", name="pk_offline_marks"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_offline_marks_user_id_users", ondelete="CASCADE"
        ),
        schema="curator",
    )


def downgrade() -> None:
    op.drop_table("offline_marks", schema="curator")
