"""Who wants a digest and when the next one is due, and those that were sent."""

from datetime import datetime, time
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, SmallInteger, Text, Time
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.base import Base
from pressbox.core.notices.rows import NoticeRow

SCHEMA = {"schema": "core"}


class DigestRow(Base):
    """What a person chose. `covered_until` is up to where they were told: the next one begins there."""

    __tablename__ = "digests"
    __table_args__ = (
        CheckConstraint("rhythm IN ('off', 'daily', 'weekly')", name="rhythm"),
        CheckConstraint("weekday BETWEEN 0 AND 6", name="weekday"),
        Index(None, "due_at"),
        SCHEMA,
    )

    user_id: Mapped[int] = mapped_column(ForeignKey(UserRow.id, ondelete="CASCADE"), primary_key=True)
    rhythm: Mapped[str] = mapped_column(Text)
    weekday: Mapped[int] = mapped_column(SmallInteger)
    local_time: Mapped[time] = mapped_column(Time)
    zone: Mapped[str] = mapped_column(Text)
    # None while it is off.
    due_at: Mapped[datetime | None]
    covered_until: Mapped[datetime]
    # Of the one that is being written: another attempt writes about the same time.
    writing_until: Mapped[datetime | None]
    lease_owner: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime | None]


class DigestIssueRow(Base):
    """A digest that was sent. It goes when its notice goes."""

    __tablename__ = "digest_issues"
    __table_args__ = (Index(None, "notice_id"), SCHEMA)

    user_id: Mapped[int] = mapped_column(ForeignKey(UserRow.id, ondelete="CASCADE"), primary_key=True)
    # The instant at which it was due.
    period: Mapped[datetime] = mapped_column(primary_key=True)
    notice_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(NoticeRow.id, ondelete="CASCADE"))
    rhythm: Mapped[str] = mapped_column(Text)
    since: Mapped[datetime]
    until: Mapped[datetime]
    sections: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    sent_at: Mapped[datetime]
