"""API tokens and app passwords: statements inside a unit of work. A token is shown once and stored as a hash."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.models import NewToken, Scope, TokenView
from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.rows import TokenRow, UserRow
from pressbox.core.quotas.quota import Quota
from pressbox.core.quotas.store import demand

KIND = "token"
PREFIX = "pbx_"
HINT_LENGTH = 4
USED_AGAIN_AFTER = timedelta(minutes=1)
# An ended token stays in the list for so long: whoever wonders why a program stopped finds it.
KEEP_ENDED = timedelta(days=30)
# Whoever uses a token is told so long before it ends; one that was made for less than a month needs no such word.
WARN_BEFORE = timedelta(days=14)
LONG_LIFE = timedelta(days=28)


async def count(session: AsyncSession, user_id: int) -> int:
    good = (TokenRow.user_id == user_id, _not_ended())
    return await session.scalar(select(func.count()).select_from(TokenRow).where(*good)) or 0


async def ending_soon(session: AsyncSession) -> tuple[int, datetime | None]:
    """How many tokens of everybody end soon, and when the first of them does."""
    soon = (
        TokenRow.expires_at.between(func.now(), func.now() + WARN_BEFORE),
        TokenRow.expires_at - TokenRow.created_at > LONG_LIFE,
    )
    number, first = (await session.execute(select(func.count(), func.min(TokenRow.expires_at)).where(*soon))).one()
    return number, first


TOKENS = Quota("tokens", "API tokens", 100, count=count)


async def create(
    session: AsyncSession, user_id: int, name: str, scopes: Iterable[Scope], expires_at: datetime | None
) -> NewToken:
    secret = new_secret(PREFIX)
    statement = (
        insert(TokenRow)
        .values(
            token_hash=fingerprint(secret),
            hint=secret[-HINT_LENGTH:],
            user_id=user_id,
            name=name,
            scopes=sorted(scopes),
            expires_at=expires_at,
        )
        .returning(TokenRow)
    )
    row = (await session.execute(statement)).scalar_one()
    await demand(session, TOKENS, user_id)
    return NewToken(secret=secret, view=_view(row))


async def prove(session: AsyncSession, secret: str) -> None:
    """Note that its owner showed just now that it is really them."""
    mine = TokenRow.token_hash == fingerprint(secret)
    await session.execute(update(TokenRow).where(mine).values(proved_at=func.now()))


async def find(session: AsyncSession, secret: str) -> tuple[UserRow, frozenset[Scope], datetime | None] | None:
    """The owner of a token that is still good, the scopes it was given, and when the owner last proved to be it."""
    if not well_formed(secret, PREFIX):
        return None
    token_hash = fingerprint(secret)
    statement = (
        select(UserRow, TokenRow)
        .join(TokenRow, TokenRow.user_id == UserRow.id)
        .where(
            TokenRow.token_hash == token_hash,
            _not_ended(),
            UserRow.disabled_at.is_(None),
        )
    )
    found = (await session.execute(statement)).one_or_none()
    if found is None:
        return None
    user, token = found
    used = or_(TokenRow.last_used_at.is_(None), TokenRow.last_used_at < func.now() - USED_AGAIN_AFTER)
    await session.execute(update(TokenRow).where(TokenRow.id == token.id, used).values(last_used_at=func.now()))
    return user, frozenset(Scope(scope) for scope in token.scopes), token.proved_at


async def views(session: AsyncSession, user_id: int) -> tuple[TokenView, ...]:
    statement = select(TokenRow).where(TokenRow.user_id == user_id).order_by(TokenRow.id)
    return tuple(_view(row) for row in (await session.execute(statement)).scalars())


async def revoke(session: AsyncSession, user_id: int, token_ids: Collection[int]) -> int:
    """Remove these of a user, and return how many there were."""
    mine = (TokenRow.user_id == user_id, TokenRow.id.in_(token_ids))
    return len((await session.execute(delete(TokenRow).where(*mine).returning(TokenRow.id))).all())


def _not_ended() -> ColumnElement[bool]:
    return or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > func.now())


def _view(row: TokenRow) -> TokenView:
    return TokenView(
        id=row.id,
        name=row.name,
        hint=row.hint,
        scopes=tuple(Scope(scope) for scope in row.scopes),
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
    )
