"""What soonish needs from outside. Times are aware UTC; every trouble with a part of ours is a TransientError."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.soonish.contracts import DeliveryCounts, EventDetails, Message
from pressbox.soonish.domain.delivery import AttemptResult, Cause, Level, Verdict
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import (
    Circumstances,
    ReminderOutcome,
    Subscriber,
    TooLate,
    WantedReminder,
)


@dataclass(frozen=True)
class Due:
    """One delivery that may be tried now. `channel_key` says where the address is kept; the address is not here.

    `tries` is how many were begun before: the next one is number `tries + 1`.
    """

    delivery_id: int
    subscription_id: int
    channel_key: str
    tries: int


@dataclass(frozen=True)
class Recorded:
    """The result of one try, for the ledger."""

    delivery_id: int
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class AskedReminder:
    """ "Remind me in X" as it waits for its moment."""

    event_id: int
    subscription_id: int
    reminder_id: int
    fire_at: datetime


@dataclass(frozen=True)
class BrokenChannel:
    """A channel that is marked broken, and how else its owner can be reached."""

    channel_id: int
    name: str
    reason: str
    other_channels: tuple[str, ...]
    owner_email: str = field(repr=False)


@dataclass(frozen=True)
class Sealed:
    """An address at rest. `target` is the same for two addresses of the same place; `shown` is what may be seen."""

    key_id: str
    encrypted: bytes
    target: bytes
    kind: str
    shown: str


@dataclass(frozen=True)
class Holder:
    """Who acts on a subscription: its account, or, without a user, whoever has the private link to it."""

    subscription_id: int
    user_id: int | None = None


@dataclass(frozen=True)
class Outgoing:
    """A message on its way to one target. `why_url` and `unsubscribe_url` are private to that person."""

    title: str
    body: str
    level: Level
    why_url: str
    unsubscribe_url: str


@dataclass(frozen=True)
class Attempt:
    """What a try came to, in words without secrets."""

    result: AttemptResult
    reason: str = ""
    retry_after: timedelta | None = None


class Sender(Protocol):
    """Sends one message to one target. Never raises for what the other side does: that is an Attempt."""

    async def send(self, channel_key: str, message: Outgoing) -> Attempt: ...


class Mailer(Protocol):
    """Mail of the instance itself."""

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> None: ...


class BrokenChannels(Protocol):
    """Channels that stopped working and whose owners have not heard of it."""

    async def claim(self, limit: int) -> Sequence[BrokenChannel]:
        """Each is given out once: an owner who hears nothing still sees it on the page, one told twice is annoyed."""
        ...


class Events(Protocol):
    """Events as the workflows read and end them."""

    async def details(self, event_id: int) -> EventDetails | None: ...

    async def facts(self, event_id: int) -> EventFacts | None: ...

    async def accept_update(self, event_id: int, from_version: int) -> tuple[int | None, int]:
        """Write the message about everything since that version; its id (None: no change) and the present version."""
        ...

    async def complete(self, event_id: int) -> None:
        """Mark an active event as completed."""
        ...

    async def created_notification(self, event_id: int) -> int | None:
        """The message that tells the organiser of the creation, while it is not finished; None for a draft."""
        ...

    async def purge_deleted(self, before: datetime) -> int:
        """Remove events that were deleted before this instant and whose messages are all out; gives their number.

        What workflows were told before this instant goes too.
        """
        ...


class Ledger(Protocol):
    """The delivery ledger. Each method is one transaction; nothing is sent while one is open."""

    async def accept(
        self,
        event_id: int,
        cause: Cause,
        version: str,
        level: Level,
        text: MessageText,
        subscription_ids: Sequence[int],
    ) -> int:
        """A message for these recipients. The same (event, cause, version) again gives the same id."""
        ...

    async def open_batch(self, notification_id: int, after: int, limit: int) -> tuple[int | None, int]:
        """Write the deliveries of the next recipients; the last subscription id (None: none left) and the total."""
        ...

    async def due(self, notification_id: int, now: datetime) -> Sequence[Due]:
        """Pending deliveries that may be tried now. One with an open try was cut off: it is marked `maybe_twice`."""
        ...

    async def begin(self, delivery_ids: Iterable[int], now: datetime) -> None:
        """Note, durably, that these are being tried; counts the try."""
        ...

    async def record(self, delivery_id: int, verdict: Verdict, reason: str, now: datetime) -> None:
        """The result of a try; counts failures of the channel and marks it broken when it was too often."""
        ...

    async def record_many(self, results: Sequence[Recorded], now: datetime) -> None:
        """The same for many at once, in a few statements."""
        ...

    async def message(self, notification_id: int) -> tuple[MessageText, Level]: ...

    async def counts(self, notification_id: int) -> tuple[DeliveryCounts, datetime | None]:
        """How many are in which state, and when the next pending one is due."""
        ...

    async def cancel(self, notification_id: int) -> None:
        """Skip everything that is still pending or not yet opened, and mark the message as stopped."""
        ...

    async def skip(self, notification_id: int, reason: str) -> None:
        """Record that nobody gets this one, and why: a reminder that came too late, for one. Finishes the message."""
        ...

    async def finish(self, notification_id: int) -> None: ...


class Reminders(Protocol):
    """Subscriptions and their reminder schedules as the database knows them."""

    async def subscribers(self, event_id: int, subscription_id: int | None = None) -> Sequence[Subscriber]: ...

    async def existing(self, event_id: int, subscription_id: int | None = None) -> Mapping[tuple[int, int], datetime]:
        """Schedules that exist: (subscription, offset seconds) → the start for which they were made."""
        ...

    async def note(self, event_id: int, reminders: Iterable[WantedReminder]) -> None:
        """These schedules exist now."""
        ...

    async def forget(self, keys: Iterable[tuple[int, int]]) -> None: ...

    async def note_too_late(self, event_id: int, offsets: Iterable[TooLate]) -> None: ...

    async def circumstances(self, event_id: int, subscription_id: int) -> Circumstances: ...

    async def overdue(self, before: datetime) -> Sequence[tuple[int, WantedReminder]]:
        """Schedules whose moment passed before this instant although they never fired, with their event ids."""
        ...

    async def asked_unstarted(self) -> Sequence[AskedReminder]:
        """Asked for, not cancelled, and not yet told to Temporal."""
        ...

    async def note_asked_started(self, reminder_ids: Iterable[int]) -> None: ...

    async def asked_withdrawn(self, reminder_id: int) -> bool:
        """Whether somebody no longer wants it: Temporal may have been away when they said so."""
        ...

    async def note_asked_outcome(self, reminder_id: int, outcome: ReminderOutcome) -> None: ...


class ReminderSchedules(Protocol):
    """Schedules in Temporal. Creating what exists and deleting what is gone are fine, recognised by error type."""

    async def create(self, event_id: int, reminder: WantedReminder) -> None: ...

    async def move(self, event_id: int, reminder: WantedReminder) -> None:
        """Change the one in place: at no moment are there none or two."""
        ...

    async def fire(self, event_id: int, reminder: WantedReminder) -> None:
        """Let a silent one act now, also when it is gone; nothing happens while its reminder is being sent."""
        ...

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None: ...


class Links(Protocol):
    """Private addresses for one person: signed, not stored."""

    def why(self, delivery_id: int) -> str: ...

    def unsubscribe(self, subscription_id: int) -> str: ...


class Outbox(Protocol):
    """What workflows must still be told."""

    async def untold(self, event_id: int | None = None) -> Sequence[tuple[int, Message]]:
        """Event id and message, in the order in which they were written."""
        ...

    async def told(self, outbox_ids: Iterable[int]) -> None: ...


class Workflows(Protocol):
    """Starting and messaging workflows; used by the service after its commit and by the sweep."""

    async def tell(self, event_id: int, messages: Sequence[Message]) -> None:
        """Start the event's workflow if it does not run, and signal it."""
        ...

    async def start_asked_reminder(
        self, event_id: int, subscription_id: int, reminder_id: int, fire_at: datetime
    ) -> None: ...

    async def cancel_asked_reminder(self, subscription_id: int, reminder_id: int) -> None: ...

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        """Ask it to stop; False when none runs: it has ended, or has not begun."""
        ...
