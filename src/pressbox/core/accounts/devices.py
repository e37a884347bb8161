"""Browsers in which somebody signed in before: statements inside a unit of work. The cookie's value is never stored."""

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.rows import DeviceRow


async def is_known(session: AsyncSession, user_id: int, device: str) -> bool:
    """Whether this person signed in with this browser before."""
    if not well_formed(device):
        return False
    mine = (DeviceRow.device_hash == fingerprint(device), DeviceRow.user_id == user_id)
    return (await session.execute(select(DeviceRow.user_id).where(*mine))).first() is not None


async def has_any(session: AsyncSession, user_id: int) -> bool:
    return (
        await session.execute(select(DeviceRow.user_id).where(DeviceRow.user_id == user_id).limit(1))
    ).first() is not None


async def remember(session: AsyncSession, user_id: int, device: str) -> str:
    """Note that this person signed in with this browser; gives the value that its cookie has from now on.

    A browser that was not known to be this person's gets a new value: somebody else may have planted the one it had.
    """
    if await is_known(session, user_id, device):
        secret = device
    else:
        secret = new_secret()
        if well_formed(device):
            # Others who use this browser are still known by it.
            moved = update(DeviceRow).where(DeviceRow.device_hash == fingerprint(device))
            await session.execute(moved.values(device_hash=fingerprint(secret)))
    statement = insert(DeviceRow).values(device_hash=fingerprint(secret), user_id=user_id)
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=[DeviceRow.device_hash, DeviceRow.user_id], set_={"last_seen_at": func.now()}
        )
    )
    return secret


async def forget_all(session: AsyncSession, user_id: int, *, except_device: str | None = None) -> None:
    statement = delete(DeviceRow).where(DeviceRow.user_id == user_id)
    if except_device:
        statement = statement.where(DeviceRow.device_hash != fingerprint(except_device))
    await session.execute(statement)
