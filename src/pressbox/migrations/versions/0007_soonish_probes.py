"""When a broken channel or address is tried again; those that are broken now with the next message."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TABLES = ("channels", "contacts")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column("probe_at", sa.DateTime(timezone=True)), schema="soonish")
    op.execute("UPDATE soonish.channels SET probe_at = now() WHERE broken_at IS NOT NULL")
    op.execute("UPDATE soonish.contacts SET probe_at = now() WHERE broken_at IS NOT NULL")


def downgrade() -> None:
    for table in _TABLES:
        op.drop_column(table, "probe_at", schema="soonish")
