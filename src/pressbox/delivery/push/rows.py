"""Browsers that get push messages, and the key by which push services know this instance."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, SmallInteger, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base

SCHEMA = {"schema": "core"}


class PushSubscriptionRow(Base):
    """One browser of one person. It ends with the session in which it was made."""

    __tablename__ = "push_subscriptions"
    __table_args__ = (Index(None, "user_id"), Index(None, "session_hash"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    # None where no session is: behind a proxy that says who it is, and in the open mode.
    session_hash: Mapped[bytes | None] = mapped_column(ForeignKey("core.sessions.token_hash", ondelete="CASCADE"))
    # A browser is known by the address that its push service gave it, and that is a secret: whoever has it can write.
    endpoint_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    # Of the push service, for its owner to recognise.
    host: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    # What the browser asked for, when its owner has chosen none.
    language: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())


class PushKeyRow(Base):
    """The key pair of this instance. There is one row: another key would cut off every browser."""

    __tablename__ = "push_keys"
    __table_args__ = (SCHEMA,)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    public_key: Mapped[str] = mapped_column(Text)
    sealed_private_key: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
