"""When a feed was read for the first time, so that nobody is told of what it had then."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("feed_state", sa.Column("first_read_at", sa.DateTime(timezone=True)), schema="curator")


def downgrade() -> None:
    op.drop_column("feed_state", "first_read_at", schema="curator")
