"""What one browser has begun and may finish once, soon: statements inside a unit of work.

The secret is a cookie of that browser; another browser cannot go on with it.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.factor_rows import CeremonyRow
from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed


class Kind(StrEnum):
    SECOND_FACTOR = "second-factor"
    PASSKEY_SIGN_IN = "passkey-sign-in"
    PASSKEY_REGISTRATION = "passkey-registration"
    OIDC = "oidc"


LIFE = {
    Kind.SECOND_FACTOR: timedelta(minutes=10),
    Kind.PASSKEY_SIGN_IN: timedelta(minutes=5),
    Kind.PASSKEY_REGISTRATION: timedelta(minutes=5),
    # Somebody may have to find a password at the provider first.
    Kind.OIDC: timedelta(minutes=15),
}


@dataclass(frozen=True)
class Ceremony:
    user_id: int | None
    detail: dict[str, Any]


async def begin(session: AsyncSession, kind: Kind, *, user_id: int | None = None, **detail: Any) -> str:
    """The secret for the browser's cookie."""
    secret = new_secret()
    values = {"token_hash": fingerprint(secret), "kind": kind, "user_id": user_id, "detail": detail}
    await session.execute(insert(CeremonyRow).values(**values, expires_at=func.now() + LIFE[kind]))
    return secret


async def look(session: AsyncSession, kind: Kind, secret: str) -> Ceremony | None:
    """What was begun, which stays open: a wrong code does not send people back to the password."""
    if not well_formed(secret):
        return None
    statement = select(CeremonyRow).where(
        CeremonyRow.token_hash == fingerprint(secret), CeremonyRow.kind == kind, CeremonyRow.expires_at > func.now()
    )
    row = (await session.execute(statement)).scalar_one_or_none()
    return Ceremony(row.user_id, row.detail) if row is not None else None


async def finish(session: AsyncSession, kind: Kind, secret: str) -> Ceremony | None:
    """What was begun, used up. Of two that finish at once, one gets None."""
    if not well_formed(secret):
        return None
    statement = (
        delete(CeremonyRow)
        .where(
            CeremonyRow.token_hash == fingerprint(secret), CeremonyRow.kind == kind, CeremonyRow.expires_at > func.now()
        )
        .returning(CeremonyRow.user_id, CeremonyRow.detail)
    )
    found = (await session.execute(statement)).one_or_none()
    return Ceremony(found[0], found[1]) if found is not None else None


async def end_all(session: AsyncSession, user_id: int) -> None:
    await session.execute(delete(CeremonyRow).where(CeremonyRow.user_id == user_id))
