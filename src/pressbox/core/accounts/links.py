"""Links that let somebody choose a password or confirm an address: statements inside a unit of work.

A link works once, for a short time, and is kept as a hash only. A newer one of the same purpose ends it.
"""

from datetime import timedelta
from enum import StrEnum

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.rows import AccountLinkRow, UserRow
from pressbox.core.errors import GoneError


class LinkPurpose(StrEnum):
    RESET = "reset"
    INVITATION = "invitation"
    EMAIL = "e-mail"


LIVES = {
    LinkPurpose.RESET: timedelta(hours=1),
    LinkPurpose.INVITATION: timedelta(days=7),
    LinkPurpose.EMAIL: timedelta(hours=24),
}
PASSWORD_PURPOSES = (LinkPurpose.RESET, LinkPurpose.INVITATION)


async def create(session: AsyncSession, user_id: int, purpose: LinkPurpose, email: str | None = None) -> str:
    older = (AccountLinkRow.user_id == user_id, AccountLinkRow.purpose == purpose)
    await session.execute(delete(AccountLinkRow).where(*older))
    secret = new_secret()
    values = {"token_hash": fingerprint(secret), "user_id": user_id, "purpose": purpose, "email": email}
    await session.execute(insert(AccountLinkRow).values(**values, expires_at=func.now() + LIVES[purpose]))
    return secret


async def require(session: AsyncSession, secret: str, *purposes: LinkPurpose) -> AccountLinkRow:
    """The link, if it can still be used, held until the commit: of two who use it at once, one is too late."""
    if well_formed(secret):
        statement = (
            select(AccountLinkRow)
            .join(UserRow, UserRow.id == AccountLinkRow.user_id)
            .where(
                AccountLinkRow.token_hash == fingerprint(secret),
                AccountLinkRow.purpose.in_(purposes),
                AccountLinkRow.expires_at > func.now(),
                UserRow.disabled_at.is_(None),
            )
            .with_for_update(of=AccountLinkRow)
        )
        found = (await session.execute(statement)).scalar_one_or_none()
        if found is not None:
            return found
    raise GoneError("This link is not valid any more: it works once and for a short time. Ask for a new one.")


async def use_up(session: AsyncSession, secret: str) -> None:
    await session.execute(delete(AccountLinkRow).where(AccountLinkRow.token_hash == fingerprint(secret)))


async def end_all(session: AsyncSession, user_id: int) -> None:
    await session.execute(delete(AccountLinkRow).where(AccountLinkRow.user_id == user_id))
