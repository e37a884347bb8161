"""Addresses of calendars that can be revoked. Those that people have already keep working."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calendar_links",
        sa.Column(
            "user_id",
            sa.BigInteger,
            sa.ForeignKey("core.users.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        schema="soonish",
    )
    # An address without a generation is one of generation 0.
    op.execute("INSERT INTO soonish.calendar_links (user_id, generation) SELECT id, 0 FROM core.users")
    op.add_column("users", sa.Column("deleted_at", sa.DateTime(timezone=True)), schema="core")


def downgrade() -> None:
    op.drop_column("users", "deleted_at", schema="core")
    op.drop_table("calendar_links", schema="soonish")
