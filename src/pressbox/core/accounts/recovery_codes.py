"""Recovery codes: ten at a time, each good once, kept as hashes. Statements inside a unit of work."""

import hashlib
import secrets

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.factor_rows import RecoveryCodeRow

COUNT = 10
# Without letters and digits that look alike. 15 of them are 74 random bits, so a plain hash cannot be searched.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 15
_GROUP = 5


def new_code() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(letters[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))


def normalise(text: str) -> str | None:
    """The code as it was made, however it was typed; None when it cannot be one."""
    letters = "".join(character for character in text.lower() if character not in "- \t\u2013")
    return letters if len(letters) == _LENGTH and set(letters) <= set(_ALPHABET) else None


async def replace_all(session: AsyncSession, user_id: int) -> tuple[str, ...]:
    """Ten new codes, which end the older ones. They are in the answer and nowhere else."""
    codes = tuple(new_code() for _ in range(COUNT))
    await remove_all(session, user_id)
    rows = [{"user_id": user_id, "code_hash": _hash(user_id, normalise(code) or "")} for code in codes]
    await session.execute(insert(RecoveryCodeRow), rows)
    return codes


async def use(session: AsyncSession, user_id: int, code: str) -> bool:
    """Use up a code. Of two that come at once, one is refused."""
    letters = normalise(code)
    if letters is None:
        return False
    unused = (RecoveryCodeRow.code_hash == _hash(user_id, letters), RecoveryCodeRow.used_at.is_(None))
    statement = (
        update(RecoveryCodeRow)
        .where(RecoveryCodeRow.user_id == user_id, *unused)
        .values(used_at=func.now())
        .returning(RecoveryCodeRow.code_hash)
    )
    return (await session.execute(statement)).first() is not None


async def count_unused(session: AsyncSession, user_id: int) -> int:
    statement = (
        select(func.count())
        .select_from(RecoveryCodeRow)
        .where(RecoveryCodeRow.user_id == user_id, RecoveryCodeRow.used_at.is_(None))
    )
    return (await session.execute(statement)).scalar_one()


async def remove_all(session: AsyncSession, user_id: int) -> None:
    await session.execute(delete(RecoveryCodeRow).where(RecoveryCodeRow.user_id == user_id))


def _hash(user_id: int, letters: str) -> bytes:
    return hashlib.sha256(f"{user_id}:{letters}".encode()).digest()
