"""How many minutes later than others somebody hears of what they follow."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "follows",
        sa.Column("delay_minutes", sa.Integer, nullable=False, server_default=sa.text("0")),
        schema="core",
    )


def downgrade() -> None:
    op.drop_column("follows", "delay_minutes", schema="core")
