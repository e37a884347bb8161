"""What the activities of soonish need of reminders from outside: rows of the database, and schedules in Temporal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.soonish.domain.reminders import (
    Circumstances,
    ReminderOutcome,
    Subscriber,
    TooLate,
    WantedReminder,
)


@dataclass(frozen=True)
class RequestedReminder:
    """A "remind me in X" that waits for its time."""

    event_id: int
    subscription_id: int
    reminder_id: int
    fire_at: datetime


class Reminders(Protocol):
    """Subscriptions and their reminder schedules as the database knows them."""

    async def load_subscribers(self, event_id: int, subscription_id: int | None = None) -> Sequence[Subscriber]: ...

    async def load_schedules(
        self, event_id: int, subscription_id: int | None = None
    ) -> Mapping[tuple[int, int], datetime]:
        """Schedules that exist: (subscription, offset in seconds) → the start for which they were made.

        Those that everybody shares are always among them, under EVERYBODY.
        """
        ...

    async def count_schedules(self, event_id: int) -> int:
        """How many schedules of one person each the event has."""
        ...

    async def record_schedules(self, event_id: int, reminders: Iterable[WantedReminder]) -> None: ...

    async def forget_schedules(self, event_id: int, keys: Iterable[tuple[int, int]]) -> None: ...

    async def record_too_late(self, event_id: int, offsets: Iterable[TooLate]) -> None: ...

    async def load_circumstances(self, event_id: int, subscription_id: int) -> Circumstances: ...

    async def load_overdue(self, before: datetime, limit: int) -> Sequence[tuple[int, WantedReminder]]:
        """What should have fired before this time and did not, with event ids, the oldest first.

        Each offset and start of an event once, for EVERYBODY, however many people it concerns.
        """
        ...

    async def load_unstarted_requests(self) -> Sequence[RequestedReminder]:
        """Requested reminders that are not cancelled and have no workflow yet."""
        ...

    async def mark_request_started(self, reminder_id: int) -> None: ...

    async def is_request_withdrawn(self, reminder_id: int) -> bool:
        """Whether its person has cancelled it: Temporal may have been down at that time."""
        ...

    async def record_request_outcome(self, reminder_id: int, outcome: ReminderOutcome) -> None: ...


class ReminderSchedules(Protocol):
    """Schedules in Temporal. Creating one that exists and deleting one that is gone are no errors."""

    async def create(self, event_id: int, reminder: WantedReminder) -> None: ...

    async def move(self, event_id: int, reminder: WantedReminder) -> None:
        """Change the schedule in place: at no time are there none or two."""
        ...

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None: ...
