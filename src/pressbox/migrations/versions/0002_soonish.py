"""Events, subscriptions, channels, messages and their deliveries."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_NO = sa.text("false")
_TABLES = (
    "asked_reminders",
    "invitations",
    "deliveries",
    "notification_recipients",
    "notifications",
    "too_late_reminders",
    "reminder_schedules",
    "reminder_offsets",
    "selectors",
    "subscriptions",
    "contacts",
    "channels",
    "outbox",
    "event_versions",
    "events",
)


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS soonish")
    _create_events()
    _create_addresses()
    _create_subscriptions()
    _create_reminders()
    _create_messages()


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table, schema="soonish")
    op.execute("DROP SCHEMA soonish")


def _create_events() -> None:
    op.create_table(
        "events",
        _key(),
        sa.Column("slug", sa.Text, unique=True, nullable=False),
        _reference("organiser_id", "core.users.id"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, server_default="", nullable=False),
        sa.Column("start_date", _TIME, nullable=False),
        sa.Column("end_date", _TIME),
        sa.Column("location", sa.Text, server_default="", nullable=False),
        sa.Column("timezone", sa.Text, nullable=False),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, server_default="1", nullable=False),
        _moment("created_at"),
        _moment("updated_at"),
        sa.Column("deleted_at", _TIME),
        schema="soonish",
    )
    _index("events", "organiser_id", "start_date")
    _index("events", "status", "start_date")
    op.create_table(
        "event_versions",
        _reference("event_id", "soonish.events.id", primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("facts", postgresql.JSONB, nullable=False),
        schema="soonish",
    )
    op.create_table(
        "outbox",
        _key(),
        sa.Column("event_id", sa.BigInteger, nullable=False),
        sa.Column("signal", sa.Text, nullable=False),
        sa.Column("payload", postgresql.JSONB, nullable=False),
        _moment("created_at"),
        sa.Column("told_at", _TIME),
        schema="soonish",
    )
    op.create_index(
        "ix_outbox_untold",
        "outbox",
        ["event_id", "id"],
        schema="soonish",
        postgresql_where=sa.text("told_at IS NULL"),
    )


def _create_addresses() -> None:
    op.create_table(
        "channels",
        _key(),
        _reference("user_id", "core.users.id"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.Text), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("is_active", sa.Boolean, server_default=sa.text("true"), nullable=False),
        sa.Column("encrypted_url", sa.LargeBinary, nullable=False),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("target", sa.LargeBinary, nullable=False),
        sa.Column("failures", sa.Integer, server_default="0", nullable=False),
        sa.Column("broken_at", _TIME),
        sa.Column("owner_told_at", _TIME),
        sa.Column("last_error", sa.Text, server_default="", nullable=False),
        _moment("created_at"),
        schema="soonish",
    )
    _index("channels", "user_id")
    op.create_table(
        "contacts",
        _key(),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("encrypted_address", sa.LargeBinary, nullable=False),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("target", sa.LargeBinary, unique=True, nullable=False),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("verified_at", _TIME),
        sa.Column("failures", sa.Integer, server_default="0", nullable=False),
        sa.Column("broken_at", _TIME),
        _moment("created_at"),
        schema="soonish",
    )


def _create_subscriptions() -> None:
    op.create_table(
        "subscriptions",
        _key(),
        _reference("event_id", "soonish.events.id"),
        _reference("user_id", "core.users.id", nullable=True),
        _reference("contact_id", "soonish.contacts.id", nullable=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("own_offsets", sa.Boolean, server_default=_NO, nullable=False),
        sa.Column("organiser_only", sa.Boolean, server_default=_NO, nullable=False),
        sa.Column("confirm_until", _TIME),
        _moment("created_at"),
        _moment("changed_at"),
        sa.CheckConstraint("(user_id IS NULL) <> (contact_id IS NULL)", name="one_subscriber"),
        sa.UniqueConstraint("event_id", "user_id"),
        sa.UniqueConstraint("event_id", "contact_id"),
        schema="soonish",
    )
    _index("subscriptions", "event_id", "state")
    _index("subscriptions", "user_id")
    op.create_table(
        "selectors",
        _key(),
        _reference("subscription_id", "soonish.subscriptions.id"),
        _reference("channel_id", "soonish.channels.id", nullable=True),
        sa.Column("tag", sa.Text),
        sa.CheckConstraint("(channel_id IS NULL) <> (tag IS NULL)", name="one_choice"),
        schema="soonish",
    )
    _index("selectors", "subscription_id")
    op.create_table(
        "invitations",
        _key(),
        _reference("event_id", "soonish.events.id"),
        sa.Column("token_hash", sa.LargeBinary, unique=True, nullable=False),
        _moment("created_at"),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.Column("revoked_at", _TIME),
        schema="soonish",
    )
    _index("invitations", "event_id")


def _create_reminders() -> None:
    op.create_table(
        "reminder_offsets",
        _reference("subscription_id", "soonish.subscriptions.id", primary_key=True),
        sa.Column("offset_seconds", sa.Integer, primary_key=True),
        schema="soonish",
    )
    op.create_table(
        "reminder_schedules",
        sa.Column("subscription_id", sa.BigInteger, primary_key=True),
        sa.Column("offset_seconds", sa.Integer, primary_key=True),
        sa.Column("event_id", sa.BigInteger, nullable=False),
        sa.Column("start_date", _TIME, nullable=False),
        schema="soonish",
    )
    _index("reminder_schedules", "event_id")
    op.create_table(
        "too_late_reminders",
        _reference("subscription_id", "soonish.subscriptions.id", primary_key=True),
        sa.Column("offset_seconds", sa.Integer, primary_key=True),
        _moment("noted_at"),
        schema="soonish",
    )
    op.create_table(
        "asked_reminders",
        _key(),
        _reference("subscription_id", "soonish.subscriptions.id"),
        sa.Column("fire_at", _TIME, nullable=False),
        _moment("created_at"),
        sa.Column("started_at", _TIME),
        sa.Column("cancelled_at", _TIME),
        sa.Column("outcome", sa.Text, server_default="", nullable=False),
        schema="soonish",
    )
    _index("asked_reminders", "subscription_id")


def _create_messages() -> None:
    op.create_table(
        "notifications",
        _key(),
        _reference("event_id", "soonish.events.id"),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("changes", postgresql.JSONB, server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("created_by", sa.BigInteger),
        _moment("created_at"),
        sa.Column("finished_at", _TIME),
        sa.Column("cancelled_at", _TIME),
        sa.UniqueConstraint("event_id", "cause", "version"),
        schema="soonish",
    )
    _index("notifications", "event_id", "created_at")
    op.create_table(
        "notification_recipients",
        _reference("notification_id", "soonish.notifications.id", primary_key=True),
        sa.Column("subscription_id", sa.BigInteger, primary_key=True),
        schema="soonish",
    )
    op.create_table(
        "deliveries",
        _key(),
        _reference("notification_id", "soonish.notifications.id"),
        sa.Column("event_id", sa.BigInteger, nullable=False),
        sa.Column("subscription_id", sa.BigInteger, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("channel_key", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, server_default="", nullable=False),
        sa.Column("rule", sa.Text, server_default="", nullable=False),
        sa.Column("tries", sa.Integer, server_default="0", nullable=False),
        sa.Column("trying_since", _TIME),
        sa.Column("maybe_twice", sa.Boolean, server_default=_NO, nullable=False),
        sa.Column("next_try_at", _TIME),
        _moment("created_at"),
        sa.Column("finished_at", _TIME),
        sa.UniqueConstraint("subscription_id", "cause", "version", "channel_key"),
        schema="soonish",
    )
    _index("deliveries", "notification_id", "state")
    _index("deliveries", "event_id", "created_at")


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger, primary_key=True)


def _moment(name: str) -> sa.Column[datetime]:
    return sa.Column(name, _TIME, server_default=_NOW, nullable=False)


def _reference(name: str, to: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column[int]:
    return sa.Column(
        name, sa.BigInteger, sa.ForeignKey(to, ondelete="CASCADE"), nullable=nullable, primary_key=primary_key
    )


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns), schema="soonish")
