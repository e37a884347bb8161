"""When a digest is due. Pure.

The clock on the wall decides: 07:30 stays 07:30 over every clock change. A time that the clocks skip is read by the
offset before the change, as in calendars (RFC 5545): on the day without a 02:30 it is 03:30. A time that comes twice
means the first one. So every day of a zone has exactly one, and no day has two.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)


class Rhythm(StrEnum):
    OFF = "off"
    DAILY = "daily"
    WEEKLY = "weekly"

    @property
    def period(self) -> timedelta:
        return 7 * DAY if self is Rhythm.WEEKLY else DAY

    @property
    def patience(self) -> timedelta:
        """How late one is still sent, after the machine was off at its time."""
        return 3 * DAY if self is Rhythm.WEEKLY else DAY


@dataclass(frozen=True)
class Choice:
    """What a person chose. `weekday` counts from Monday, 0, and is for weekly ones."""

    rhythm: Rhythm = Rhythm.OFF
    at: time = time(7, 30)
    zone: str = "UTC"
    weekday: int = 0


@dataclass(frozen=True)
class Due:
    """Which digest is due: the one of `period`, or none any more (None). The one after it is due at `next`."""

    period: datetime | None
    next: datetime | None


def next_due(choice: Choice, after: datetime) -> datetime | None:
    """The first one later than this; None while it is off."""
    if choice.rhythm is Rhythm.OFF:
        return None
    day = _local_day(choice, after) - DAY
    while True:
        moment = _moment(choice, day)
        if moment is not None and moment > after:
            return moment
        day += DAY


def last_due(choice: Choice, now: datetime) -> datetime | None:
    """The last one that was due by now."""
    if choice.rhythm is Rhythm.OFF:
        return None
    day = _local_day(choice, now) + DAY
    while True:
        moment = _moment(choice, day)
        if moment is not None and moment <= now:
            return moment
        day -= DAY


def settle(choice: Choice, due_at: datetime, now: datetime) -> Due:
    """Decide what to send when one was due at `due_at`. Of several that were missed there is only one, the last."""
    last = last_due(choice, now)
    following = next_due(choice, now)
    period = due_at if last is None else max(due_at, last)
    return Due(period if now - period <= choice.rhythm.patience else None, following)


def stamp(moment: datetime) -> str:
    """An instant as addresses and keys have it: `20261117T063000Z`."""
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def read_stamp(text: str) -> datetime | None:
    try:
        moment = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment if stamp(moment) == text else None


def _local_day(choice: Choice, moment: datetime) -> date:
    return moment.astimezone(ZoneInfo(choice.zone)).date()


def _moment(choice: Choice, day: date) -> datetime | None:
    if choice.rhythm is Rhythm.WEEKLY and day.weekday() != choice.weekday:
        return None
    # Python reads a skipped time by the offset before the change, and a doubled one as the first, as we want it.
    return datetime.combine(day, choice.at, ZoneInfo(choice.zone)).astimezone(UTC)
