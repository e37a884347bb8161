"""Where a feed moved to."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("feeds", sa.Column("moved_to_id", sa.BigInteger), schema="curator")
    op.create_foreign_key(
        op.f("fk_feeds_moved_to_id_feeds"),
        "feeds",
        "feeds",
        ["moved_to_id"],
        ["id"],
        source_schema="curator",
        referent_schema="curator",
        ondelete="SET NULL",
    )


def downgrade() -> None:
    op.drop_column("feeds", "moved_to_id", schema="curator")
