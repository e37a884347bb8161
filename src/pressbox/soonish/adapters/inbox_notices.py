"""Puts messages into the inboxes of subscribers who have an account, when their deliveries are written."""

from collections.abc import Sequence

from sqlalchemy import select

from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import UnitOfWork
from pressbox.core.notices.outgoing import DropReason, drop_named
from pressbox.core.notices.publish import Notice, publish_to
from pressbox.soonish.adapters.rows import EventRow, NotificationRow, SubscriptionRow
from pressbox.soonish.adapters.unwanted import comes_from_muted
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.ids import PATH

EVENT_SUBJECT = "soonish.event."
_SILENCE = {SubscriptionState.MUTED: DropReason.MUTED, SubscriptionState.LEFT: DropReason.UNFOLLOWED}


def event_subject(event_id: int) -> str:
    return f"{EVENT_SUBJECT}{event_id}"


async def tell_subscribers(work: UnitOfWork, message: NotificationRow, subscription_ids: Sequence[int]) -> None:
    """Tell those who still want to hear of the event. Who has muted it or left it is not told."""
    subscription = SubscriptionRow
    wanted = (
        select(subscription.user_id, EventRow)
        .join(EventRow, EventRow.id == subscription.event_id)
        .where(
            subscription.id == one_of(subscription_ids),
            subscription.user_id.is_not(None),
            subscription.state == SubscriptionState.ACTIVE,
            ~comes_from_muted(),
        )
    )
    found = (await work.session.execute(wanted)).tuples().all()
    people = [person for person, _ in found if person is not None]
    if people:
        await publish_to(work, _notice(message, found[0][1]), people)


async def drop_unwanted(work: UnitOfWork, subscription: SubscriptionRow) -> None:
    """Let no more messages of the event go to the browsers of somebody who has muted it or left it."""
    reason = _SILENCE.get(SubscriptionState(subscription.state))
    if subscription.user_id is not None and reason is not None:
        await drop_named(work.session, subscription.user_id, event_subject(subscription.event_id), reason)


def _notice(message: NotificationRow, event: EventRow) -> Notice:
    return Notice(
        key=f"soonish.message.{message.id}",
        application="soonish",
        kind=message.cause,
        subject=event_subject(event.id),
        heading=event.name,
        # Its recipients are known: nobody hears of an event by following it.
        followed=(),
        title=message.title,
        path=f"{PATH}/{event.slug}",
        occurred_at=message.created_at,
        # Its deliveries are in the ledger of events.
        sends_itself=True,
    )
