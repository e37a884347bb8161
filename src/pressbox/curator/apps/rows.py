"""The tables of people's own apps: passwords made for one app, what apps signed in with, feeds out of a view."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class AppPasswordRow(Base):
    """A password for one app. It opens the reader's API and nothing else; only its hash is kept."""

    __tablename__ = "app_passwords"
    __table_args__ = (UniqueConstraint("user_id", "name"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)
    # How the password begins: tells which one is meant, so that only one hash is computed.
    hint: Mapped[str] = mapped_column(Text)
    password_hash: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


class AppTokenRow(Base):
    """What an app got for its password. It ends with the password."""

    __tablename__ = "app_tokens"
    __table_args__ = (SCHEMA,)

    digest: Mapped[str] = mapped_column(Text, primary_key=True)
    app_password_id: Mapped[int] = mapped_column(ForeignKey("curator.app_passwords.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


class ViewFeedRow(Base):
    """A view of a person as a feed, behind an address that only they know."""

    __tablename__ = "view_feeds"
    __table_args__ = (SCHEMA,)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), index=True)
    token: Mapped[str] = mapped_column(Text, unique=True)
    view: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]
