"""What people and the API see of events, subscriptions and messages: never a secret. Pure.

The API returns these as they are; `exclude` and `serialization_alias` say where it differs from the commands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from pressbox.delivery.domain.attempts import DeliveryState, Level
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts, MessageState
from pressbox.soonish.domain.events import EventStatus, FieldChange, Visibility
from pressbox.soonish.domain.reminders import SubscriptionState


@dataclass(frozen=True)
class Viewer:
    """Who looks: somebody who is signed in, somebody with an invitation, both, or anybody; and how they read."""

    user_id: int | None = None
    invitation: str | None = None
    language: str = ""
    timezone: str = ""


@dataclass(frozen=True)
class Holder:
    """Who acts on a subscription: its account or, without a user, whoever has the private link to it."""

    subscription_id: int
    user_id: int | None = None


@dataclass(frozen=True)
class EventView:
    """An event as this viewer sees it. `organises` and `subscription_id` are about the viewer."""

    id: int
    slug: str
    name: str
    description: str
    start_date: datetime
    end_date: datetime | None
    ends_at: datetime
    location: str
    timezone: str
    visibility: Visibility
    status: EventStatus
    version: int
    organiser: str
    organises: bool
    subscription_id: int | None
    created_at: Annotated[datetime, Field(exclude=True)]
    updated_at: datetime
    # The page of what people follow, such as a match, when the instance itself keeps the event for them.
    subject_path: str = ""


@dataclass(frozen=True)
class InvitationView:
    id: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True)
class NewInvitation(InvitationView):
    """A new invitation. `token` can only be shown now: the database keeps a hash of it."""

    token: str


@dataclass(frozen=True)
class RequestedReminderView:
    id: int
    fire_at: datetime
    outcome: str


@dataclass(frozen=True)
class SubscriptionView:
    """A subscription as its holder sees it. `offsets` None means the default, () none; `too_late` are
    those whose time has passed."""

    id: int
    event: EventView
    state: SubscriptionState
    offsets: tuple[timedelta, ...] | None
    channel_ids: tuple[int, ...]
    tags: tuple[str, ...]
    # What may be shown of the address of somebody without an account; otherwise empty.
    address: str
    too_late: tuple[timedelta, ...]
    reminders: tuple[RequestedReminderView, ...]


@dataclass(frozen=True)
class SubscriberView:
    """A subscriber as the organiser sees them: a name, or what may be shown of an address."""

    subscription_id: int
    name: str
    kinds: tuple[str, ...]
    state: SubscriptionState
    reachable: bool
    since: datetime


@dataclass(frozen=True)
class Reach:
    """Whom a message would reach: people, subscribers without a usable channel, and people by kind of channel."""

    people: int
    unreachable: int
    by_kind: Mapping[str, int]


@dataclass(frozen=True)
class MessageView:
    """A message on the organiser's board. `recipients` were fixed at the start; `counts` are deliveries so far."""

    id: int
    event_id: Annotated[int, Field(exclude=True)]
    event_slug: Annotated[str, Field(serialization_alias="event")]
    cause: Cause
    level: Level
    title: str
    body: str
    changes: Annotated[tuple[FieldChange, ...], Field(exclude=True)]
    recipients: int
    state: MessageState
    counts: DeliveryCounts
    created_at: datetime
    finished_at: datetime | None
    cancelled_at: datetime | None


@dataclass(frozen=True)
class DeliveryView:
    """One line of the ledger as the organiser sees it."""

    id: int
    subscription_id: int
    name: str
    channel: str
    state: DeliveryState
    reason: str
    tries: int
    maybe_twice: bool
    next_try_at: datetime | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class ResendView:
    """What is sent again; `skipped` are failures of people who have left, muted the event, or have no channel now."""

    message_id: int
    deliveries: int
    skipped: int


@dataclass(frozen=True)
class WhyView:
    """Why somebody got a message: its cause, the rule that chose the channel, and the result."""

    delivery_id: int
    subscription_id: int
    event_name: str
    event_slug: str
    event_visible: bool
    cause: Cause
    level: Level
    title: str
    rule: str
    channel: str
    state: DeliveryState
    reason: str
    tries: int
    maybe_twice: bool
    created_at: datetime
    finished_at: datetime | None
    subscription_state: SubscriptionState | None
