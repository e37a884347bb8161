"""Where people are reached, and the pace of what leaves. The tables keep the schema in which they were made."""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, LargeBinary, Text, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base

SCHEMA = {"schema": "soonish"}


class ChannelRow(Base):
    """An Apprise URL of a person. The URL is a credential: encrypted, never shown again."""

    __tablename__ = "channels"
    __table_args__ = (Index(None, "user_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'::text[]"))
    is_active: Mapped[bool] = mapped_column(Boolean, server_default=text("true"))
    encrypted_url: Mapped[bytes] = mapped_column(LargeBinary)
    key_id: Mapped[str] = mapped_column(Text)
    # What may be shown: the name of the service.
    kind: Mapped[str] = mapped_column(Text)
    # A keyed hash of the URL: two channels to the same place are one target.
    target: Mapped[bytes] = mapped_column(LargeBinary)
    failures: Mapped[int] = mapped_column(Integer, server_default="0")
    broken_at: Mapped[datetime | None]
    # While it is broken: from when the next message tries whether it works again.
    probe_at: Mapped[datetime | None]
    owner_told_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ContactRow(Base):
    """Somebody without an account: a confirmed e-mail address, or an Apprise URL."""

    __tablename__ = "contacts"
    __table_args__ = (UniqueConstraint("target"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    # "email" or the scheme of the Apprise URL.
    kind: Mapped[str] = mapped_column(Text)
    encrypted_address: Mapped[bytes] = mapped_column(LargeBinary)
    key_id: Mapped[str] = mapped_column(Text)
    target: Mapped[bytes] = mapped_column(LargeBinary)
    # What the organiser may see of it: a***@example.org, or the name of the service.
    shown: Mapped[str] = mapped_column(Text)
    verified_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(Integer, server_default="0")
    broken_at: Mapped[datetime | None]
    # While it is broken: from when the next message tries whether it works again.
    probe_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SendLaneRow(Base):
    """When the next message may leave for one host, service or target; shared by all processes."""

    __tablename__ = "send_lanes"
    __table_args__ = (SCHEMA,)

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    free_at: Mapped[datetime]
    blocked_until: Mapped[datetime]
