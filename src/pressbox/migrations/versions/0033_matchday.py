"""Events of the instance itself for what people follow, kinds of notices by choice, and readers of the change log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_NO = sa.text("false")


def upgrade() -> None:
    op.add_column("follows", sa.Column("kinds", postgresql.ARRAY(sa.Text)), schema="core")
    op.add_column("follows", sa.Column("reminders", postgresql.ARRAY(sa.Integer)), schema="core")
    op.add_column("follows", sa.Column("timezone", sa.Text, nullable=False, server_default=""), schema="core")
    op.add_column("notices", sa.Column("optional", sa.Boolean, nullable=False, server_default=_NO), schema="core")
    op.create_table(
        "change_readers",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("read_up_to", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_change_readers"),
        schema="core",
    )
    op.alter_column("events", "organiser_id", nullable=True, schema="soonish")
    op.add_column("events", sa.Column("subject", sa.Text), schema="soonish")
    op.add_column("events", sa.Column("subject_path", sa.Text, nullable=False, server_default=""), schema="soonish")
    op.create_unique_constraint("uq_events_subject", "events", ["subject"], schema="soonish")
    for name in ("by_follow", "own_choice"):
        column = sa.Column(name, sa.Boolean, nullable=False, server_default=_NO)
        op.add_column("subscriptions", column, schema="soonish")


def downgrade() -> None:
    for name in ("own_choice", "by_follow"):
        op.drop_column("subscriptions", name, schema="soonish")
    op.execute("DELETE FROM soonish.events WHERE organiser_id IS NULL")
    op.drop_constraint("uq_events_subject", "events", schema="soonish")
    op.drop_column("events", "subject_path", schema="soonish")
    op.drop_column("events", "subject", schema="soonish")
    op.alter_column("events", "organiser_id", nullable=False, schema="soonish")
    op.drop_table("change_readers", schema="core")
    op.drop_column("notices", "optional", schema="core")
    for name in ("timezone", "reminders", "kinds"):
        op.drop_column("follows", name, schema="core")
