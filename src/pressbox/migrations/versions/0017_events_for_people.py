"""A form that is sent twice makes one event; people are addressed in their language and time zone."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("events", sa.Column("request_key", sa.Text), schema="soonish")
    op.create_unique_constraint(
        "uq_events_organiser_id_request_key", "events", ["organiser_id", "request_key"], schema="soonish"
    )
    for name in ("language", "timezone"):
        column = sa.Column(name, sa.Text, server_default="", nullable=False)
        op.add_column("subscriptions", column, schema="soonish")
    occasion = sa.Column("occasion", JSONB, server_default=sa.text("'{}'::jsonb"), nullable=False)
    op.add_column("notifications", occasion, schema="soonish")


def downgrade() -> None:
    op.drop_column("notifications", "occasion", schema="soonish")
    op.drop_column("subscriptions", "timezone", schema="soonish")
    op.drop_column("subscriptions", "language", schema="soonish")
    op.drop_constraint("uq_events_organiser_id_request_key", "events", schema="soonish")
    op.drop_column("events", "request_key", schema="soonish")
