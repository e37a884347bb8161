"""The change log: what readers must hear of, in commit order, kept for an hour so that a browser can catch up."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base

CHANGES_CHANNEL = "pressbox_changes"
CHANGES_LOCK = 0x50_52_45_53_53  # "PRESS": an advisory lock of our own


class ChangeRow(Base):
    __tablename__ = "changes"
    __table_args__ = (Index(None, "created_at"), {"schema": "core"})

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    kind: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class ReaderRow(Base):
    """Up to where a part of the instance has worked through the change log."""

    __tablename__ = "change_readers"
    __table_args__ = ({"schema": "core"},)

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    read_up_to: Mapped[int] = mapped_column(BigInteger)
