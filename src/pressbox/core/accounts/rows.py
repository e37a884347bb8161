"""People, their sessions and their tokens. Nothing here can be turned back into a password, a cookie or a token."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, LargeBinary, Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class UserRow(Base):
    __tablename__ = "users"
    __table_args__ = (Index("uq_users_email", text("lower(email)"), unique=True), {"schema": "core"})

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    email: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text, server_default="")
    password_hash: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(Text)
    language: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    disabled_at: Mapped[datetime | None]
    # Nobody any more: the row stays for a day, without a name, while what they organised comes to its end.
    deleted_at: Mapped[datetime | None]


class SessionRow(Base):
    __tablename__ = "sessions"
    __table_args__ = (Index(None, "user_id"), Index(None, "expires_at"), {"schema": "core"})

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    user_agent: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    # How it began: a provider or a proxy answers for the second factor of those who come by it.
    proof: Mapped[str] = mapped_column(Text, server_default="password")
    # When its owner last showed that it is really them; lasting credentials need a recent one.
    proved_at: Mapped[datetime | None]


class DeviceRow(Base):
    """A browser in which somebody has signed in, known by a cookie of its own that outlives sessions."""

    __tablename__ = "devices"
    __table_args__ = (Index(None, "user_id"), Index(None, "last_seen_at"), {"schema": "core"})

    device_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())


class TokenRow(Base):
    __tablename__ = "tokens"
    __table_args__ = (Index(None, "user_id"), Index(None, "expires_at"), {"schema": "core"})

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    hint: Mapped[str] = mapped_column(Text)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    proved_at: Mapped[datetime | None]


class SetupLinkRow(Base):
    """The one-time link that makes the first administrator. At most one row."""

    __tablename__ = "setup_links"
    __table_args__ = ({"schema": "core"},)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]


class AccountLinkRow(Base):
    """A link that was mailed or handed to somebody: a new password, another e-mail address, an invitation."""

    __tablename__ = "account_links"
    __table_args__ = (Index(None, "user_id"), Index(None, "expires_at"), {"schema": "core"})

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    purpose: Mapped[str] = mapped_column(Text)
    # The address that the link confirms.
    email: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]


class AuditRow(Base):
    """What happened to accounts. It names people by number only, so that it can outlive them."""

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "at"), Index(None, "actor_id"), Index(None, "subject_id"), {"schema": "core"})

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    action: Mapped[str] = mapped_column(Text)
    actor_id: Mapped[int | None] = mapped_column(BigInteger)
    subject_id: Mapped[int | None] = mapped_column(BigInteger)
    address: Mapped[str] = mapped_column(Text, server_default="")
    agent: Mapped[str] = mapped_column(Text, server_default="")
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")


class PaceRow(Base):
    """When the next attempt from an unknown device may be made at an account: the more there are, the slower."""

    __tablename__ = "paces"
    __table_args__ = (Index(None, "expires_at"), {"schema": "core"})

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    count: Mapped[int] = mapped_column(Integer)
    free_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class RateLimitRow(Base):
    """A counter per key and window, in the database because there may be several web processes."""

    __tablename__ = "rate_limits"
    __table_args__ = (Index(None, "expires_at"), {"schema": "core"})

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    count: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[datetime]
