"""When edits of an event become one message, and when its workflow wakes up next. Pure."""

from collections.abc import Iterable
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


class KnownIds:
    """Outbox ids already handled. Only the newest are kept: a signal is repeated soon or never."""

    def __init__(self, ids: Iterable[int] = (), limit: int = 1_000) -> None:
        self._ids = dict.fromkeys(ids)
        self._limit = limit

    def add(self, new: int) -> bool:
        """Return False when it is known already. Takes the same time however many are known."""
        if new in self._ids:
            return False
        self._ids[new] = None
        if len(self._ids) > self._limit:
            del self._ids[next(iter(self._ids))]
        return True

    def list_all(self) -> tuple[int, ...]:
        return tuple(self._ids)


def count_shards(recipients: int, page: int, most: int) -> int:
    """How many parts of a message are sent side by side: one for every page of recipients."""
    return max(1, min(most, -(-recipients // page)))
