"""What an event's life decides: when edits become one message, and when to wake up next. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class PendingUpdate:
    """Edits that people will hear of in one message: everything since `from_version`, told at `at`."""

    from_version: int
    at: datetime


def with_edit(
    pending: PendingUpdate | None, version: int, *, announced: int, now: datetime, window: timedelta
) -> PendingUpdate | None:
    """Add the edit that made this version.

    The window opens with the first edit and does not grow, so that an organiser who keeps typing is heard in the end.
    An edit that an earlier message already covered adds nothing.
    """
    if version <= announced:
        return pending
    since = max(announced, version - 1)
    if pending is None:
        return PendingUpdate(since, now + window)
    return PendingUpdate(min(pending.from_version, since), pending.at)


def next_wake(ends_at: datetime, pending: PendingUpdate | None) -> datetime:
    """When something is to be done although nobody said anything."""
    return min(ends_at, pending.at) if pending else ends_at


def remembered(heard: tuple[int, ...], number: int, most: int = 1_000) -> tuple[int, ...]:
    """The numbers already heard, with this one; only the newest are kept, since repetitions come soon or never."""
    return tuple(sorted({*heard, number}))[-most:]
