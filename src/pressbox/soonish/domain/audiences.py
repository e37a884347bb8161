"""Who may read of work on events, messages and subscriptions; `adapters/audiences.py` says who belongs to them."""

from pressbox.core.audiences.contracts import Audience

ORGANISER = "soonish.event"
SENDER = "soonish.notification"
SUBSCRIBER = "soonish.subscription"


def organiser_of(event_id: int) -> Audience:
    return Audience(kind=ORGANISER, id=event_id)


def sender_of(notification_id: int) -> Audience:
    return Audience(kind=SENDER, id=notification_id)


def subscriber_of(subscription_id: int) -> Audience:
    return Audience(kind=SUBSCRIBER, id=subscription_id)
