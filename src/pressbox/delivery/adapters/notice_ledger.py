"""The ledger of notices that leave, in PostgreSQL. A page costs the same few statements, however many are in it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.clock import utc_now
from pressbox.core.db.database import Database
from pressbox.core.notices.reading import ShownNotice, read_notices
from pressbox.core.web.languages import DEFAULT_LANGUAGE, LANGUAGES
from pressbox.delivery.activities.notices import CHANGED
from pressbox.delivery.adapters import notice_claims as claims
from pressbox.delivery.adapters.channel_health import update_health
from pressbox.delivery.adapters.notice_claims import Claimed, Settled
from pressbox.delivery.domain.notices import NoticeText, Plan, Told, Untold, plan_send
from pressbox.delivery.domain.quiet_hours import QUIET, QuietHours
from pressbox.delivery.notice_ports import PlannedSend, Reader
from pressbox.delivery.ports import Claim, DeliveryResult

_PEOPLE = text("""
    SELECT inbox.user_id, inbox.notice_id, coalesce(users.language, ''), coalesce(follows.name, ''),
        coalesce(follows.subject, ''), inbox.visible_at,
        (SELECT count(*) FROM core.inbox AS unread
            WHERE unread.user_id = inbox.user_id AND unread.read_at IS NULL AND unread.visible_at <= now()),
        quiet.begins, quiet.ends, quiet.zone
    FROM unnest(CAST(:users AS bigint[]), CAST(:notices AS bigint[])) AS wanted (user_id, notice_id)
    JOIN core.inbox AS inbox ON inbox.user_id = wanted.user_id AND inbox.notice_id = wanted.notice_id
    JOIN core.users AS users ON users.id = inbox.user_id AND users.disabled_at IS NULL AND users.deleted_at IS NULL
    LEFT JOIN core.follows AS follows ON follows.user_id = inbox.user_id AND follows.subject = inbox.because
    LEFT JOIN core.quiet_hours AS quiet ON quiet.user_id = inbox.user_id AND EXISTS (
        SELECT FROM core.notices AS notices WHERE notices.id = inbox.notice_id AND notices.followed <> '{}')
""")
_BROKEN = text("""
    SELECT concat('channel:', id) FROM soonish.channels
    WHERE broken_at IS NOT NULL AND (probe_at IS NULL OR probe_at > now()) AND concat('channel:', id) = ANY (:keys)
""")


class SqlNoticeLedger:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim_due(self, claim: Claim, limit: int) -> Sequence[PlannedSend]:
        planned: list[PlannedSend] = []
        async with self._database.unit_of_work() as work:
            # Of a page of which nothing is to be sent nobody hears, and more may follow.
            while len(planned) < limit and (held := await claims.claim_due(work.session, claim, limit - len(planned))):
                planned += await self._plan(work.session, held)
        return planned

    async def _plan(self, session: AsyncSession, held: Sequence[Claimed]) -> Sequence[PlannedSend]:
        unwanted = await claims.find_unwanted(session, [item.id for item in held])
        pairs = {(item.user_id, item.notice_id) for item in held}
        shown = await read_notices(session, pairs)
        people = await _load_people(session, pairs)
        before = await claims.load_told(session, held)
        keys = sorted({item.channel_key for item in held})
        broken = set(await session.scalars(_BROKEN, {"keys": keys}))
        planned, settled = [], []
        for item in held:
            place = (item.user_id, item.notice_id)
            reader, visible_at = people.get(place, (None, None))
            last = before.get(item.id)
            if reason := unwanted.get(item.id) or ("gone" if reader is None else ""):
                settled.append(_settle(item, reason))
            elif place not in shown:
                settled.append(_wait(item, visible_at))
            elif reader is not None and (end := reader.quiet_until(utc_now())):
                settled.append(Settled(item.id, reason=QUIET, until=end))
            elif item.channel_key in broken:
                settled.append(_settle(item, "channel_broken"))
            else:
                text = shown[place]
                plan = plan_send(told(text), item.channel_key, last, item.cut_off)
                if isinstance(plan, Plan):
                    assert reader is not None
                    planned.append(
                        PlannedSend(item.id, item.channel_key, item.tries, _text(text), plan, reader, before=last)
                    )
                elif plan is Untold.NOTHING_NEW and item.step > 1:
                    settled.append(Settled(item.id, forget=True))
                else:
                    settled.append(_settle(item, plan))
        await claims.settle(session, settled)
        await claims.write_plans(session, [(item.delivery_id, item.plan.told) for item in planned])
        return planned

    async def find_unwanted(self, send_ids: Collection[int]) -> Mapping[int, str]:
        """The last look before a message leaves: muted since, left since, or rewritten since it was decided."""
        async with self._database.unit_of_work() as work:
            planned = await claims.load_plans(work.session, send_ids)
            wanted = [item for item in planned if not item.unwanted]
            shown = await read_notices(work.session, {(item.user_id, item.notice_id) for item in wanted})
        unwanted = {item.id: item.unwanted for item in planned if item.unwanted}
        for item in wanted:
            text = shown.get((item.user_id, item.notice_id))
            if text is None or told(text).version != item.version:
                unwanted[item.id] = CHANGED
        return unwanted

    async def renew(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        async with self._database.unit_of_work() as work:
            await claims.renew(work.session, delivery_ids, claim)

    async def release(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        async with self._database.unit_of_work() as work:
            await claims.release(work.session, delivery_ids, claim)

    async def note_tries(self, delivery_ids: Iterable[int], claim: Claim) -> Collection[int]:
        async with self._database.unit_of_work() as work:
            return await claims.note_tries(work.session, delivery_ids, claim)

    async def record_results(self, results: Sequence[DeliveryResult], claim: Claim) -> None:
        if not results:
            return
        async with self._database.unit_of_work() as work:
            recorded = await claims.record_results(work.session, results, claim)
            own = {item.delivery_id for item in results if item.is_own_fault}
            await update_health(work.session, [item for item in recorded if item.delivery_id not in own])

    async def postpone(self, waits: Mapping[int, timedelta], claim: Claim) -> None:
        async with self._database.unit_of_work() as work:
            await claims.postpone(work.session, waits, claim)

    async def count_waiting(self) -> int:
        async with self._database.unit_of_work() as work:
            return await claims.count_waiting(work.session)


def told(shown: ShownNotice) -> Told:
    """What a person is told when they read this. Under a cover the versions are counted by themselves."""
    version = f"covered {shown.version}" if shown.covered else str(shown.version)
    return Told(version, shown.title, shown.gist, shown.state)


def _text(shown: ShownNotice) -> NoticeText:
    return NoticeText(
        id=shown.notice_id,
        key=shown.key,
        application=shown.application,
        subject=shown.subject,
        heading=shown.heading,
        title=shown.title,
        detail=shown.detail,
        path=shown.path,
        picture=shown.picture,
        body=shown.body or "",
    )


def _settle(item: Claimed, reason: str) -> Settled:
    """Send nothing. What a try that was cut off said may have arrived."""
    return Settled(item.id, reason=reason, may_have_arrived=item.cut_off is not None)


def _wait(item: Claimed, visible_at: datetime | None) -> Settled:
    """The person may not see it yet, or not before they look: then they need not be told."""
    if visible_at is None:
        return _settle(item, "hidden")
    return Settled(item.id, until=visible_at)


async def _load_people(
    session: AsyncSession, pairs: Collection[tuple[int, int]]
) -> Mapping[tuple[int, int], tuple[Reader, datetime | None]]:
    users, notices = [user for user, _ in pairs], [notice for _, notice in pairs]
    found = await session.execute(_PEOPLE, {"users": users, "notices": notices})
    return {
        (user_id, notice_id): (
            Reader(
                user_id,
                language if language in LANGUAGES else DEFAULT_LANGUAGE,
                because,
                subject,
                unread,
                QuietHours(*quiet) if quiet[0] is not None else None,
            ),
            visible_at,
        )
        for user_id, notice_id, language, because, subject, visible_at, unread, *quiet in found
    }
