"""What the activities of soonish need from outside. Times are aware UTC; a part that is down is a TransientError."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.delivery.domain.attempts import Level
from pressbox.delivery.ports import Claim, ClaimedRows
from pressbox.soonish.contracts import EventDetails, OutboxEntry, SweepStep
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import WantedReminder
from pressbox.soonish.reminder_ports import RequestedReminder


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


class Events(Protocol):
    """Events as the workflows read and complete them."""

    async def load_details(self, event_id: int) -> EventDetails | None: ...

    async def load_facts(self, event_id: int) -> EventFacts | None: ...

    async def accept_update(self, event_id: int, from_version: int) -> tuple[int | None, int]:
        """Write one message about all changes since that version.

        Returns its id (None: nothing changed) and the present version.
        """
        ...

    async def choose_live(self, event_ids: Sequence[int]) -> Sequence[int]:
        """Those of these events that are active and not over."""
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

    async def purge_strangers(self, unconfirmed_before: datetime, gone_before: datetime) -> int:
        """Remove addresses of people without an account who never confirmed, or whose events they left or are over.

        The times are those since when it must have been so. Returns how many.
        """
        ...


class Ledger(ClaimedRows, Protocol):
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

    async def accept_shared_reminder(
        self, event_id: int, version: str, text: MessageText, offset_seconds: int
    ) -> int | None:
        """Write a reminder for everybody who chose this offset and has not got it; add whoever chose it since.

        None when there is nobody.
        """
        ...

    async def is_in_shared_reminder(self, subscription_id: int, version: str) -> bool:
        """Whether this reminder of one person went, or goes, with everybody's."""
        ...

    async def rewrite_message(self, notification_id: int, text: MessageText) -> None:
        """Change the text for everybody who has not got it yet."""
        ...

    async def open_batch(self, notification_id: int, after: int, limit: int) -> tuple[int | None, int]:
        """Write the deliveries of the next recipients.

        Returns the last subscription id (None: nobody is left) and the number of all recipients.
        """
        ...

    async def count_recipients(self, notification_id: int) -> int: ...

    async def claim_due(self, notification_id: int, claim: Claim, limit: int, *, opens: bool) -> Sequence[DueDelivery]:
        """Hand out pending deliveries that may be tried now, and that nobody else holds.

        With `opens`, recipients who have no deliveries yet come first. Those of people who have left or muted the event
        meanwhile are skipped.
        """
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

    async def claim(self, event_id: int, lease: timedelta, limit: int) -> Sequence[OutboxEntry]:
        """What an event must still be told, in order; nothing while somebody else is telling it."""
        ...

    async def settle(self, event_id: int) -> None:
        """Mark sign-ups of a large event as told that need nothing: the schedules they share are there."""
        ...

    async def release(self, outbox_ids: Iterable[int]) -> None: ...

    async def load_waiting(self, limit: int) -> Sequence[int]:
        """Events that nobody tells what they must be told; those that wait for longest first."""
        ...

    async def tell_again(self, event_id: int) -> None:
        """Let the messages that were not finished be told again, because the workflow that heard of them failed."""
        ...

    async def mark_sent(self, outbox_ids: Iterable[int]) -> None: ...


class DueWorkFinder(Protocol):
    async def look(self, overdue_after: timedelta) -> Collection[SweepStep]:
        """The steps of a sweep that would find something to do now."""
        ...


class Workflows(Protocol):
    """Starts and signals workflows; used by the service after its commit and by the sweep."""

    async def signal_event(self, event_id: int, signals: Sequence[OutboxEntry]) -> None:
        """Signal the event's workflow; start it if it does not run. A message to send again has its own workflow."""
        ...

    async def find_failed_events(self) -> Sequence[int]:
        """Events whose workflow has failed lately and does not run again."""
        ...

    async def start_event(self, event_id: int) -> None:
        """Start its workflow if it does not run, without a signal."""
        ...

    async def start_reminder(self, reminder: RequestedReminder) -> None: ...

    async def start_late_reminder(self, event_id: int, reminder: WantedReminder) -> None:
        """Send an overdue reminder to everybody who has not got it; does nothing while that runs."""
        ...

    async def cancel_reminder(self, subscription_id: int, reminder_id: int) -> None: ...

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        """Ask it to stop; False when none is running: it has ended, or not begun."""
        ...
