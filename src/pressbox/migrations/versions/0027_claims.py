"""Claims with a lease on deliveries and signals, recipients that wait to be opened, and schedules for whole groups."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    for name, kind in (("claimed_by", sa.Text), ("claimed_until", _TIME), ("tried_by", sa.Text)):
        op.add_column("deliveries", sa.Column(name, kind), schema="soonish")
    op.create_index(
        "ix_deliveries_waiting",
        "deliveries",
        ["notification_id", "id"],
        schema="soonish",
        postgresql_where=sa.text("state = 'pending'"),
    )
    # What is there counts as opened without being rewritten; only those of messages under way are looked at.
    opened = sa.Column("opened", sa.Boolean, nullable=False, server_default=sa.text("true"))
    op.add_column("notification_recipients", opened, schema="soonish")
    op.alter_column("notification_recipients", "opened", server_default=sa.text("false"), schema="soonish")
    op.execute("""
        UPDATE soonish.notification_recipients AS recipient SET opened = false
        FROM soonish.notifications AS message
        WHERE message.id = recipient.notification_id AND message.finished_at IS NULL AND NOT EXISTS (
            SELECT FROM soonish.deliveries AS delivery
            WHERE delivery.notification_id = message.id AND delivery.subscription_id = recipient.subscription_id)
    """)
    op.create_index(
        "ix_notification_recipients_unopened",
        "notification_recipients",
        ["notification_id", "subscription_id"],
        schema="soonish",
        postgresql_where=sa.text("NOT opened"),
    )
    op.add_column("outbox", sa.Column("claimed_until", _TIME), schema="soonish")
    op.create_table(
        "reminder_groups",
        sa.Column("event_id", sa.BigInteger, nullable=False),
        sa.Column("offset_seconds", sa.Integer, nullable=False),
        sa.Column("start_date", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("event_id", "offset_seconds", name="pk_reminder_groups"),
        schema="soonish",
    )


def downgrade() -> None:
    op.drop_table("reminder_groups", schema="soonish")
    op.drop_column("outbox", "claimed_until", schema="soonish")
    op.drop_index("ix_notification_recipients_unopened", "notification_recipients", schema="soonish")
    op.drop_column("notification_recipients", "opened", schema="soonish")
    op.drop_index("ix_deliveries_waiting", "deliveries", schema="soonish")
    for name in ("tried_by", "claimed_until", "claimed_by"):
        op.drop_column("deliveries", name, schema="soonish")
