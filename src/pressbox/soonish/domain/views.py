"""What people see of events, channels, subscriptions and messages: no secret is ever among it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pressbox.soonish.domain.delivery import Cause, DeliveryState, Level
from pressbox.soonish.domain.events import EventStatus, FieldChange, Visibility
from pressbox.soonish.domain.reminders import SubscriptionState


@dataclass(frozen=True)
class Viewer:
    """Who looks: somebody signed in, the holder of an invitation, both, or anybody."""

    user_id: int | None = None
    invitation: str | None = None


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
    created_at: datetime
    updated_at: datetime
    organises: bool = False
    subscription_id: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether people can subscribe."""
        return self.status is EventStatus.ACTIVE


@dataclass(frozen=True)
class InvitationView:
    id: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True)
class NewInvitation:
    """An invitation at its making, the only moment at which `token` can be shown."""

    token: str
    view: InvitationView


@dataclass(frozen=True)
class ChannelView:
    """A channel as its owner sees it: never its address. `kind` is the scheme, with the host where it is no secret."""

    id: int
    name: str
    kind: str
    tags: tuple[str, ...]
    is_active: bool
    failures: int
    broken_at: datetime | None
    last_error: str
    created_at: datetime


@dataclass(frozen=True)
class AskedReminderView:
    id: int
    fire_at: datetime
    outcome: str


@dataclass(frozen=True)
class SubscriptionView:
    """A subscription as its holder sees it. `offsets` None means the default, () none; `too_late` is in words."""

    id: int
    event: EventView
    state: SubscriptionState
    offsets: tuple[timedelta, ...] | None
    channel_ids: tuple[int, ...]
    tags: tuple[str, ...]
    # For somebody without an account, what may be shown of the address; otherwise empty.
    address: str
    too_late: tuple[str, ...]
    reminders: tuple[AskedReminderView, ...]


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
    """Whom a message would reach: people, and how many of them over which kind of channel."""

    people: int
    unreachable: int
    by_kind: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Counts:
    sent: int = 0
    pending: int = 0
    uncertain: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def total(self) -> int:
        return self.sent + self.pending + self.uncertain + self.failed + self.skipped


@dataclass(frozen=True)
class MessageView:
    """A message on the organiser's board. `recipients` is the snapshot; `counts` are deliveries written so far."""

    id: int
    event_id: int
    event_slug: str
    cause: Cause
    level: Level
    title: str
    body: str
    changes: tuple[FieldChange, ...]
    recipients: int
    counts: Counts
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
class WhyView:
    """Why somebody got a message: what happened, which rule chose the channel, what became of it."""

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


@dataclass(frozen=True)
class CalendarEntry:
    """An event for a calendar program: `uid` never changes, `sequence` rises with every change."""

    uid: str
    sequence: int
    name: str
    description: str
    location: str
    start_date: datetime
    ends_at: datetime
    timezone: str
    cancelled: bool
    updated_at: datetime
    slug: str


def calendar_entry(event: EventView) -> CalendarEntry:
    return CalendarEntry(
        uid=f"{event.slug}@pressbox",
        sequence=event.version,
        name=event.name,
        description=event.description,
        location=event.location,
        start_date=event.start_date,
        ends_at=event.ends_at,
        timezone=event.timezone,
        cancelled=event.status is EventStatus.CANCELLED,
        updated_at=event.updated_at,
        slug=event.slug,
    )
