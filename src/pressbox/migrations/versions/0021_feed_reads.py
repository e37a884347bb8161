"""When a whole feed was last read, so that a server that always says "not modified" is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("feed_state", sa.Column("last_read_at", sa.DateTime(timezone=True)), schema="curator")
    # Nobody knows any more: as if it were the last time that something new came.
    op.execute("UPDATE curator.feed_state SET last_read_at = coalesce(last_new_at, last_success_at)")


def downgrade() -> None:
    op.drop_column("feed_state", "last_read_at", schema="curator")
