"""Which reminder schedules should exist, and what must change so that they do. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.times import format_offset

DEFAULT_OFFSETS = (timedelta(days=1), timedelta(hours=1))
MIN_OFFSET = timedelta(seconds=60)
MAX_OFFSET = timedelta(days=365)
MAX_OFFSETS = 20
# A reminder that could not be sent at its time is still sent for this long.
CATCH_UP_WINDOW = timedelta(minutes=10)
# Stands for everybody who chose one offset: in large events they share one schedule.
EVERYBODY = 0
_SHARED = "all"
# A reminder that is sent within this time of its moment is on time.
ON_TIME = timedelta(minutes=1)


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
    """One schedule that should exist, for a person or for EVERYBODY who chose this offset.

    The key never changes; `start_date` moves with the event.
    """

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
    """An offset whose time has passed: the subscriber is told, instead of waiting for nothing."""

    subscription_id: int
    offset: timedelta

    def __str__(self) -> str:
        return f"too late for {format_offset(self.offset)}"


@dataclass(frozen=True)
class ReminderPlan:
    wanted: tuple[WantedReminder, ...]
    too_late: tuple[TooLate, ...]


@dataclass(frozen=True)
class ScheduleDifference:
    """What must change so that exactly the wanted schedules exist."""

    create: tuple[WantedReminder, ...]
    move: tuple[WantedReminder, ...]
    delete: tuple[tuple[int, int], ...]


def validate_offsets(offsets: Iterable[timedelta] | None) -> tuple[timedelta, ...] | None:
    """Return each offset once, largest first."""
    if offsets is None:
        return None
    kept = tuple(sorted(set(offsets), reverse=True))
    if len(kept) > MAX_OFFSETS:
        raise InvalidInputError(f"At most {MAX_OFFSETS} reminders for one event.", field="offsets")
    for offset in kept:
        if not MIN_OFFSET <= offset <= MAX_OFFSET:
            raise InvalidInputError("A reminder is between 1 minute and 365 days before the start.", field="offsets")
        if offset.microseconds:
            raise InvalidInputError("A reminder is a whole number of seconds before the start.", field="offsets")
    return kept


def plan_reminders(
    status: EventStatus, start_date: datetime, subscribers: Iterable[Subscriber], now: datetime
) -> ReminderPlan:
    """Decide which schedules should exist now."""
    if status is not EventStatus.ACTIVE:
        return ReminderPlan((), ())
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
    return ReminderPlan(tuple(wanted), tuple(too_late))


def share_schedules(plan: ReminderPlan) -> ReminderPlan:
    """One schedule for everybody who chose the same offset, instead of one for each of them."""
    shared = {item.offset: WantedReminder(EVERYBODY, item.offset, item.start_date) for item in plan.wanted}
    return ReminderPlan(tuple(shared.values()), plan.too_late)


def compare_schedules(
    wanted: Iterable[WantedReminder], existing: Mapping[tuple[int, int], datetime]
) -> ScheduleDifference:
    """Compare with the schedules that exist: key → the start for which each was made."""
    by_key = {reminder.key: reminder for reminder in wanted}
    return ScheduleDifference(
        create=tuple(reminder for key, reminder in by_key.items() if key not in existing),
        move=tuple(
            reminder for key, reminder in by_key.items() if key in existing and existing[key] != reminder.start_date
        ),
        delete=tuple(key for key in existing if key not in by_key),
    )


class ReminderOutcome(StrEnum):
    """How a reminder ended. SENT reached its person, UNCERTAIN may have; the others say why nothing was sent."""

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
    SHARED = "sent with everybody's"
    WITHDRAWN = "no longer wanted"

    @property
    def is_failure(self) -> bool:
        """Its person wanted it and did not get it, or perhaps did not."""
        return self in (ReminderOutcome.FAILED, ReminderOutcome.UNCERTAIN, ReminderOutcome.MISSED)


@dataclass(frozen=True)
class Circumstances:
    """Event and subscription at the time a reminder fires, read again from the database."""

    status: EventStatus | None
    start_date: datetime | None
    subscription: SubscriptionState | None


def find_refusal(
    planned_start: datetime, offset: timedelta, circumstances: Circumstances, now: datetime
) -> ReminderOutcome | None:
    """Why the reminder must not be sent, or None when it is due."""
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
    if now > planned_start - offset + CATCH_UP_WINDOW:
        return ReminderOutcome.MISSED
    return None


def may_go_on(refusal: ReminderOutcome, start: datetime, now: datetime) -> bool:
    """Whether a reminder that was begun in time is sent all the same: nobody is skipped because sending took long.

    Mail servers ask for many minutes. The text says how much time is left, or that the event has started.
    """
    if refusal is ReminderOutcome.STARTED:
        return now < start + CATCH_UP_WINDOW
    return refusal is ReminderOutcome.MISSED


def summarise_outcome(*, sent: int, uncertain: int, failed: int) -> ReminderOutcome:
    """The best outcome among the deliveries of a reminder; without any there was no usable channel."""
    if sent:
        return ReminderOutcome.SENT
    if uncertain:
        return ReminderOutcome.UNCERTAIN
    return ReminderOutcome.FAILED if failed else ReminderOutcome.NO_TARGETS


def message_version(reminder: WantedReminder) -> str:
    """The same person, offset and start make the same message; a moved start makes a new one."""
    who = _SHARED if reminder.subscription_id == EVERYBODY else str(reminder.subscription_id)
    return f"{who}-{reminder.key[1]}s-{reminder.start_date:%Y%m%dT%H%M%SZ}"


def delivery_version(version: str, subscription_id: int) -> str:
    """The version of a reminder's delivery: the same for one person, whether sent to them alone or to everybody."""
    who, dash, rest = version.partition("-")
    return f"{subscription_id}{dash}{rest}" if who == _SHARED else version


def parse_offset(version: str) -> timedelta:
    """The offset in the version of a reminder's message."""
    return timedelta(seconds=int(version.split("-")[1].removesuffix("s")))


def describe_start(offset: timedelta, start: datetime, now: datetime, zone: tzinfo) -> str:
    """`is tomorrow`, `starts in 1 hour`, `starts in 6 minutes` when the reminder is late: what is true at this moment.

    Within a minute of its time the words are those of the offset, because seconds interest nobody.
    """
    left = start - now
    if left <= timedelta(0):
        return "has started"
    if abs(offset - left) < ON_TIME:
        left = offset
    days = (start.astimezone(zone).date() - now.astimezone(zone).date()).days
    if offset == timedelta(days=1) and days == 1:
        return "is tomorrow"
    whole_minutes = timedelta(minutes=max(1, round(left / timedelta(minutes=1))))
    return f"starts in {format_offset(left if left == offset else whole_minutes)}"
