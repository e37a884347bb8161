"""Who wants scores hidden or later, and of what they looked at the score."""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, Text, func
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base

SCHEMA = {"schema": "core"}


class SpoilerChoiceRow(Base):
    """A person who wants scores hidden or later. Who has no row sees them at once."""

    __tablename__ = "spoiler_choices"
    __table_args__ = SCHEMA

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    mode: Mapped[str] = mapped_column(Text)
    minutes: Mapped[int | None] = mapped_column(Integer)


class GuardedSubjectRow(Base):
    """A match whose score can be hidden, with the names of its sides: titles of articles may tell it.

    The application that owns the subject keeps it; `changed_at` is when something new was last known of it.
    """

    __tablename__ = "spoiler_subjects"
    __table_args__ = SCHEMA

    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    home: Mapped[list[str]] = mapped_column(ARRAY(Text))
    away: Mapped[list[str]] = mapped_column(ARRAY(Text))
    changed_at: Mapped[datetime]


class RevealRow(Base):
    """Somebody looked at the score of this subject: it is hidden from them no more."""

    __tablename__ = "spoiler_reveals"
    __table_args__ = SCHEMA

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    revealed_at: Mapped[datetime] = mapped_column(server_default=func.now())
