"""What happened, who follows what, and who was told."""

from datetime import datetime, time

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, Text, Time, UniqueConstraint, false, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.db.words import words_index

SCHEMA = {"schema": "core"}


class NoticeRow(Base):
    """One thing that happened, as people read of it now. It is rewritten when more is known, and can be withdrawn."""

    __tablename__ = "notices"
    __table_args__ = (
        Index(None, "changed_at"),
        Index(None, "subject"),
        words_index("notices", "heading, title, detail"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    # What it is about, once: telling of it again changes this row.
    key: Mapped[str] = mapped_column(Text, unique=True)
    application: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    # The lines of one subject stand together, under this heading.
    subject: Mapped[str] = mapped_column(Text)
    heading: Mapped[str] = mapped_column(Text)
    # Whoever follows one of these hears of it, and nobody who muted one of them.
    followed: Mapped[list[str]] = mapped_column(ARRAY(Text))
    title: Mapped[str] = mapped_column(Text)
    detail: Mapped[str] = mapped_column(Text, server_default="")
    path: Mapped[str] = mapped_column(Text)
    picture: Mapped[str] = mapped_column(Text, server_default="")
    # What would be wrong to have told: when it changes, those who were written to are written to again.
    gist: Mapped[str] = mapped_column(Text, server_default="")
    # It tells a score. Who hides scores reads the covered sentences instead; their version rises when these change.
    spoiler: Mapped[bool] = mapped_column(server_default=false())
    covered_title: Mapped[str] = mapped_column(Text, server_default="")
    covered_detail: Mapped[str] = mapped_column(Text, server_default="")
    covered_version: Mapped[int] = mapped_column(Integer, server_default="1")
    # Told only to those who chose this kind; otherwise to all who chose no kinds as well.
    optional: Mapped[bool] = mapped_column(server_default=false())
    # The whole of it for a mail, where the title and the detail are only the short form.
    body: Mapped[str | None] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text, server_default="current")
    version: Mapped[int] = mapped_column(Integer, server_default="1")
    occurred_at: Mapped[datetime]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())


class NoticeVersionRow(Base):
    """What a notice that is a spoiler said from this moment on: who has a delay reads what it said so long ago."""

    __tablename__ = "notice_versions"
    __table_args__ = SCHEMA

    notice_id: Mapped[int] = mapped_column(ForeignKey("core.notices.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    detail: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(Text)
    picture: Mapped[str] = mapped_column(Text)
    gist: Mapped[str] = mapped_column(Text, server_default="")
    state: Mapped[str] = mapped_column(Text)
    changed_at: Mapped[datetime]


class FollowRow(Base):
    """Somebody wants to hear of a subject; while it is muted, of nothing that concerns it."""

    __tablename__ = "follows"
    __table_args__ = (Index(None, "subject"), SCHEMA)

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(Text)
    muted_at: Mapped[datetime | None]
    # Of which kinds of notices they hear. None: of those that are told by default.
    kinds: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    # How many seconds before what they follow begins they are reminded. None: as the application does by default.
    reminders: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))
    # In which zone they read times; empty: that of what they are told of.
    timezone: Mapped[str] = mapped_column(Text, server_default="")
    # So many minutes after others they hear of it.
    delay_minutes: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class InboxRow(Base):
    """Somebody was told of a notice, because they follow a subject of it. `reading.py` says what they may read."""

    __tablename__ = "inbox"
    __table_args__ = (
        Index(None, "notice_id"),
        Index("ix_inbox_unread", "user_id", postgresql_where=text("read_at IS NULL")),
        Index("ix_inbox_unread_again", "user_id", postgresql_where=text("unread_at IS NOT NULL")),
        SCHEMA,
    )

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    notice_id: Mapped[int] = mapped_column(ForeignKey("core.notices.id", ondelete="CASCADE"), primary_key=True)
    because: Mapped[str] = mapped_column(Text)
    read_at: Mapped[datetime | None]
    # Later than it was published where the follow has a delay.
    arrived_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # When this person may see it; None: not before they look at what it is about.
    visible_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    # When it is unread again, because what was taken back may not be known to this person before.
    unread_at: Mapped[datetime | None]


class NoticeWayRow(Base):
    """A way by which somebody wants notices beside the inbox: `account:5` is their mail, `channel:7` a channel."""

    __tablename__ = "notice_ways"
    __table_args__ = SCHEMA

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    channel_key: Mapped[str] = mapped_column(Text, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class QuietHoursRow(Base):
    """The hours in which what somebody follows waits, on the clocks of their zone."""

    __tablename__ = "quiet_hours"
    __table_args__ = SCHEMA

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    begins: Mapped[time] = mapped_column(Time)
    ends: Mapped[time] = mapped_column(Time)
    zone: Mapped[str] = mapped_column(Text)


class NoticeSendRow(Base):
    """The ledger of what leaves: one row per notice, person and way, and another for each correction.

    It is written with the notice and holds no text but what was told last: what is sent is read when it leaves.
    """

    __tablename__ = "notice_sends"
    __table_args__ = (
        UniqueConstraint("notice_id", "user_id", "channel_key", "step"),
        Index(None, "user_id", "notice_id"),
        Index("ix_notice_sends_waiting", "next_try_at", postgresql_where=text("state = 'pending'")),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    notice_id: Mapped[int] = mapped_column(ForeignKey("core.notices.id", ondelete="CASCADE"))
    # "account:5", "channel:7" or "push:3".
    channel_key: Mapped[str] = mapped_column(Text)
    # 1 is the notice itself, what follows are its corrections.
    step: Mapped[int] = mapped_column(Integer, server_default="1")
    state: Mapped[str] = mapped_column(Text, server_default="pending")
    reason: Mapped[str] = mapped_column(Text, server_default="")
    # Written before a try: what the person may have been told by it.
    told_version: Mapped[str | None] = mapped_column(Text)
    told_title: Mapped[str | None] = mapped_column(Text)
    told_gist: Mapped[str | None] = mapped_column(Text)
    told_state: Mapped[str | None] = mapped_column(Text)
    tries: Mapped[int] = mapped_column(Integer, server_default="0")
    # Set, and committed, before a try; cleared with its result. If it is still set after a crash, it may have arrived.
    trying_since: Mapped[datetime | None]
    maybe_twice: Mapped[bool] = mapped_column(server_default=false())
    # The round that may try it, until when, and the round whose try was the last.
    claimed_by: Mapped[str | None] = mapped_column(Text)
    claimed_until: Mapped[datetime | None]
    tried_by: Mapped[str | None] = mapped_column(Text)
    next_try_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
