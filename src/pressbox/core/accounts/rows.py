"""People, their sessions and their tokens. Nothing here can be turned back into a password, a cookie or a token."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, LargeBinary, Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY
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


class SessionRow(Base):
    __tablename__ = "sessions"
    __table_args__ = (Index(None, "user_id"), Index(None, "expires_at"), {"schema": "core"})

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    user_agent: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]


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


class SetupLinkRow(Base):
    """The one-time link that makes the first administrator. At most one row."""

    __tablename__ = "setup_links"
    __table_args__ = ({"schema": "core"},)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]


class RateLimitRow(Base):
    """A counter per key and window, in the database because there may be several web processes."""

    __tablename__ = "rate_limits"
    __table_args__ = (Index(None, "expires_at"), {"schema": "core"})

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    count: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[datetime]
