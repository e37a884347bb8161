"""What an event that the instance keeps comes from, so that who mutes it is left in peace at once."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    none = sa.text("'{}'::text[]")
    op.add_column(
        "events",
        sa.Column("followed", postgresql.ARRAY(sa.Text), nullable=False, server_default=none),
        schema="soonish",
    )


def downgrade() -> None:
    op.drop_column("events", "followed", schema="soonish")
