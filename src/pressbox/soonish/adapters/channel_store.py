"""Channels in PostgreSQL: each belongs to one person, and its address never leaves by this way."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.soonish.adapters.rows import ChannelRow, ContactRow
from pressbox.soonish.adapters.secrets import AddressVault
from pressbox.soonish.domain.views import ChannelView
from pressbox.soonish.ports import Sealed


class SqlChannelStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, user_id: int, name: str, tags: Sequence[str], is_active: bool, address: Sealed, most: int
    ) -> ChannelView:
        async with self._database.unit_of_work() as work:
            held = await work.session.scalar(select(func.count()).where(ChannelRow.user_id == user_id))
            if held is not None and held >= most:
                raise ConflictError(f"There are {most} channels already. Remove one that is no longer used.")
            row = ChannelRow(user_id=user_id, name=name, tags=list(tags), is_active=is_active)
            _put_address(row, address)
            work.session.add(row)
            await work.session.flush()
            await work.session.refresh(row)
            return _view(row)

    async def change(
        self,
        user_id: int,
        channel_id: int,
        name: str,
        tags: Sequence[str],
        is_active: bool,
        address: Sealed | None,
    ) -> ChannelView:
        async with self._database.unit_of_work() as work:
            row = await _own(work.session, user_id, channel_id)
            row.name, row.tags, row.is_active = name, list(tags), is_active
            if address is not None:
                _put_address(row, address)
            return _view(row)

    async def remove(self, user_id: int, channel_id: int) -> None:
        row = ChannelRow
        statement = delete(row).where(row.id == channel_id, row.user_id == user_id).returning(row.id)
        async with self._database.unit_of_work() as work:
            if await work.session.scalar(statement) is None:
                raise _none()

    async def mend(self, user_id: int, channel_id: int) -> None:
        async with self._database.unit_of_work() as work:
            _forget_failures(await _own(work.session, user_id, channel_id))

    async def all(self, user_id: int) -> Sequence[ChannelView]:
        statement = select(ChannelRow).where(ChannelRow.user_id == user_id).order_by(ChannelRow.id)
        async with self._database.unit_of_work() as work:
            return [_view(row) for row in await work.session.scalars(statement)]

    async def get(self, user_id: int, channel_id: int) -> ChannelView:
        async with self._database.unit_of_work() as work:
            return _view(await _own(work.session, user_id, channel_id))


async def rotate(database: Database, vault: AddressVault) -> int:
    """Seal again, with the present key, everything that another key sealed; all or nothing. Gives their number."""
    async with database.unit_of_work() as work:
        channels = select(ChannelRow).where(ChannelRow.key_id != vault.key_id).with_for_update()
        contacts = select(ContactRow).where(ContactRow.key_id != vault.key_id).with_for_update()
        count = 0
        for channel in await work.session.scalars(channels):
            sealed = vault.seal(vault.reveal(channel.encrypted_url, channel.key_id), "", "")
            channel.encrypted_url, channel.key_id, channel.target = sealed.encrypted, sealed.key_id, sealed.target
            count += 1
        for contact in await work.session.scalars(contacts):
            sealed = vault.seal(vault.reveal(contact.encrypted_address, contact.key_id), "", "")
            contact.encrypted_address, contact.key_id, contact.target = sealed.encrypted, sealed.key_id, sealed.target
            count += 1
        return count


async def _own(session: AsyncSession, user_id: int, channel_id: int) -> ChannelRow:
    statement = select(ChannelRow).where(ChannelRow.id == channel_id, ChannelRow.user_id == user_id)
    row = await session.scalar(statement)
    if row is None:
        raise _none()
    return row


def _none() -> NotFoundError:
    return NotFoundError("There is no such channel.")


def _put_address(row: ChannelRow, address: Sealed) -> None:
    row.encrypted_url, row.key_id, row.target = address.encrypted, address.key_id, address.target
    row.kind = address.shown or address.kind
    # A new address has not failed yet.
    _forget_failures(row)


def _forget_failures(row: ChannelRow) -> None:
    row.failures, row.broken_at, row.owner_told_at, row.last_error = 0, None, None, ""


def _view(row: ChannelRow) -> ChannelView:
    return ChannelView(
        id=row.id,
        name=row.name,
        kind=row.kind,
        tags=tuple(row.tags),
        is_active=row.is_active,
        failures=row.failures,
        broken_at=row.broken_at,
        last_error=row.last_error,
        created_at=row.created_at,
    )
