"""When an answer last said something new of a fixture, so that one that stands still leaves the live round."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "fixtures",
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        schema="footy",
    )
    op.execute("UPDATE footy.fixtures SET changed_at = coalesce(last_activity, created_at)")


def downgrade() -> None:
    op.drop_column("fixtures", "changed_at", schema="footy")
