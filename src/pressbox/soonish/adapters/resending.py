"""Opens failed deliveries of a finished message again, inside a unit of work."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.soonish.adapters.recipients import Addresses, find_targets, load_addresses, one_of, write_deliveries
from pressbox.soonish.adapters.rows import DeliveryRow, NotificationRow
from pressbox.soonish.domain.delivery import SkipReason
from pressbox.soonish.domain.views import ResendView

# Such a channel is tried all the same: somebody asked for it.
_WORTH_A_TRY = (None, SkipReason.CHANNEL_BROKEN)

_OPEN_AGAIN = text("""
    UPDATE soonish.deliveries
    SET state = 'pending', reason = '', finished_at = NULL, next_try_at = NULL, trying_since = NULL,
        claimed_by = NULL, claimed_until = NULL, tried_by = NULL,
        maybe_twice = maybe_twice OR state = 'uncertain', earlier_tries = earlier_tries + tries, tries = 0
    WHERE id = ANY(CAST(:ids AS bigint[]))
""")


@dataclass(frozen=True)
class Failure:
    delivery_id: int
    subscription_id: int
    channel_key: str


async def open_failures(
    session: AsyncSession,
    message: NotificationRow,
    delivery_ids: Collection[int] | None,
    states: Sequence[DeliveryState],
    now: datetime,
) -> ResendView:
    """Make deliveries in these states pending, with fresh tries; None means all of the message.

    Whoever has left or muted the event, or has no channel any more, keeps the old result. Whoever has chosen another
    channel since then gets the message there.
    """
    failures = await _load_failures(session, message.id, delivery_ids, states)
    addresses = await load_addresses(session, sorted({item.subscription_id for item in failures}))
    channels = {item.subscription_id: _find_channels(item.subscription_id, addresses) for item in failures}
    same = [item for item in failures if item.channel_key in channels[item.subscription_id]]
    await session.execute(_OPEN_AGAIN, {"ids": [item.delivery_id for item in same]})
    replaced = [item for item in failures if item not in same and channels[item.subscription_id]]
    moved = await _move_to_new_channels(session, message, replaced, now)
    return ResendView(
        message_id=message.id, deliveries=len(same) + moved, skipped=len(failures) - len(same) - len(replaced)
    )


async def _load_failures(
    session: AsyncSession, message_id: int, delivery_ids: Collection[int] | None, states: Sequence[DeliveryState]
) -> Sequence[Failure]:
    row = DeliveryRow
    statement = select(row.id, row.subscription_id, row.channel_key).where(
        row.notification_id == message_id, row.state.in_(states)
    )
    if delivery_ids is not None:
        statement = statement.where(row.id == one_of(delivery_ids))
    return [Failure(*found) for found in (await session.execute(statement.order_by(row.id))).tuples()]


def _find_channels(subscription_id: int, addresses: Addresses) -> Collection[str]:
    """The channels that a message to this person would use today; none for who left or muted the event."""
    targets = find_targets(subscription_id, addresses)
    return {target.channel_key for target in targets if target.rule and target.skipped in _WORTH_A_TRY}


async def _move_to_new_channels(
    session: AsyncSession, message: NotificationRow, replaced: Sequence[Failure], now: datetime
) -> int:
    """Write deliveries for the channels of today; returns how many are new."""
    if not replaced:
        return 0
    pending = select(func.count()).where(
        DeliveryRow.notification_id == message.id, DeliveryRow.state == DeliveryState.PENDING
    )
    before = await session.scalar(pending) or 0
    await write_deliveries(session, message, sorted({item.subscription_id for item in replaced}), now)
    await session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == one_of([item.delivery_id for item in replaced]))
        .values(state=DeliveryState.SKIPPED, reason=SkipReason.CHANNEL_REPLACED)
    )
    return (await session.scalar(pending) or 0) - before
