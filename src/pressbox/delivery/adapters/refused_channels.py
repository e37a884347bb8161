"""Channels whose addresses were taken once and are refused by now: found when a worker starts."""

from collections.abc import Callable, Sequence

from sqlalchemy import func, select, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.delivery.adapters.address_book import EMAIL, Reveal, find_audience
from pressbox.delivery.adapters.rows import ChannelRow
from pressbox.delivery.domain.targets import Audience

PAGE = 500
# Why an address of somebody like this can be used no longer; empty if it can.
FindRefusal = Callable[[str, Audience], str]
SealedChannel = tuple[int, bytes, str, str]


class RefusedChannels:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark(self, reveal: Reveal, find_refusal: FindRefusal) -> int:
        """Mark those that are refused as broken, with the reason; return how many. Their owners are told by the sweep.

        Nothing tries them again by itself: they work again with another address, or when a test of them arrives.
        """
        marked, after = 0, 0
        while page := await self._load(after):
            for channel_id, encrypted, key_id, role in page:
                try:
                    reason = find_refusal(reveal(encrypted, key_id), find_audience(role))
                except ConfigurationError:
                    # Its key is missing, which says nothing about the address.
                    continue
                if reason:
                    marked += await self._mark(channel_id, encrypted, reason)
            after = page[-1][0]
        return marked

    async def count(self) -> int:
        """Those whose owners have not changed anything yet."""
        row = ChannelRow
        refused = (row.is_active, row.broken_at.is_not(None), row.failures == 0)
        statement = select(func.count()).select_from(row).join(UserRow, UserRow.id == row.user_id)
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(statement.where(*refused, UserRow.disabled_at.is_(None))) or 0

    async def _load(self, after: int) -> Sequence[SealedChannel]:
        row = ChannelRow
        statement = (
            select(row.id, row.encrypted_url, row.key_id, UserRow.role)
            .join(UserRow, UserRow.id == row.user_id)
            .where(row.id > after, row.is_active, row.broken_at.is_(None), row.kind != EMAIL)
            .order_by(row.id)
            .limit(PAGE)
        )
        async with self._database.unit_of_work() as work:
            return (await work.session.execute(statement)).tuples().all()

    async def _mark(self, channel_id: int, encrypted: bytes, reason: str) -> int:
        """Unless its owner, or another worker, was quicker."""
        row = ChannelRow
        same = (row.id == channel_id, row.encrypted_url == encrypted, row.broken_at.is_(None))
        values = {"broken_at": func.now(), "last_error": reason, "failures": 0, "probe_at": None, "owner_told_at": None}
        async with self._database.unit_of_work() as work:
            found = await work.session.scalars(update(row).where(*same).values(values).returning(row.id))
            return len(found.all())
