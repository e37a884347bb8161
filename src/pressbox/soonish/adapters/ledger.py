"""The delivery ledger in PostgreSQL. Each method is one transaction; a whole batch costs a handful of statements."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.db.transaction import load_time
from pressbox.core.errors import NotFoundError
from pressbox.delivery.adapters.channel_health import update_health
from pressbox.delivery.domain.attempts import DeliveryState, Level
from pressbox.delivery.ports import Claim, DeliveryResult
from pressbox.soonish.adapters import claims, messages, shared_reminders
from pressbox.soonish.adapters.inbox_notices import tell_subscribers
from pressbox.soonish.adapters.recipients import one_of, write_deliveries
from pressbox.soonish.adapters.rows import DeliveryRow, NotificationRow, RecipientRow
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts, SkipReason
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.ports import DueDelivery

_TAKE_UNOPENED = text("""
    WITH next AS MATERIALIZED (
        SELECT subscription_id FROM soonish.notification_recipients
        WHERE notification_id = :id AND NOT opened
        ORDER BY subscription_id LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE soonish.notification_recipients AS recipient SET opened = true
    FROM next WHERE recipient.notification_id = :id AND recipient.subscription_id = next.subscription_id
    RETURNING recipient.subscription_id
""")
_MARK_OPENED = text("""
    UPDATE soonish.notification_recipients SET opened = true
    WHERE notification_id = :id AND subscription_id = ANY(CAST(:ids AS bigint[])) AND NOT opened
""")


class SqlLedger:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept_message(
        self,
        event_id: int,
        cause: Cause,
        version: str,
        level: Level,
        text: MessageText,
        subscription_ids: Sequence[int],
    ) -> int:
        async with self._database.unit_of_work() as work:
            recipients = messages.only(subscription_ids)
            notification_id = await messages.accept_message(
                work.session, event_id, cause, version, level, text, recipients
            )
            work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
        return notification_id

    async def find_open_message(self, event_id: int, cause: Cause, version: str) -> int | None:
        row = NotificationRow
        mine = (row.event_id == event_id, row.cause == cause, row.version == version, row.finished_at.is_(None))
        async with self._database.unit_of_work() as work:
            found: int | None = await work.session.scalar(select(row.id).where(*mine))
            return found

    async def rewrite_message(self, notification_id: int, text: MessageText) -> None:
        statement = update(NotificationRow).where(NotificationRow.id == notification_id)
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement.values(title=text.title, body=text.body))

    async def accept_shared_reminder(
        self, event_id: int, version: str, text: MessageText, offset_seconds: int
    ) -> int | None:
        async with self._database.unit_of_work() as work:
            return await shared_reminders.accept(work, event_id, version, text, offset_seconds)

    async def is_in_shared_reminder(self, subscription_id: int, version: str) -> bool:
        row, message = DeliveryRow, NotificationRow
        mine = (row.subscription_id == subscription_id, row.cause == Cause.REMINDER, row.version == version)
        found = select(row.id).join(message, message.id == row.notification_id).where(*mine, message.version != version)
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(found.limit(1)) is not None

    async def open_batch(self, notification_id: int, after: int, limit: int) -> tuple[int | None, int]:
        async with self._database.unit_of_work() as work:
            message = await _load_notification(work.session, notification_id, lock=True)
            mine = RecipientRow.notification_id == notification_id
            total = await work.session.scalar(select(func.count()).where(mine)) or 0
            if message.cancelled_at is not None:
                return None, total
            following = select(RecipientRow.subscription_id).where(mine, RecipientRow.subscription_id > after)
            found = await work.session.scalars(following.order_by(RecipientRow.subscription_id).limit(limit + 1))
            # One more than the batch, to know whether anybody is left.
            seen = found.all()
            batch = seen[:limit]
            if batch:
                await work.session.execute(_MARK_OPENED, {"id": notification_id, "ids": list(batch)})
                await _write_missing(work, message, batch)
                work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
            return batch[-1] if len(seen) > limit else None, total

    async def count_recipients(self, notification_id: int) -> int:
        async with self._database.unit_of_work() as work:
            mine = RecipientRow.notification_id == notification_id
            return await work.session.scalar(select(func.count()).where(mine)) or 0

    async def claim_due(self, notification_id: int, claim: Claim, limit: int, *, opens: bool) -> Sequence[DueDelivery]:
        async with self._database.unit_of_work() as work:
            while True:
                opened = opens and await self._open_next(work, notification_id, limit)
                due = await claims.claim_due(work.session, notification_id, claim, limit)
                # Of a page on which nobody has a channel nothing is due, and more people may follow.
                if due or not opened:
                    return due

    async def _open_next(self, work: UnitOfWork, notification_id: int, limit: int) -> bool:
        # Shared: rounds open side by side, and whoever stops the message waits for them.
        message = await _load_notification(work.session, notification_id, read=True)
        if message.cancelled_at is not None:
            return False
        batch = list(await work.session.scalars(_TAKE_UNOPENED, {"id": notification_id, "limit": limit}))
        if batch:
            await _write_missing(work, message, sorted(batch))
            work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
        return bool(batch)

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
            for notification_id in {item.notification_id for item in recorded}:
                work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
            own = {item.delivery_id for item in results if item.is_own_fault}
            await update_health(work.session, [item for item in recorded if item.delivery_id not in own])

    async def postpone(self, waits: Mapping[int, timedelta], claim: Claim) -> None:
        async with self._database.unit_of_work() as work:
            await claims.postpone(work.session, waits, claim)

    async def load_message(self, notification_id: int) -> tuple[MessageText, Level]:
        async with self._database.unit_of_work() as work:
            row = await _load_notification(work.session, notification_id)
            return MessageText(row.title, row.body), Level(row.level)

    async def count_deliveries(self, notification_id: int) -> tuple[DeliveryCounts, datetime | None]:
        async with self._database.unit_of_work() as work:
            states, next_try_at = await claims.count(work.session, notification_id)
        return DeliveryCounts.from_states(states), next_try_at

    async def cancel(self, notification_id: int) -> None:
        async with self._database.unit_of_work() as work:
            await end_message(work, notification_id, SkipReason.BROADCAST_CANCELLED, cancelled=True)

    async def skip(self, notification_id: int, reason: str) -> None:
        async with self._database.unit_of_work() as work:
            await end_message(work, notification_id, reason, cancelled=False)

    async def finish(self, notification_id: int) -> None:
        row = NotificationRow
        statement = update(row).where(row.id == notification_id, row.finished_at.is_(None))
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement.values(finished_at=func.now()))
            work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))


async def end_message(work: UnitOfWork, notification_id: int, reason: str, *, cancelled: bool) -> None:
    """Skip whoever has got nothing yet, and finish the message."""
    session = work.session
    message = await _load_notification(session, notification_id, lock=True)
    now = await load_time(session)
    pending = _pending(notification_id)
    # Somebody may have got these: neither another try nor "skipped" would be right.
    uncertain = {"state": DeliveryState.UNCERTAIN, "reason": claims.CUT_OFF, "finished_at": now}
    await session.execute(
        update(DeliveryRow).where(*pending, DeliveryRow.trying_since.is_not(None)).values(**uncertain)
    )
    skipped = {"state": DeliveryState.SKIPPED, "reason": reason, "finished_at": now, "next_try_at": None}
    await session.execute(update(DeliveryRow).where(*pending).values(**skipped))
    await session.execute(_SKIP_UNOPENED, {"id": notification_id, "reason": reason, "now": now})
    message.finished_at = message.finished_at or now
    message.cancelled_at = (message.cancelled_at or now) if cancelled else message.cancelled_at
    work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))


_SKIP_UNOPENED = text("""
    INSERT INTO soonish.deliveries
        (notification_id, event_id, subscription_id, cause, version, channel_key, state, reason, finished_at)
    SELECT message.id, message.event_id, recipient.subscription_id, message.cause,
        CASE WHEN message.cause = 'reminder' AND message.version LIKE 'all-%'
            THEN recipient.subscription_id || substr(message.version, 4) ELSE message.version END,
        'none', 'skipped', :reason, :now
    FROM soonish.notifications AS message
    JOIN soonish.notification_recipients AS recipient ON recipient.notification_id = message.id
    WHERE message.id = :id AND NOT EXISTS (
        SELECT FROM soonish.deliveries AS delivery
        WHERE delivery.notification_id = message.id AND delivery.subscription_id = recipient.subscription_id)
    ON CONFLICT DO NOTHING
""")


def _pending(notification_id: int) -> tuple[ColumnElement[bool], ...]:
    return DeliveryRow.notification_id == notification_id, DeliveryRow.state == DeliveryState.PENDING


async def _load_notification(
    session: AsyncSession, notification_id: int, *, lock: bool = False, read: bool = False
) -> NotificationRow:
    how = {"read": True} if read else lock
    row = await session.get(NotificationRow, notification_id, with_for_update=how)
    if row is None:
        raise NotFoundError("This message no longer exists.", notification_id=notification_id)
    return row


async def _write_missing(work: UnitOfWork, message: NotificationRow, batch: Sequence[int]) -> None:
    """Write deliveries for those who have none; a channel that is changed between two tries changes nothing."""
    opened = set(
        await work.session.scalars(
            select(DeliveryRow.subscription_id).where(
                DeliveryRow.notification_id == message.id, DeliveryRow.subscription_id == one_of(batch)
            )
        )
    )
    new = [subscription_id for subscription_id in batch if subscription_id not in opened]
    if new:
        await write_deliveries(work.session, message, new, await load_time(work.session))
        await tell_subscribers(work, message, new)
