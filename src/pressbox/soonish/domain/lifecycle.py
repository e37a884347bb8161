"""When edits of an event become one message, and when its workflow wakes up next. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class PendingUpdate:
    """Edits that people are told about in one message: everything since `from_version`, sent at `at`."""

    from_version: int
    at: datetime


def add_edit(
    pending: PendingUpdate | None, version: int, *, announced: int, now: datetime, window: timedelta
) -> PendingUpdate | None:
    """Add the edit that made this version.

    The window opens with the first edit and is not extended: otherwise an organiser who keeps editing would never be
    heard. An edit that an earlier message already covered adds nothing.
    """
    if version <= announced:
        return pending
    since = max(announced, version - 1)
    if pending is None:
        return PendingUpdate(since, now + window)
    return PendingUpdate(min(pending.from_version, since), pending.at)


def next_wake_time(ends_at: datetime, pending: PendingUpdate | None) -> datetime:
    """When there is something to do even without a signal."""
    return min(ends_at, pending.at) if pending else ends_at


def remember_id(ids: tuple[int, ...], new: int, limit: int = 1_000) -> tuple[int, ...]:
    """Add an outbox id to those already handled. Only the newest are kept: a signal is repeated soon or never."""
    return tuple(sorted({*ids, new}))[-limit:]
