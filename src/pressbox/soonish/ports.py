"""What the activities of soonish need from outside. Times are aware UTC; a part that is down is a TransientError."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.soonish.contracts import EventDetails, EventSignal
from pressbox.soonish.domain.delivery import AttemptResult, Cause, DeliveryCounts, Level, Verdict
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import (
    Circumstances,
    ReminderOutcome,
    Subscriber,
    TooLate,
    WantedReminder,
)
from pressbox.soonish.domain.targets import Audience


@dataclass(frozen=True)
class DueDelivery:
    """One delivery that may be tried now. `channel_key` says where the address is kept; the address is not here.

    `tries` counts those begun before: the next one is number `tries + 1`.
    """

    delivery_id: int
    subscription_id: int
    channel_key: str
    tries: int
    # Since when messages to this place failed; this one tries whether it works again.
    failing_since: datetime | None = None


@dataclass(frozen=True)
class DeliveryResult:
    """The result of one try, for the ledger."""

    delivery_id: int
    verdict: Verdict
    reason: str = ""
    # Our own mail server failed: this is not counted against the channel.
    is_own_fault: bool = False


@dataclass(frozen=True)
class RequestedReminder:
    """A "remind me in X" that waits for its time."""

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
class SealedAddress:
    """An encrypted address. `target` is equal for two addresses that lead to the same place; `shown` may be seen.

    `older_targets` are those of earlier instance keys, until their rows are sealed again.
    """

    key_id: str
    encrypted: bytes
    target: bytes
    kind: str
    shown: str
    older_targets: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class OutgoingMessage:
    """A message to one target. `why_url` and `unsubscribe_url` are private to that person.

    With a `subscription_id` it is sent only while that subscription is active.
    """

    title: str
    body: str
    level: Level
    why_url: str
    unsubscribe_url: str
    subscription_id: int | None = None
    # What stands below the text, in the language of its reader: where to change, mute and leave.
    footer: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """The result of one try; `reason` contains no secrets. `is_own_fault`: this instance failed, not the target."""

    result: AttemptResult
    reason: str = ""
    retry_after: timedelta | None = None
    is_own_fault: bool = False


SendNow = Callable[[OutgoingMessage], Awaitable[Attempt]]


class Sender(Protocol):
    """Sends one message to one target. Whatever the other side does is an Attempt, never an exception."""

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        """Wait for a turn, then send."""
        ...

    def turn(self, channel_key: str) -> AbstractAsyncContextManager[SendNow]:
        """Wait until a message may leave for this target; waiting holds up no other target."""
        ...


class Mailer(Protocol):
    """Sends mail in the name of the instance."""

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> None: ...


@dataclass(frozen=True)
class AddressFacts:
    """What an Apprise address leads to. Only `service` may be shown; the host of a server of one's own may be secret.

    `place` is one spelling for all addresses of the same place, for counting.
    """

    scheme: str
    service: str
    host: str = field(repr=False)
    place: str = field(repr=False)


class AddressCheck(Protocol):
    """Knows which Apprise addresses can be used and by whom, without sending anything."""

    async def describe(self, url: str, audience: Audience) -> AddressFacts:
        """An InvalidInputError for `url`, or a RefusedAddressError, when it cannot be used."""
        ...


class BrokenChannels(Protocol):
    """Channels that stopped working and whose owners do not know it yet."""

    async def claim(self, limit: int) -> Sequence[BrokenChannel]:
        """Hand out each channel once: an owner who gets no message still sees it on the page; two would annoy."""
        ...


class Events(Protocol):
    """Events as the workflows read and complete them."""

    async def load_details(self, event_id: int) -> EventDetails | None: ...

    async def load_facts(self, event_id: int) -> EventFacts | None: ...

    async def accept_update(self, event_id: int, from_version: int) -> tuple[int | None, int]:
        """Write one message about all changes since that version.

        Returns its id (None: nothing changed) and the present version.
        """
        ...

    async def mark_completed(self, event_id: int) -> None:
        """Mark an active event as completed."""
        ...

    async def find_creation_message(self, event_id: int) -> int | None:
        """The message that tells the organiser of the creation, until it is finished; None for a draft."""
        ...

    async def purge_deleted(self, before: datetime) -> int:
        """Remove events that were deleted before this time and whose messages are all finished; returns how many.

        Signals that were sent before this time are removed too.
        """
        ...

    async def purge_strangers(self, unconfirmed_before: datetime, left_before: datetime) -> int:
        """Remove addresses of people without an account who never confirmed, or have left every event.

        The times are those since when it must have been so. Returns how many.
        """
        ...


class Ledger(Protocol):
    """The delivery ledger. Each method is one transaction; nothing is sent while one is open."""

    async def accept_message(
        self,
        event_id: int,
        cause: Cause,
        version: str,
        level: Level,
        text: MessageText,
        subscription_ids: Sequence[int],
    ) -> int:
        """Write a message for these recipients. The same (event, cause, version) again gives the same id."""
        ...

    async def find_open_message(self, event_id: int, cause: Cause, version: str) -> int | None:
        """A message that was accepted and is not finished; None when there is none."""
        ...

    async def rewrite_message(self, notification_id: int, text: MessageText) -> None:
        """Change the text for everybody who has not got it yet."""
        ...

    async def open_batch(self, notification_id: int, after: int, limit: int) -> tuple[int | None, int]:
        """Write the deliveries of the next recipients.

        Returns the last subscription id (None: nobody is left) and the number of all recipients.
        """
        ...

    async def load_due(self, notification_id: int, now: datetime) -> Sequence[DueDelivery]:
        """Pending deliveries that may be tried now. One whose last try was cut off is marked `maybe_twice`.

        Those of people who have left or muted the event meanwhile are skipped.
        """
        ...

    async def note_tries(self, delivery_ids: Iterable[int], now: datetime) -> Collection[int]:
        """Note, durably, that these are about to be tried, and count the try; returns those that are still wanted."""
        ...

    async def record_results(self, results: Sequence[DeliveryResult], now: datetime) -> None:
        """Record the results of tries, count the failures of each channel and mark it broken after too many."""
        ...

    async def load_message(self, notification_id: int) -> tuple[MessageText, Level]: ...

    async def count_deliveries(self, notification_id: int) -> tuple[DeliveryCounts, datetime | None]:
        """How many are in which state, and when the next pending one is due."""
        ...

    async def cancel(self, notification_id: int) -> None:
        """Skip everything that is still pending or not yet opened, and mark the message as stopped."""
        ...

    async def skip(self, notification_id: int, reason: str) -> None:
        """Record that nobody gets this message, and why (a reminder that came too late); finishes the message."""
        ...

    async def finish(self, notification_id: int) -> None: ...


class Reminders(Protocol):
    """Subscriptions and their reminder schedules as the database knows them."""

    async def load_subscribers(self, event_id: int, subscription_id: int | None = None) -> Sequence[Subscriber]: ...

    async def load_schedules(
        self, event_id: int, subscription_id: int | None = None
    ) -> Mapping[tuple[int, int], datetime]:
        """Schedules that exist: (subscription, offset in seconds) → the start for which they were made."""
        ...

    async def record_schedules(self, event_id: int, reminders: Iterable[WantedReminder]) -> None: ...

    async def forget_schedules(self, keys: Iterable[tuple[int, int]]) -> None: ...

    async def record_too_late(self, event_id: int, offsets: Iterable[TooLate]) -> None: ...

    async def load_circumstances(self, event_id: int, subscription_id: int) -> Circumstances: ...

    async def load_overdue(self, before: datetime) -> Sequence[tuple[int, WantedReminder]]:
        """Schedules that should have fired before this time and did not, with their event ids."""
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

    async def fire(self, event_id: int, reminder: WantedReminder) -> None:
        """Fire an overdue one now, even if it is gone; does nothing while its reminder is being sent."""
        ...

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None: ...


class Wording(Protocol):
    """One message, for whoever it is sent to."""

    def write(self, item: DueDelivery, now: datetime) -> MessageText:
        """The text in the language and the time zone of this recipient, true at this moment."""
        ...

    def list_links(self, item: DueDelivery) -> tuple[str, ...]:
        """The lines below it: the event, how to change, why it came, how to leave."""
        ...


class Wordings(Protocol):
    async def load(self, notification_id: int, text: MessageText, due: Sequence[DueDelivery]) -> Wording: ...


class Links(Protocol):
    """Private addresses for one person: signed, not stored."""

    def why_url(self, delivery_id: int) -> str: ...

    def unsubscribe_url(self, subscription_id: int) -> str: ...


class Outbox(Protocol):
    """Signals that were committed with a change and must still be sent to workflows."""

    async def load_unsent(self, event_id: int | None = None) -> Sequence[tuple[int, EventSignal]]:
        """Event id and signal, in the order in which they were written."""
        ...

    async def mark_sent(self, outbox_ids: Iterable[int]) -> None: ...


class Workflows(Protocol):
    """Starts and signals workflows; used by the service after its commit and by the sweep."""

    async def signal_event(self, event_id: int, signals: Sequence[EventSignal]) -> None:
        """Signal the event's workflow; start it if it does not run."""
        ...

    async def start_reminder(self, reminder: RequestedReminder) -> None: ...

    async def cancel_reminder(self, subscription_id: int, reminder_id: int) -> None: ...

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        """Ask it to stop; False when none is running: it has ended, or not begun."""
        ...
