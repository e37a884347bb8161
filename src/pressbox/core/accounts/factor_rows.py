"""Second factors, passkeys, people known elsewhere, and what a browser has begun and not finished."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class AuthenticatorAppRow(Base):
    """The secret of an authenticator app, sealed. It counts once a first code has confirmed it."""

    __tablename__ = "authenticator_apps"
    __table_args__ = ({"schema": "core"},)

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    # The step of the last code that was accepted: none is accepted twice.
    last_step: Mapped[int] = mapped_column(BigInteger, server_default="0")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    confirmed_at: Mapped[datetime | None]


class RecoveryCodeRow(Base):
    __tablename__ = "recovery_codes"
    __table_args__ = ({"schema": "core"},)

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    used_at: Mapped[datetime | None]


class PasskeyRow(Base):
    """The public half of a passkey; the other half never leaves the person's device."""

    __tablename__ = "passkeys"
    __table_args__ = (Index(None, "user_id"), {"schema": "core"})

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    # What the device knows the person by: random, the same for all passkeys of one person.
    user_handle: Mapped[bytes] = mapped_column(LargeBinary)
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


class ExternalIdentityRow(Base):
    """Somebody whom an OpenID provider or a proxy knows under a name of its own."""

    __tablename__ = "external_identities"
    __table_args__ = (Index(None, "user_id"), {"schema": "core"})

    provider: Mapped[str] = mapped_column(Text, primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


class CeremonyRow(Base):
    """What one browser has begun: a sign-in that waits for the second factor, a challenge, a trip to a provider."""

    __tablename__ = "ceremonies"
    __table_args__ = (Index(None, "expires_at"), {"schema": "core"})

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    expires_at: Mapped[datetime]
