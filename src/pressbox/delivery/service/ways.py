"""By which ways a person is told of what they follow, as they choose it, and where each notice went."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.notices.ways import account_way, add_ways, channel_way, leave_ways, load_ways
from pressbox.delivery.adapters.rows import ChannelRow

MAIL_KIND = "email"

_SENDS = text("""
    SELECT send.notice_id, send.channel_key, coalesce(channels.name, ''), send.step, send.state, send.reason,
        send.maybe_twice, coalesce(send.finished_at, send.next_try_at)
    FROM core.notice_sends AS send
    LEFT JOIN soonish.channels AS channels
        ON send.channel_key = concat('channel:', channels.id) AND channels.user_id = send.user_id
    WHERE send.user_id = :user_id AND send.notice_id = ANY (:ids)
    ORDER BY send.notice_id, send.step, send.id
""")


@dataclass(frozen=True)
class Way:
    """A way that notices can take beside the inbox. `kind` is the service, or email for the account's own mail.

    One that is not `usable` is broken or switched off.
    """

    key: str
    name: str
    kind: str
    chosen: bool
    usable: bool = True


@dataclass(frozen=True)
class NoticeSend:
    """One thing that left, or was to leave. `name` is that of the channel, empty for the account's mail and browsers.

    States: pending, sent, uncertain (it may have arrived), failed, skipped. `at` is when, or when it is tried next.
    """

    way: str
    name: str
    is_correction: bool
    state: str
    reason: str
    maybe_twice: bool
    at: datetime


class NoticeWays:
    def __init__(self, database: Database, *, sends_mail: bool) -> None:
        self._database = database
        self._sends_mail = sends_mail

    async def list(self, user_id: int) -> Sequence[Way]:
        async with self._database.unit_of_work() as work:
            return await self._load(work.session, user_id)

    async def choose(self, user_id: int, keys: Collection[str]) -> Sequence[Way]:
        """Be told by exactly these. What waits for another one is not sent any more."""
        async with self._database.unit_of_work() as work:
            known = {way.key: way for way in await self._load(work.session, user_id)}
            if unknown := sorted(set(keys) - set(known)):
                raise NotFoundError(f"There is no way {unknown[0]} to you. Reload the page.")
            if account_way(user_id) in keys and not self._sends_mail and not known[account_way(user_id)].chosen:
                raise ConflictError("This Pressbox sends no e-mail. Choose another way.")
            chosen = await load_ways(work.session, user_id)
            await leave_ways(work.session, user_id, chosen - set(keys))
            await add_ways(work.session, user_id, set(keys) - chosen)
            return await self._load(work.session, user_id)

    async def stop(self, user_id: int, key: str) -> None:
        """Be told no more by this one; nothing changes when it was not chosen."""
        async with self._database.unit_of_work() as work:
            await leave_ways(work.session, user_id, [key])

    async def _load(self, session: AsyncSession, user_id: int) -> Sequence[Way]:
        chosen = await load_ways(session, user_id)
        person = await session.get_one(UserRow, user_id)
        rows = await session.scalars(select(ChannelRow).where(ChannelRow.user_id == user_id).order_by(ChannelRow.id))
        ways = [
            Way(key, row.name, row.kind, key in chosen, usable=row.is_active and row.broken_at is None)
            for row in rows
            if (key := channel_way(row.id))
        ]
        mail = account_way(user_id)
        if self._sends_mail or mail in chosen:
            ways.insert(0, Way(mail, person.email, MAIL_KIND, mail in chosen, usable=self._sends_mail))
        return ways


async def load_sends(
    session: AsyncSession, user_id: int, notice_ids: Collection[int]
) -> Mapping[int, Sequence[NoticeSend]]:
    """Where these notices went for one person, the oldest first."""
    found: dict[int, list[NoticeSend]] = {}
    if notice_ids:
        rows = await session.execute(_SENDS, {"user_id": user_id, "ids": list(notice_ids)})
        for notice_id, key, name, step, state, reason, twice, at in rows.tuples():
            way = key.partition(":")[0]
            found.setdefault(notice_id, []).append(NoticeSend(way, name, step > 1, state, reason, twice, at))
    return found
