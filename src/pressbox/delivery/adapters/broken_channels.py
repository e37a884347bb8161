"""Broken channels in PostgreSQL, each handed out once so that its owner is told."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import select

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.db.transaction import load_time
from pressbox.core.web.languages import DEFAULT_LANGUAGE
from pressbox.delivery.adapters.channel_texts import ChannelText, write_broken, write_refused
from pressbox.delivery.adapters.rows import ChannelRow
from pressbox.delivery.ports import BrokenChannel


class SqlBrokenChannels:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, limit: int) -> Sequence[BrokenChannel]:
        unreported = (
            select(ChannelRow, UserRow.email, UserRow.language)
            .join(UserRow, UserRow.id == ChannelRow.user_id)
            .where(ChannelRow.broken_at.is_not(None), ChannelRow.owner_told_at.is_(None))
            .order_by(ChannelRow.id)
            .limit(limit)
            .with_for_update(of=ChannelRow, skip_locked=True)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(unreported)).tuples().all()
            now = await load_time(work.session)
            owners = {row.user_id for row, _, _ in found}
            working = await work.session.execute(
                select(ChannelRow.user_id, ChannelRow.id).where(
                    ChannelRow.user_id.in_(owners), ChannelRow.is_active, ChannelRow.broken_at.is_(None)
                )
            )
            others = working.tuples().all()
            for row, _, _ in found:
                row.owner_told_at = now
        return [
            BrokenChannel(
                channel_id=row.id,
                **asdict(_explain(language or DEFAULT_LANGUAGE, row)),
                other_channels=tuple(f"channel:{channel_id}" for owner, channel_id in others if owner == row.user_id),
                owner_email=email,
            )
            for row, email, language in found
        ]


def _explain(language: str, row: ChannelRow) -> ChannelText:
    # One that is broken without a failure was refused before anything was sent.
    write = write_broken if row.failures else write_refused
    return write(language, row.name, row.last_error)
