"""Limits that an administrator gave to one person, and what was used of limits per time."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class QuotaLimitRow(Base):
    __tablename__ = "quota_limits"
    __table_args__ = ({"schema": "core"},)

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    most: Mapped[int] = mapped_column(Integer)


class QuotaUseRow(Base):
    """How much of a window is used; the window begins with the first use."""

    __tablename__ = "quota_uses"
    __table_args__ = ({"schema": "core"},)

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    used: Mapped[int] = mapped_column(Integer)
    ends_at: Mapped[datetime]
