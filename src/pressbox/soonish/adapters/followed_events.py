"""The events of which somebody hears, with what lets them mute and leave each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of
from pressbox.soonish.adapters.event_rows import ends_at
from pressbox.soonish.adapters.rows import EventRow, SubscriptionRow
from pressbox.soonish.adapters.unwanted import comes_from_muted
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState

# A page of more than these would be read by nobody.
MOST_LISTED = 500
_HELD = (SubscriptionState.ACTIVE, SubscriptionState.MUTED)


@dataclass(frozen=True)
class HeldEvent:
    """An event and the subscription to it. `organises`: only because they organise it, which cannot be muted."""

    event: EventRow
    subscription_id: int
    muted: bool
    by_follow: bool
    organises: bool
    over: bool


async def load_held_events(
    session: AsyncSession, user_id: int, now: datetime, event_ids: Collection[int] | None = None
) -> Sequence[HeldEvent]:
    """Those of these events, or all that are not over and to which somebody is subscribed; what comes next first."""
    row = SubscriptionRow
    is_muted = (row.state == SubscriptionState.MUTED) | comes_from_muted()
    ended = ends_at() <= now
    is_over = case((EventRow.status.in_((EventStatus.CANCELLED, EventStatus.COMPLETED)), True), else_=ended)
    statement = (
        select(EventRow, row.id, is_muted, row.by_follow, row.organiser_only, is_over)
        .join(EventRow, EventRow.id == row.event_id)
        .where(row.user_id == user_id, row.state.in_(_HELD), EventRow.deleted_at.is_(None))
        .order_by(EventRow.start_date, EventRow.id)
        .limit(MOST_LISTED)
    )
    if event_ids is None:
        statement = statement.where(row.organiser_only.is_(False), ~is_over)
    else:
        statement = statement.where(EventRow.id == one_of(event_ids))
    return [HeldEvent(*found) for found in (await session.execute(statement)).tuples()]
