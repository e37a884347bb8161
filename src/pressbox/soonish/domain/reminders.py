"""Which reminder schedules should exist, and what must change so that they do. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.times import spoken_offset

DEFAULT_OFFSETS = (timedelta(days=1), timedelta(hours=1))
SHORTEST_OFFSET = timedelta(seconds=60)
LONGEST_OFFSET = timedelta(days=365)
MOST_OFFSETS = 20
CATCH_UP = timedelta(minutes=10)


class SubscriptionState(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    MUTED = "muted"
    LEFT = "left"


@dataclass(frozen=True)
class Subscriber:
    """A subscription as planning sees it. `offsets` None means the default, () means no reminders."""

    subscription_id: int
    state: SubscriptionState
    offsets: tuple[timedelta, ...] | None


@dataclass(frozen=True)
class WantedReminder:
    """One schedule that should exist. The key never changes; `start_date` moves with the event."""

    subscription_id: int
    offset: timedelta
    start_date: datetime

    @property
    def key(self) -> tuple[int, int]:
        return self.subscription_id, int(self.offset.total_seconds())

    @property
    def fire_at(self) -> datetime:
        return self.start_date - self.offset


@dataclass(frozen=True)
class TooLate:
    """An offset whose moment has passed: said to the subscriber, not dropped in silence."""

    subscription_id: int
    offset: timedelta

    def __str__(self) -> str:
        return f"too late for {spoken_offset(self.offset)}"


@dataclass(frozen=True)
class Plan:
    wanted: tuple[WantedReminder, ...]
    too_late: tuple[TooLate, ...]


@dataclass(frozen=True)
class Difference:
    """What to do so that exactly the wanted schedules exist: nothing for those that already do."""

    create: tuple[WantedReminder, ...]
    move: tuple[WantedReminder, ...]
    delete: tuple[tuple[int, int], ...]

    @property
    def calls(self) -> int:
        return len(self.create) + len(self.move) + len(self.delete)


def checked_offsets(offsets: Iterable[timedelta] | None) -> tuple[timedelta, ...] | None:
    """The offsets as they are kept: each once, largest first."""
    if offsets is None:
        return None
    kept = tuple(sorted(set(offsets), reverse=True))
    if len(kept) > MOST_OFFSETS:
        raise InvalidInputError(f"At most {MOST_OFFSETS} reminders for one event.", field="offsets")
    for offset in kept:
        if not SHORTEST_OFFSET <= offset <= LONGEST_OFFSET:
            raise InvalidInputError("A reminder is between 1 minute and 365 days before the start.", field="offsets")
        if offset.microseconds:
            raise InvalidInputError("A reminder is a whole number of seconds before the start.", field="offsets")
    return kept


def plan(status: EventStatus, start_date: datetime, subscribers: Iterable[Subscriber], now: datetime) -> Plan:
    """The schedules that should exist now."""
    if status is not EventStatus.ACTIVE:
        return Plan((), ())
    wanted: list[WantedReminder] = []
    too_late: list[TooLate] = []
    for subscriber in subscribers:
        if subscriber.state is not SubscriptionState.ACTIVE:
            continue
        for offset in DEFAULT_OFFSETS if subscriber.offsets is None else subscriber.offsets:
            reminder = WantedReminder(subscriber.subscription_id, offset, start_date)
            if reminder.fire_at > now:
                wanted.append(reminder)
            else:
                too_late.append(TooLate(subscriber.subscription_id, offset))
    return Plan(tuple(wanted), tuple(too_late))


def difference(wanted: Iterable[WantedReminder], existing: Mapping[tuple[int, int], datetime]) -> Difference:
    """Compare with what exists: key → the start for which it was made."""
    by_key = {reminder.key: reminder for reminder in wanted}
    return Difference(
        create=tuple(reminder for key, reminder in by_key.items() if key not in existing),
        move=tuple(
            reminder for key, reminder in by_key.items() if key in existing and existing[key] != reminder.start_date
        ),
        delete=tuple(key for key in existing if key not in by_key),
    )


class ReminderOutcome(StrEnum):
    """How a reminder ended. SENT reached somebody, UNCERTAIN may have; the others say why nothing was sent."""

    SENT = "sent"
    UNCERTAIN = "uncertain: it may have arrived"
    FAILED = "failed"
    EVENT_GONE = "event gone"
    CANCELLED = "event cancelled"
    MOVED = "event moved"
    STARTED = "event already started"
    LEFT = "unsubscribed"
    MUTED = "muted"
    MISSED = "missed: too late"
    NO_TARGETS = "no usable channel"
    WITHDRAWN = "no longer wanted"


@dataclass(frozen=True)
class Circumstances:
    """What is true at the moment a reminder fires, read again from the database."""

    status: EventStatus | None
    start_date: datetime | None
    subscription: SubscriptionState | None


def judge(
    planned_start: datetime, offset: timedelta, circumstances: Circumstances, now: datetime
) -> ReminderOutcome | None:
    """Why nothing may be sent, or None when the reminder is due."""
    if circumstances.status is None or circumstances.start_date is None:
        return ReminderOutcome.EVENT_GONE
    if circumstances.status is not EventStatus.ACTIVE:
        return ReminderOutcome.CANCELLED
    if circumstances.subscription is SubscriptionState.MUTED:
        return ReminderOutcome.MUTED
    if circumstances.subscription is not SubscriptionState.ACTIVE:
        return ReminderOutcome.LEFT
    if circumstances.start_date != planned_start:
        return ReminderOutcome.MOVED
    if now >= planned_start:
        return ReminderOutcome.STARTED
    if now > planned_start - offset + CATCH_UP:
        return ReminderOutcome.MISSED
    return None


def outcome_of(*, sent: int, uncertain: int, failed: int) -> ReminderOutcome:
    """What a reminder's deliveries came to, the best of them; without any there was no usable channel."""
    if sent:
        return ReminderOutcome.SENT
    if uncertain:
        return ReminderOutcome.UNCERTAIN
    return ReminderOutcome.FAILED if failed else ReminderOutcome.NO_TARGETS


def message_version(reminder: WantedReminder) -> str:
    """What makes a reminder the same message again: its person, offset and start. A moved start is a new one."""
    return f"{reminder.subscription_id}-{reminder.key[1]}s-{reminder.start_date:%Y%m%dT%H%M%SZ}"


def starts_text(offset: timedelta) -> str:
    """`is tomorrow`, `starts in 1 hour`, `starts in 25 minutes`."""
    return "is tomorrow" if offset == timedelta(days=1) else f"starts in {spoken_offset(offset)}"
