"""Tries of a delivery from before it was sent again."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("earlier_tries", sa.Integer, server_default="0", nullable=False)
    op.add_column("deliveries", column, schema="soonish")


def downgrade() -> None:
    op.drop_column("deliveries", "earlier_tries", schema="soonish")
