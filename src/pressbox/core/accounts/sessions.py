"""Server-side sessions: statements inside a unit of work. The cookie's value is never stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.models import Proof, SessionView
from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.rows import SessionRow, UserRow

# Reading a page must not cost a write each time.
SEEN_AGAIN_AFTER = timedelta(minutes=5)
LONGEST_AGENT = 300
ID_LENGTH = 16


@dataclass(frozen=True)
class FoundSession:
    """A session that is still good: whose, when they last proved to be it, and how it began."""

    user: UserRow
    proved_at: datetime | None
    proof: Proof


async def begin(session: AsyncSession, user_id: int, agent: str, life: timedelta, proof: Proof) -> str:
    """Start a session and give the value of its cookie."""
    secret = new_secret()
    values = {
        "token_hash": fingerprint(secret),
        "user_id": user_id,
        "user_agent": _printable(agent)[:LONGEST_AGENT],
        "proof": proof,
    }
    await session.execute(insert(SessionRow).values(**values, proved_at=func.now(), expires_at=func.now() + life))
    return secret


async def prove(session: AsyncSession, secret: str) -> None:
    """Note that its owner showed just now that it is really them."""
    mine = SessionRow.token_hash == fingerprint(secret)
    await session.execute(update(SessionRow).where(mine).values(proved_at=func.now()))


async def find(session: AsyncSession, secret: str, life: timedelta) -> FoundSession | None:
    """A session that is still good; in use, it lives on."""
    if not well_formed(secret):
        return None
    token_hash = fingerprint(secret)
    statement = (
        select(UserRow, SessionRow.last_seen_at < func.now() - SEEN_AGAIN_AFTER, SessionRow.proved_at, SessionRow.proof)
        .join(SessionRow, SessionRow.user_id == UserRow.id)
        .where(SessionRow.token_hash == token_hash, SessionRow.expires_at > func.now(), UserRow.disabled_at.is_(None))
    )
    found = (await session.execute(statement)).one_or_none()
    if found is None:
        return None
    user, seen_long_ago, proved_at, proof = found
    if seen_long_ago:
        seen = {"last_seen_at": func.now(), "expires_at": func.now() + life}
        await session.execute(update(SessionRow).where(SessionRow.token_hash == token_hash).values(**seen))
    return FoundSession(user, proved_at, Proof(proof))


async def end(session: AsyncSession, secret: str) -> None:
    await session.execute(delete(SessionRow).where(SessionRow.token_hash == fingerprint(secret)))


async def end_one(session: AsyncSession, user_id: int, session_id: str) -> bool:
    """End one of a user's own sessions, by the id that the list shows."""
    for row in await _of_user(session, user_id):
        if row.token_hash.hex()[:ID_LENGTH] == session_id:
            await session.execute(delete(SessionRow).where(SessionRow.token_hash == row.token_hash))
            return True
    return False


async def end_all(session: AsyncSession, user_id: int, *, except_secret: str | None = None) -> None:
    statement = delete(SessionRow).where(SessionRow.user_id == user_id)
    if except_secret is not None:
        statement = statement.where(SessionRow.token_hash != fingerprint(except_secret))
    await session.execute(statement)


async def views(session: AsyncSession, user_id: int, current_secret: str | None) -> tuple[SessionView, ...]:
    current = fingerprint(current_secret) if current_secret else b""
    return tuple(
        SessionView(
            id=row.token_hash.hex()[:ID_LENGTH],
            agent=row.user_agent,
            created_at=row.created_at,
            last_seen_at=row.last_seen_at,
            expires_at=row.expires_at,
            current=row.token_hash == current,
        )
        for row in await _of_user(session, user_id)
    )


async def _of_user(session: AsyncSession, user_id: int) -> Sequence[SessionRow]:
    statement = (
        select(SessionRow)
        .where(SessionRow.user_id == user_id, SessionRow.expires_at > func.now())
        .order_by(SessionRow.last_seen_at.desc())
    )
    return (await session.execute(statement)).scalars().all()


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())
