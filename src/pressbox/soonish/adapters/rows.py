"""The tables of soonish. Integer keys inside Temporal ids, random slugs and tokens in addresses."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.db.words import words_index

SCHEMA = {"schema": "soonish"}


class EventRow(Base):
    __tablename__ = "events"
    __table_args__ = (
        Index(None, "organiser_id", "start_date"),
        Index(None, "status", "start_date"),
        Index(None, "end_date", postgresql_where=text("end_date IS NOT NULL")),
        words_index("events", "name, location, description"),
        UniqueConstraint("organiser_id", "request_key"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    slug: Mapped[str] = mapped_column(Text, unique=True)
    # None: the instance itself keeps it, for what people follow (`subject`).
    organiser_id: Mapped[int | None] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    subject: Mapped[str | None] = mapped_column(Text, unique=True)
    # The page of that subject.
    subject_path: Mapped[str] = mapped_column(Text, server_default="")
    # Whoever follows one of these is subscribed to it, and hears nothing of it while one of them is muted.
    followed: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'::text[]"))
    name: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, server_default="")
    start_date: Mapped[datetime]
    end_date: Mapped[datetime | None]
    location: Mapped[str] = mapped_column(Text, server_default="")
    timezone: Mapped[str] = mapped_column(Text)
    visibility: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    # Rises with every change that people see: version of update messages, SEQUENCE of the calendar.
    version: Mapped[int] = mapped_column(Integer, server_default="1")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # Makes a form that is sent twice the same event.
    request_key: Mapped[str | None] = mapped_column(Text)
    # Hidden from everybody; the row stays until its messages are finished and their links are old.
    deleted_at: Mapped[datetime | None]


class EventVersionRow(Base):
    """What the event said at each version, so that several edits can become one message, old → new."""

    __tablename__ = "event_versions"
    __table_args__ = (SCHEMA,)

    event_id: Mapped[int] = mapped_column(ForeignKey("soonish.events.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True)
    facts: Mapped[dict[str, Any]] = mapped_column(JSONB)


class OutboxRow(Base):
    """A signal for an event's workflow, written with the change itself; sent after the commit, or by the sweep."""

    __tablename__ = "outbox"
    __table_args__ = (Index("ix_outbox_untold", "event_id", "id", postgresql_where=text("told_at IS NULL")), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[int] = mapped_column(BigInteger)
    signal: Mapped[str] = mapped_column(Text)
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    told_at: Mapped[datetime | None]
    # Until when somebody is telling it.
    claimed_until: Mapped[datetime | None]


class SubscriptionRow(Base):
    __tablename__ = "subscriptions"
    __table_args__ = (
        CheckConstraint("(user_id IS NULL) <> (contact_id IS NULL)", name="one_subscriber"),
        UniqueConstraint("event_id", "user_id"),
        UniqueConstraint("event_id", "contact_id"),
        Index(None, "event_id", "state"),
        Index(None, "user_id"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[int] = mapped_column(ForeignKey("soonish.events.id", ondelete="CASCADE"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    contact_id: Mapped[int | None] = mapped_column(ForeignKey("soonish.contacts.id", ondelete="CASCADE"))
    state: Mapped[str] = mapped_column(Text)
    # False: the default offsets. True: the rows of reminder_offsets, of which there may be none.
    own_offsets: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    # Made with the event so that its organiser is told of the creation; it gets nothing else until they subscribe.
    organiser_only: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    # It came with something that its holder follows, and ends with it.
    by_follow: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    # Its holder has muted it, left it or changed it since: what they chose stays.
    own_choice: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    # How this person is addressed; an account's own language comes first. Empty: English, and the event's zone.
    language: Mapped[str] = mapped_column(Text, server_default="")
    timezone: Mapped[str] = mapped_column(Text, server_default="")
    # Until when an unconfirmed address can be confirmed by the link in its one mail.
    confirm_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SelectorRow(Base):
    __tablename__ = "selectors"
    __table_args__ = (
        CheckConstraint("(channel_id IS NULL) <> (tag IS NULL)", name="one_choice"),
        Index(None, "subscription_id"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    subscription_id: Mapped[int] = mapped_column(ForeignKey("soonish.subscriptions.id", ondelete="CASCADE"))
    channel_id: Mapped[int | None] = mapped_column(ForeignKey("soonish.channels.id", ondelete="CASCADE"))
    tag: Mapped[str | None] = mapped_column(Text)


class ReminderOffsetRow(Base):
    __tablename__ = "reminder_offsets"
    __table_args__ = (SCHEMA,)

    subscription_id: Mapped[int] = mapped_column(
        ForeignKey("soonish.subscriptions.id", ondelete="CASCADE"), primary_key=True
    )
    offset_seconds: Mapped[int] = mapped_column(Integer, primary_key=True)


class ReminderScheduleRow(Base):
    """A schedule that exists in Temporal, and the start for which it was made."""

    __tablename__ = "reminder_schedules"
    __table_args__ = (Index(None, "event_id"), SCHEMA)

    subscription_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    offset_seconds: Mapped[int] = mapped_column(Integer, primary_key=True)
    event_id: Mapped[int] = mapped_column(BigInteger)
    start_date: Mapped[datetime]


class ReminderGroupRow(Base):
    """A schedule in Temporal for everybody of a large event who chose one offset, and the start it was made for."""

    __tablename__ = "reminder_groups"
    __table_args__ = (SCHEMA,)

    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    offset_seconds: Mapped[int] = mapped_column(Integer, primary_key=True)
    start_date: Mapped[datetime]


class TooLateRow(Base):
    """A reminder whose time had passed when it was planned, so that its subscriber can be told."""

    __tablename__ = "too_late_reminders"
    __table_args__ = (SCHEMA,)

    subscription_id: Mapped[int] = mapped_column(
        ForeignKey("soonish.subscriptions.id", ondelete="CASCADE"), primary_key=True
    )
    offset_seconds: Mapped[int] = mapped_column(Integer, primary_key=True)
    noted_at: Mapped[datetime] = mapped_column(server_default=func.now())


class NotificationRow(Base):
    """A message with its cause and text. Its recipients are fixed when it is accepted."""

    __tablename__ = "notifications"
    __table_args__ = (UniqueConstraint("event_id", "cause", "version"), Index(None, "event_id", "created_at"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[int] = mapped_column(ForeignKey("soonish.events.id", ondelete="CASCADE"))
    cause: Mapped[str] = mapped_column(Text)
    # Makes a repeated acceptance the same message: the event's version, or an id of the caller.
    version: Mapped[str] = mapped_column(Text)
    level: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    changes: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    # What the text is written from, in the language of each recipient; empty for what an organiser wrote.
    occasion: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'::jsonb"))
    created_by: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # Set when every delivery is final, or when an organiser stopped it.
    finished_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]


class RecipientRow(Base):
    """A recipient of a message, fixed when the message was accepted; opened when the deliveries are written."""

    __tablename__ = "notification_recipients"
    __table_args__ = (
        Index(
            "ix_notification_recipients_unopened",
            "notification_id",
            "subscription_id",
            postgresql_where=text("NOT opened"),
        ),
        SCHEMA,
    )

    notification_id: Mapped[int] = mapped_column(
        ForeignKey("soonish.notifications.id", ondelete="CASCADE"), primary_key=True
    )
    subscription_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    opened: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))


class DeliveryRow(Base):
    """The ledger: one row per message, person and channel, written before anything is sent."""

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("subscription_id", "cause", "version", "channel_key"),
        Index(None, "notification_id", "state"),
        Index(None, "event_id", "created_at"),
        Index("ix_deliveries_waiting", "notification_id", "id", postgresql_where=text("state = 'pending'")),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("soonish.notifications.id", ondelete="CASCADE"))
    event_id: Mapped[int] = mapped_column(BigInteger)
    subscription_id: Mapped[int] = mapped_column(BigInteger)
    cause: Mapped[str] = mapped_column(Text)
    version: Mapped[str] = mapped_column(Text)
    # "channel:7", "contact:3" or "none" when there was no usable channel.
    channel_key: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text, server_default="")
    rule: Mapped[str] = mapped_column(Text, server_default="")
    tries: Mapped[int] = mapped_column(Integer, server_default="0")
    # Those from before somebody had it sent again.
    earlier_tries: Mapped[int] = mapped_column(Integer, server_default="0")
    # Set, and committed, before a try; cleared with its result. If it is still set after a crash, the try may have
    # arrived.
    trying_since: Mapped[datetime | None]
    # A try was cut off and repeated, so the person may have got it twice.
    maybe_twice: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    # The round that may try it, until when, and the round whose try was the last.
    claimed_by: Mapped[str | None] = mapped_column(Text)
    claimed_until: Mapped[datetime | None]
    tried_by: Mapped[str | None] = mapped_column(Text)
    next_try_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class InvitationRow(Base):
    __tablename__ = "invitations"
    __table_args__ = (Index(None, "event_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[int] = mapped_column(ForeignKey("soonish.events.id", ondelete="CASCADE"))
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class RequestedReminderRow(Base):
    """ "Remind me in 2 hours", once."""

    __tablename__ = "asked_reminders"
    __table_args__ = (Index(None, "subscription_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    subscription_id: Mapped[int] = mapped_column(ForeignKey("soonish.subscriptions.id", ondelete="CASCADE"))
    fire_at: Mapped[datetime]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # When its workflow was started; a sweep starts those that a crash left behind.
    started_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(Text, server_default="")
