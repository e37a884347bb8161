"""What must not leave any more: the last look before a message is sent."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, any_, case, exists, select

from pressbox.core.db.database import Database
from pressbox.core.notices.rows import FollowRow
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.soonish.adapters.rows import DeliveryRow, EventRow, SubscriptionRow
from pressbox.soonish.domain.delivery import SkipReason
from pressbox.soonish.domain.reminders import SubscriptionState


def comes_from_muted() -> ColumnElement[bool]:
    """Whether its holder has muted what it came with, a moment ago perhaps. What they chose for the event itself stays.

    Of a statement that joins subscriptions and events.
    """
    follow, row = FollowRow, SubscriptionRow
    muted = exists().where(
        follow.user_id == row.user_id, follow.muted_at.is_not(None), follow.subject == any_(EventRow.followed)
    )
    return row.by_follow & ~row.own_choice & muted


class UnwantedDeliveries:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, delivery_ids: Collection[int]) -> Mapping[int, str]:
        """Those of these that were stopped, or whose person has left or muted the event, each with the reason."""
        delivery, row = DeliveryRow, SubscriptionRow
        reason = case(
            # A round that is about to send one finds it pending, unless its message was stopped meanwhile.
            (delivery.state != DeliveryState.PENDING, SkipReason.BROADCAST_CANCELLED.value),
            (comes_from_muted(), SkipReason.MUTED.value),
            (row.state == SubscriptionState.ACTIVE, ""),
            (row.state == SubscriptionState.MUTED, SkipReason.MUTED.value),
            else_=SkipReason.LEFT.value,
        )
        statement = (
            select(delivery.id, reason)
            .outerjoin(row, row.id == delivery.subscription_id)
            .outerjoin(EventRow, EventRow.id == row.event_id)
            .where(delivery.id.in_(delivery_ids))
        )
        async with self._database.unit_of_work() as work:
            found = {number: reason for number, reason in (await work.session.execute(statement)).tuples()}
        return {number: reason for number in delivery_ids if (reason := found.get(number, SkipReason.LEFT.value))}
