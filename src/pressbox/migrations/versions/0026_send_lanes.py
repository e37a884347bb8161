"""When the next message may leave for each host, service and target, shared by all processes."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "send_lanes",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("free_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("blocked_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_send_lanes"),
        schema="soonish",
    )


def downgrade() -> None:
    op.drop_table("send_lanes", schema="soonish")
