"""The hours in which somebody wants to be left in peace, on their own clock. Pure.

A time that a clock change skips is read by the offset before the change, one that comes twice is the first (RFC 5545).
Hours are spans between two instants, so an hour that comes twice is not quiet a second time.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

from pressbox.core.errors import InvalidInputError

DAY = timedelta(days=1)
# Why a row waits, as people read it beside the notice.
QUIET = "Quiet hours."


@dataclass(frozen=True)
class QuietHours:
    """From `begins` to `ends`; over midnight when it ends earlier than it begins."""

    begins: time
    ends: time
    zone: str

    def quiet_until(self, now: datetime) -> datetime | None:
        """When the quiet hours end that it is in now; None when it is not quiet."""
        today = now.astimezone(ZoneInfo(self.zone)).date()
        for day in (today - DAY, today):
            begin, end = self._instant(day, self.begins), self._end_of(day)
            if begin <= now < end:
                return end
        return None

    def _end_of(self, day: date) -> datetime:
        return self._instant(day if self.ends > self.begins else day + DAY, self.ends)

    def _instant(self, day: date, clock: time) -> datetime:
        return datetime.combine(day, clock, ZoneInfo(self.zone)).astimezone(UTC)


def choose_quiet_hours(begins: str, ends: str, zone: str) -> QuietHours | None:
    """The hours that these words name, or what is wrong with them; nothing named is no quiet hours."""
    if not begins.strip() and not ends.strip():
        return None
    clocks = [_read_clock(text, field) for text, field in ((begins, "quiet_begins"), (ends, "quiet_ends"))]
    if clocks[0] == clocks[1]:
        raise InvalidInputError("Quiet hours end at another time than they begin.", field="quiet_ends")
    if zone not in available_timezones():
        raise InvalidInputError(f"{zone!r} is not a time zone. Use a name such as Europe/Berlin.", field="quiet_zone")
    return QuietHours(clocks[0], clocks[1], zone)


def _read_clock(text: str, field: str) -> time:
    try:
        return time.fromisoformat(text.strip()).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError as error:
        raise InvalidInputError("Write the time as 22:00.", field=field) from error
