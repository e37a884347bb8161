"""Passkeys of people: statements inside a unit of work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.factor_rows import PasskeyRow
from pressbox.core.accounts.passkeys import MOST_PER_USER, NewPasskey, StoredPasskey, new_user_handle
from pressbox.core.errors import ConflictError


@dataclass(frozen=True)
class PasskeyView:
    """A passkey as its owner sees it."""

    id: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


async def add(session: AsyncSession, user_id: int, user_handle: bytes, name: str, passkey: NewPasskey) -> int:
    if len(await _rows(session, user_id)) >= MOST_PER_USER:
        raise ConflictError(f"There are {MOST_PER_USER} passkeys already. Remove one that is no longer used.")
    values = {
        "user_id": user_id,
        "user_handle": user_handle,
        "credential_id": passkey.credential_id,
        "public_key": passkey.public_key,
        "sign_count": passkey.sign_count,
        "name": name,
    }
    try:
        async with session.begin_nested():
            return (await session.execute(insert(PasskeyRow).values(**values).returning(PasskeyRow.id))).scalar_one()
    except IntegrityError as error:
        raise ConflictError("This passkey is known already.") from error


async def find(session: AsyncSession, credential_id: bytes) -> StoredPasskey | None:
    statement = select(PasskeyRow).where(PasskeyRow.credential_id == credential_id)
    row = (await session.execute(statement)).scalar_one_or_none()
    if row is None:
        return None
    return StoredPasskey(row.id, row.user_id, row.user_handle, row.credential_id, row.public_key, row.sign_count)


async def note_use(session: AsyncSession, passkey_id: int, sign_count: int) -> bool:
    """Remember the count. Of two answers with the same one, the second is refused."""
    grows = or_(PasskeyRow.sign_count < sign_count, (PasskeyRow.sign_count == 0) & (sign_count == 0))
    statement = (
        update(PasskeyRow)
        .where(PasskeyRow.id == passkey_id, grows)
        .values(sign_count=sign_count, last_used_at=func.now())
        .returning(PasskeyRow.id)
    )
    return (await session.execute(statement)).first() is not None


async def user_handle(session: AsyncSession, user_id: int) -> bytes:
    """What devices know this person by: a new one with the first passkey."""
    rows = await _rows(session, user_id)
    return rows[0].user_handle if rows else new_user_handle()


async def credential_ids(session: AsyncSession, user_id: int) -> tuple[bytes, ...]:
    return tuple(row.credential_id for row in await _rows(session, user_id))


async def views(session: AsyncSession, user_id: int) -> tuple[PasskeyView, ...]:
    return tuple(
        PasskeyView(row.id, row.name, row.created_at, row.last_used_at) for row in await _rows(session, user_id)
    )


async def remove(session: AsyncSession, user_id: int, passkey_id: int) -> bool:
    statement = delete(PasskeyRow).where(PasskeyRow.user_id == user_id, PasskeyRow.id == passkey_id)
    return (await session.execute(statement.returning(PasskeyRow.id))).first() is not None


async def remove_all(session: AsyncSession, user_id: int) -> None:
    await session.execute(delete(PasskeyRow).where(PasskeyRow.user_id == user_id))


async def _rows(session: AsyncSession, user_id: int) -> Sequence[PasskeyRow]:
    statement = select(PasskeyRow).where(PasskeyRow.user_id == user_id).order_by(PasskeyRow.id)
    return (await session.execute(statement)).scalars().all()
