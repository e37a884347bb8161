"""Deliveries: their causes and states, and what one try means for the ledger. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from pressbox.delivery.domain.attempts import DeliveryState


class Cause(StrEnum):
    """Why a message is sent. CREATED goes to the organiser only; REMINDER and ADHOC to one person."""

    CREATED = "created"
    UPDATED = "updated"
    CANCELLED = "cancelled"
    REOPENED = "reopened"
    ANNOUNCEMENT = "announcement"
    REMINDER = "reminder"
    ADHOC = "adhoc"


PERSONAL = (Cause.REMINDER, Cause.ADHOC)
# So long a later message for the same place waits for an earlier one of its event that did not get through yet.
ORDER_PATIENCE = timedelta(minutes=2)


@dataclass(frozen=True)
class DeliveryCounts:
    """How many deliveries of a message are in which state."""

    sent: int
    pending: int
    uncertain: int
    failed: int
    skipped: int

    @property
    def total(self) -> int:
        return self.sent + self.pending + self.uncertain + self.failed + self.skipped

    @property
    def final(self) -> int:
        return self.total - self.pending

    def is_older_than(self, other: "DeliveryCounts") -> bool:
        """While a message is sent both numbers only grow, so they tell which of two looks at it came first."""
        return (self.final, self.total) < (other.final, other.total)

    @property
    def has_failures(self) -> bool:
        """Whether somebody did not get it, or perhaps did not."""
        return bool(self.failed or self.uncertain)

    @classmethod
    def from_states(cls, counts: Mapping[str, int]) -> "DeliveryCounts":
        """A state that is not among them counts as zero."""
        return cls(**{state.value: counts.get(state, 0) for state in DeliveryState})


class MessageState(StrEnum):
    """How a message fares as a whole. INCOMPLETE: not everybody got it; FAILED: nobody did."""

    SENDING = "sending"
    SENT = "sent"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    STOPPED = "stopped"


def judge_message(counts: DeliveryCounts, *, is_finished: bool, is_stopped: bool) -> MessageState:
    if not is_finished:
        return MessageState.SENDING
    if is_stopped:
        return MessageState.STOPPED
    if not counts.has_failures:
        return MessageState.SENT
    return MessageState.INCOMPLETE if counts.sent or counts.uncertain else MessageState.FAILED


def summarise_counts(counts: DeliveryCounts) -> str:
    """`12 sent`, `10 sent, 2 failed`: whatever went wrong is never left out."""
    wrong = (("failed", counts.failed), ("uncertain", counts.uncertain))
    return ", ".join((f"{counts.sent} sent", *(f"{count} {word}" for word, count in wrong if count)))


class SkipReason(StrEnum):
    NO_TARGETS = "no_targets"
    MUTED = "muted"
    LEFT = "left"
    CHANNEL_BROKEN = "channel_broken"
    BROADCAST_CANCELLED = "broadcast_cancelled"
    CHANNEL_REPLACED = "channel_replaced"
