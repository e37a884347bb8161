"""The delivery ledger in PostgreSQL. Each method is one transaction; a whole batch costs a handful of statements."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, exists, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.soonish.adapters import messages
from pressbox.soonish.adapters.address_book import row_ids
from pressbox.soonish.adapters.recipients import one_of, write_deliveries
from pressbox.soonish.adapters.rows import DeliveryRow, NotificationRow, RecipientRow, SubscriptionRow
from pressbox.soonish.adapters.transaction import load_time
from pressbox.soonish.domain.delivery import (
    BROKEN_AFTER,
    PROBE_AFTER,
    Cause,
    DeliveryCounts,
    DeliveryState,
    Level,
    SkipReason,
)
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.ports import DeliveryResult, DueDelivery

# The reason of a try that was under way when its message was stopped. Its result still counts when it arrives.
_CUT_OFF = "stopped while it was being sent"

_RECORD = text("""
    UPDATE soonish.deliveries AS delivery
    SET state = result.state,
        reason = result.reason,
        trying_since = NULL,
        next_try_at = CASE WHEN result.state = 'pending'
            THEN CAST(:now AS timestamptz) + make_interval(secs => result.pause) END,
        finished_at = CASE WHEN result.state <> 'pending' THEN CAST(:now AS timestamptz) END
    FROM unnest(CAST(:ids AS bigint[]), CAST(:states AS text[]), CAST(:reasons AS text[]), CAST(:pauses AS float8[]))
        AS result (id, state, reason, pause)
    WHERE delivery.id = result.id
      AND (delivery.state = 'pending' OR (delivery.reason = :cut_off AND result.state <> 'pending'))
    RETURNING delivery.id, delivery.notification_id, delivery.channel_key, delivery.state, delivery.reason
""")

_HEALTH = """
    UPDATE soonish.{table} AS place
    SET failures = CASE WHEN result.worked THEN 0 ELSE place.failures + result.failed END,
        broken_at = CASE WHEN result.worked THEN NULL
            WHEN place.failures + result.failed >= :limit THEN coalesce(place.broken_at, CAST(:now AS timestamptz))
            ELSE place.broken_at END,
        probe_at = CASE WHEN result.worked THEN NULL
            WHEN place.failures + result.failed >= :limit
                THEN CAST(:now AS timestamptz) + CAST(:probe_after AS interval)
            ELSE place.probe_at END{more}
    FROM unnest(CAST(:ids AS bigint[]), CAST(:worked AS boolean[]), CAST(:failed AS integer[]),
        CAST(:errors AS text[])) AS result (id, worked, failed, error)
    WHERE place.id = result.id AND (result.failed > 0 OR place.failures > 0 OR place.broken_at IS NOT NULL)
"""
# Once a channel has worked, its owner is told again when it breaks again.
_LAST_ERROR = (
    ", last_error = CASE WHEN result.worked THEN '' ELSE result.error END"
    ", owner_told_at = CASE WHEN result.worked THEN NULL ELSE place.owner_told_at END"
)
_CHANNEL_HEALTH = text(_HEALTH.format(table="channels", more=_LAST_ERROR))
_CONTACT_HEALTH = text(_HEALTH.format(table="contacts", more=""))


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
                await _write_missing(work.session, message, batch)
                work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
            return batch[-1] if len(seen) > limit else None, total

    async def load_due(self, notification_id: int, now: datetime) -> Sequence[DueDelivery]:
        pending = _pending(notification_id)
        ready = or_(DeliveryRow.next_try_at.is_(None), DeliveryRow.next_try_at <= now)
        async with self._database.unit_of_work() as work:
            await _skip_unwanted(work.session, notification_id, now)
            await work.session.execute(
                update(DeliveryRow).where(*pending, DeliveryRow.trying_since.is_not(None)).values(maybe_twice=True)
            )
            found = await work.session.execute(
                select(DeliveryRow.id, DeliveryRow.subscription_id, DeliveryRow.channel_key, DeliveryRow.tries)
                .where(*pending, ready)
                .order_by(DeliveryRow.id)
            )
            due = [DueDelivery(*row) for row in found.tuples()]
            failing = await _load_failing(work.session, {item.channel_key for item in due})
        return [replace(item, failing_since=failing.get(item.channel_key)) for item in due] if failing else due

    async def note_tries(self, delivery_ids: Iterable[int], now: datetime) -> Collection[int]:
        row = DeliveryRow
        statement = (
            update(row)
            .where(row.id == one_of(list(delivery_ids)), row.state == DeliveryState.PENDING, _is_wanted())
            .values(trying_since=now, tries=row.tries + 1, next_try_at=None)
            .returning(row.id)
        )
        async with self._database.unit_of_work() as work:
            return set(await work.session.scalars(statement))

    async def record_results(self, results: Sequence[DeliveryResult], now: datetime) -> None:
        if not results:
            return
        values = {
            "ids": [item.delivery_id for item in results],
            "states": [str(item.verdict.state) for item in results],
            "reasons": [item.reason for item in results],
            "pauses": [item.verdict.pause.total_seconds() if item.verdict.pause else 0.0 for item in results],
            "now": now,
            "cut_off": _CUT_OFF,
        }
        async with self._database.unit_of_work() as work:
            recorded = [tuple(row) for row in await work.session.execute(_RECORD, values)]
            for notification_id in {row[1] for row in recorded}:
                work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
            own = {item.delivery_id for item in results if item.is_own_fault}
            outcomes = [(key, state, reason) for number, _, key, state, reason in recorded if number not in own]
            await _update_health(work.session, outcomes, now)

    async def load_message(self, notification_id: int) -> tuple[MessageText, Level]:
        async with self._database.unit_of_work() as work:
            row = await _load_notification(work.session, notification_id)
            return MessageText(row.title, row.body), Level(row.level)

    async def count_deliveries(self, notification_id: int) -> tuple[DeliveryCounts, datetime | None]:
        due_at = func.coalesce(DeliveryRow.next_try_at, DeliveryRow.created_at)
        statement = (
            select(DeliveryRow.state, func.count(), func.min(due_at))
            .where(DeliveryRow.notification_id == notification_id)
            .group_by(DeliveryRow.state)
        )
        async with self._database.unit_of_work() as work:
            found = {state: (count, first) for state, count, first in (await work.session.execute(statement)).tuples()}
        counts = DeliveryCounts.from_states({state: count for state, (count, _) in found.items()})
        return counts, found[DeliveryState.PENDING][1] if DeliveryState.PENDING in found else None

    async def cancel(self, notification_id: int) -> None:
        await self._end(notification_id, SkipReason.BROADCAST_CANCELLED, cancelled=True)

    async def skip(self, notification_id: int, reason: str) -> None:
        await self._end(notification_id, reason, cancelled=False)

    async def finish(self, notification_id: int) -> None:
        row = NotificationRow
        statement = update(row).where(row.id == notification_id, row.finished_at.is_(None))
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement.values(finished_at=func.now()))
            work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))

    async def _end(self, notification_id: int, reason: str, *, cancelled: bool) -> None:
        async with self._database.unit_of_work() as work:
            session = work.session
            message = await _load_notification(session, notification_id, lock=True)
            now = await load_time(session)
            pending = _pending(notification_id)
            # Somebody may have got these: neither another try nor "skipped" would be right.
            uncertain = {"state": DeliveryState.UNCERTAIN, "reason": _CUT_OFF, "finished_at": now}
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
    SELECT message.id, message.event_id, recipient.subscription_id, message.cause, message.version, 'none', 'skipped',
        :reason, :now
    FROM soonish.notifications AS message
    JOIN soonish.notification_recipients AS recipient ON recipient.notification_id = message.id
    WHERE message.id = :id AND NOT EXISTS (
        SELECT FROM soonish.deliveries AS delivery
        WHERE delivery.notification_id = message.id AND delivery.subscription_id = recipient.subscription_id)
    ON CONFLICT DO NOTHING
""")


# Whoever left or muted the event after the message was accepted gets nothing more of it. A try that was cut off may
# have arrived.
_SKIP_UNWANTED = text("""
    UPDATE soonish.deliveries AS delivery
    SET state = CASE WHEN delivery.trying_since IS NULL THEN 'skipped' ELSE 'uncertain' END,
        reason = CASE WHEN delivery.trying_since IS NOT NULL THEN :cut_off
            WHEN person.state = 'muted' THEN :muted ELSE :left END,
        next_try_at = NULL, trying_since = NULL, finished_at = :now
    FROM soonish.deliveries AS mine LEFT JOIN soonish.subscriptions AS person ON person.id = mine.subscription_id
    WHERE mine.notification_id = :id AND mine.state = 'pending' AND person.state IS DISTINCT FROM 'active'
      AND delivery.id = mine.id
""")

_FAILING = text("""
    SELECT concat('channel:', id), broken_at FROM soonish.channels
    WHERE broken_at IS NOT NULL AND id = ANY(CAST(:channels AS bigint[]))
    UNION ALL
    SELECT concat('contact:', id), broken_at FROM soonish.contacts
    WHERE broken_at IS NOT NULL AND id = ANY(CAST(:contacts AS bigint[]))
""")


async def _skip_unwanted(session: AsyncSession, notification_id: int, now: datetime) -> None:
    reasons = {"cut_off": _CUT_OFF, "muted": SkipReason.MUTED, "left": SkipReason.LEFT}
    await session.execute(_SKIP_UNWANTED, {"id": notification_id, "now": now, **reasons})


def _is_wanted() -> ColumnElement[bool]:
    return exists().where(
        SubscriptionRow.id == DeliveryRow.subscription_id, SubscriptionRow.state == SubscriptionState.ACTIVE
    )


async def _load_failing(session: AsyncSession, channel_keys: Collection[str]) -> Mapping[str, datetime]:
    """Since when each of these places has failed; a place that works is not among them."""
    ids = {"channels": row_ids(channel_keys, "channel"), "contacts": row_ids(channel_keys, "contact")}
    found = await session.execute(_FAILING, ids)
    return {key: since for key, since in found.tuples()}


def _pending(notification_id: int) -> tuple[ColumnElement[bool], ...]:
    return DeliveryRow.notification_id == notification_id, DeliveryRow.state == DeliveryState.PENDING


async def _load_notification(session: AsyncSession, notification_id: int, *, lock: bool = False) -> NotificationRow:
    row = await session.get(NotificationRow, notification_id, with_for_update=lock)
    if row is None:
        raise NotFoundError("This message no longer exists.", notification_id=notification_id)
    return row


async def _write_missing(session: AsyncSession, message: NotificationRow, batch: Sequence[int]) -> None:
    """Write deliveries for those who have none; a channel that is changed between two tries changes nothing."""
    opened = set(
        await session.scalars(
            select(DeliveryRow.subscription_id).where(
                DeliveryRow.notification_id == message.id, DeliveryRow.subscription_id == one_of(batch)
            )
        )
    )
    new = [subscription_id for subscription_id in batch if subscription_id not in opened]
    if new:
        await write_deliveries(session, message, new, await load_time(session))


async def _update_health(session: AsyncSession, recorded: Sequence[tuple[str, str, str]], now: datetime) -> None:
    """Count failures: a channel that keeps failing is broken, one success resets it."""
    for prefix, statement in (("channel:", _CHANNEL_HEALTH), ("contact:", _CONTACT_HEALTH)):
        outcomes: dict[int, tuple[bool, int, str]] = {}
        for key, state, reason in recorded:
            # A place that never answers is as doubtful as one that refuses.
            if key.startswith(prefix) and state in (DeliveryState.SENT, DeliveryState.FAILED, DeliveryState.UNCERTAIN):
                place = int(key.removeprefix(prefix))
                worked, failed, error = outcomes.get(place, (False, 0, ""))
                sent = state == DeliveryState.SENT
                outcomes[place] = (worked or sent, failed + (not sent), error or reason)
        if outcomes:
            worked_of, failed_of, errors = zip(*outcomes.values(), strict=True)
            await session.execute(
                statement,
                {
                    "ids": list(outcomes),
                    "worked": list(worked_of),
                    "failed": list(failed_of),
                    "errors": list(errors),
                    "limit": BROKEN_AFTER,
                    "probe_after": PROBE_AFTER,
                    "now": now,
                },
            )
