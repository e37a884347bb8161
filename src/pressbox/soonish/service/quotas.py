"""How much one person may have and do with events."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.quotas.quota import DAY, Quota
from pressbox.delivery.service.quotas import CHANNELS
from pressbox.soonish.adapters.rows import EventRow, InvitationRow, RequestedReminderRow, SubscriptionRow
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState

_OPEN = (EventStatus.DRAFT, EventStatus.ACTIVE)


async def count_events(session: AsyncSession, user_id: int) -> int:
    """Those that are not over."""
    mine = (EventRow.organiser_id == user_id, EventRow.deleted_at.is_(None), EventRow.status.in_(_OPEN))
    return await session.scalar(select(func.count()).where(*mine)) or 0


async def count_subscriptions(session: AsyncSession, user_id: int) -> int:
    """Those they chose themselves: what comes with a follow is limited by the quota of follows."""
    chosen = (SubscriptionRow.state != SubscriptionState.LEFT, SubscriptionRow.by_follow.is_(False))
    mine = (SubscriptionRow.user_id == user_id, *chosen)
    event = SubscriptionRow.event_id == EventRow.id
    statement = select(func.count()).select_from(SubscriptionRow).join(EventRow, event)
    return await session.scalar(statement.where(*mine, EventRow.status.in_(_OPEN))) or 0


async def count_invitations(session: AsyncSession, user_id: int) -> int:
    """Those that still open an event."""
    event = InvitationRow.event_id == EventRow.id
    valid = (InvitationRow.revoked_at.is_(None), InvitationRow.expires_at > func.now())
    statement = select(func.count()).select_from(InvitationRow).join(EventRow, event)
    return await session.scalar(statement.where(EventRow.organiser_id == user_id, *valid)) or 0


async def count_reminders(session: AsyncSession, user_id: int) -> int:
    """Those that wait for their time."""
    subscription = RequestedReminderRow.subscription_id == SubscriptionRow.id
    waiting = (RequestedReminderRow.cancelled_at.is_(None), RequestedReminderRow.outcome == "")
    statement = select(func.count()).select_from(RequestedReminderRow).join(SubscriptionRow, subscription)
    return await session.scalar(statement.where(SubscriptionRow.user_id == user_id, *waiting)) or 0


EVENTS = Quota("events", "Events that are not over", 500, count=count_events)
EVENTS_MADE = Quota("events_made", "Events made", 200, window=DAY)
SUBSCRIPTIONS = Quota("event_subscriptions", "Events followed", 1000, count=count_subscriptions)
REMINDERS = Quota("reminders", "Reminders that wait", 200, count=count_reminders)
REMINDERS_SET = Quota("reminders_set", "Reminders set", 500, window=DAY)
INVITATIONS = Quota("invitations", "Open invitations", 500, count=count_invitations)
MESSAGES = Quota("messages", "Messages to the subscribers of your events", 200, window=DAY)
QUOTAS = (EVENTS, EVENTS_MADE, SUBSCRIPTIONS, REMINDERS, REMINDERS_SET, CHANNELS, INVITATIONS, MESSAGES)
