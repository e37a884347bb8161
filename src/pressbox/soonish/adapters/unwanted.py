"""Which subscribers want nothing of their event any more: the last look before a message leaves."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, any_, case, exists, select

from pressbox.core.db.database import Database
from pressbox.core.notices.rows import FollowRow
from pressbox.soonish.adapters.rows import EventRow, SubscriptionRow
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


class UnwantedSubscriptions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, subscription_ids: Collection[int]) -> Mapping[int, str]:
        """Those of these that are not active, or gone, each with the reason."""
        row = SubscriptionRow
        async with self._database.unit_of_work() as work:
            statement = select(row.id, case((comes_from_muted(), SubscriptionState.MUTED), else_=row.state))
            joined = statement.join(EventRow, EventRow.id == row.event_id).where(row.id.in_(subscription_ids))
            found = await work.session.execute(joined)
            states = {number: state for number, state in found.tuples()}
        return {
            number: SkipReason.MUTED if states.get(number) == SubscriptionState.MUTED else SkipReason.LEFT
            for number in subscription_ids
            if states.get(number) != SubscriptionState.ACTIVE
        }
