"""Deliveries: who gets what over which channel, and what one attempt means for the ledger. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

MOST_TRIES = 3
FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=10)
BROKEN_AFTER = 3


class Cause(StrEnum):
    """What made us write. CREATED goes to the organiser only; REMINDER and ADHOC to one person."""

    CREATED = "created"
    UPDATED = "updated"
    CANCELLED = "cancelled"
    ANNOUNCEMENT = "announcement"
    REMINDER = "reminder"
    ADHOC = "adhoc"


PERSONAL = (Cause.REMINDER, Cause.ADHOC)


class Level(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class DeliveryState(StrEnum):
    """PENDING is the only one that is not final."""

    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    SKIPPED = "skipped"

    @property
    def final(self) -> bool:
        return self is not DeliveryState.PENDING


class AttemptResult(StrEnum):
    """What one try came to.

    ACCEPTED: the other side said yes. REFUSED: it will never accept this (gone, forbidden). TROUBLED: it did not take
    it, and may later (busy, down, no connection). SILENT: it may have got it, but did not say so (reset or timeout
    after we had sent).
    """

    ACCEPTED = "accepted"
    REFUSED = "refused"
    TROUBLED = "troubled"
    SILENT = "silent"


class SkipReason(StrEnum):
    NO_TARGETS = "no_targets"
    MUTED = "muted"
    LEFT = "left"
    CHANNEL_BROKEN = "channel_broken"
    BROADCAST_CANCELLED = "broadcast_cancelled"


@dataclass(frozen=True)
class Channel:
    """A channel as recipients are chosen. `target` is the same for two channels that lead to the same place."""

    channel_id: int
    tags: frozenset[str]
    target: bytes
    is_active: bool
    broken: bool


@dataclass(frozen=True)
class Selector:
    """A choice of a subscriber: one channel, or all channels with a tag."""

    channel_id: int | None = None
    tag: str | None = None


def chosen_channels(selectors: Iterable[Selector], own: Collection[Channel]) -> tuple[Channel, ...]:
    """The subscriber's own active channels that the selectors name; each target once, in the order of ids.

    A broken channel is chosen too: it is recorded as skipped, so that its owner can see why nothing came.
    """
    wanted_ids = {selector.channel_id for selector in selectors if selector.channel_id is not None}
    wanted_tags = {selector.tag for selector in selectors if selector.tag is not None}
    matching = sorted(
        (c for c in own if c.is_active and (c.channel_id in wanted_ids or c.tags & wanted_tags)),
        key=lambda channel: channel.channel_id,
    )
    first_of_target = {channel.target: channel for channel in reversed(matching)}
    return tuple(sorted(first_of_target.values(), key=lambda channel: channel.channel_id))


@dataclass(frozen=True)
class Verdict:
    """What the ledger says after a try: its state, and the pause before the next try while it is pending."""

    state: DeliveryState
    pause: timedelta | None = None


def after_attempt(result: AttemptResult, tries: int, retry_after: timedelta | None = None) -> Verdict:
    """Decide from the result of try number `tries` (the first is 1)."""
    match result:
        case AttemptResult.ACCEPTED:
            return Verdict(DeliveryState.SENT)
        case AttemptResult.REFUSED:
            return Verdict(DeliveryState.FAILED)
        case AttemptResult.SILENT:
            # Another try could be a second copy: the ledger says so instead of guessing.
            return Verdict(DeliveryState.UNCERTAIN)
        case AttemptResult.TROUBLED:
            if tries >= MOST_TRIES:
                return Verdict(DeliveryState.FAILED)
            return Verdict(DeliveryState.PENDING, retry_after or min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE))
