"""The one-time link that makes the first administrator: statements inside a unit of work."""

from datetime import timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import people
from pressbox.core.accounts.models import Role
from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.rows import SetupLinkRow, UserRow
from pressbox.core.errors import GoneError

PATH = "/set-up"
LIFE = timedelta(hours=24)
_ACCOUNTS_LOCK = 0x41_43_43_54  # "ACCT": an advisory lock of our own


def setup_address(web_url: str, secret: str) -> str:
    """Where the link leads: it is printed, so it must survive being copied."""
    return f"{web_url.rstrip('/')}{PATH}?token={secret}"


async def take_turns(session: AsyncSession) -> None:
    """Until the commit, nobody else adds a user: "there is none yet" stays true once it was asked."""
    await session.execute(select(func.pg_advisory_xact_lock(_ACCOUNTS_LOCK)))


async def create(session: AsyncSession) -> str | None:
    """A fresh link, which ends an older one; None when somebody can sign in already."""
    await take_turns(session)
    if await people.anybody(session):
        return None
    secret = new_secret()
    await session.execute(delete(SetupLinkRow))
    values = {"token_hash": fingerprint(secret), "expires_at": func.now() + LIFE}
    await session.execute(insert(SetupLinkRow).values(**values))
    return secret


async def require(session: AsyncSession, secret: str) -> None:
    """Raise unless the link can still be used."""
    if await people.anybody(session):
        raise GoneError("Pressbox is set up already. Sign in with your account.")
    if not well_formed(secret) or not await _is_good(session, secret):
        raise _invalid_link_error()


async def redeem(session: AsyncSession, secret: str, *, email: str, name: str, password_hash: str) -> UserRow:
    """Use up the link and make the administrator, both or neither."""
    await take_turns(session)
    await require(session, secret)
    await session.execute(delete(SetupLinkRow))
    # What was made in the open mode belongs to its owner, who gets a name and a password now.
    owner = await people.find_by_email(session, people.OPEN_OWNER)
    if owner is None:
        return await people.insert_user(session, email, name, password_hash, Role.ADMIN)
    owner.email, owner.name, owner.password_hash, owner.role = email, name, password_hash, Role.ADMIN
    owner.disabled_at = None
    await session.flush()
    return owner


async def _is_good(session: AsyncSession, secret: str) -> bool:
    statement = select(SetupLinkRow.token_hash).where(
        SetupLinkRow.token_hash == fingerprint(secret), SetupLinkRow.expires_at > func.now()
    )
    return (await session.execute(statement)).first() is not None


def _invalid_link_error() -> GoneError:
    return GoneError(
        "This set-up link is not valid: it works once, for 24 hours. `pressbox user setup-link` prints a new one."
    )
