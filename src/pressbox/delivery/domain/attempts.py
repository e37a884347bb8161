"""What one try to send means: its result, the state after it, and when the next one is due. Pure."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

MAX_TRIES = 3


FIRST_PAUSE = timedelta(seconds=1)


LONGEST_PAUSE = timedelta(seconds=10)


BROKEN_AFTER = 3


# While our own mail server does not take mail, or asks us to come back (greylisting): about six hours, with pauses from
# seconds to half an hour.
MAX_OWN_TRIES = 20


FIRST_OWN_PAUSE = timedelta(seconds=5)


LONGEST_OWN_PAUSE = timedelta(minutes=30)


# After this time the next message tries whether a broken channel works again.
PROBE_AFTER = timedelta(days=1)


class Level(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class DeliveryState(StrEnum):
    """PENDING is the only state that is not final."""

    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    SKIPPED = "skipped"


class AttemptResult(StrEnum):
    """The result of one try. The API gives out the values.

    ACCEPTED: the other side said yes. REFUSED: it will never accept this (gone, forbidden). UNAVAILABLE: it did not
    accept it, and may do so later (busy, down, no connection). UNCONFIRMED: it may have received it, but did not say
    so (reset or timeout after we had sent). UNWANTED: nothing was sent, because its person has left or muted the event.
    """

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNAVAILABLE = "troubled"
    UNCONFIRMED = "silent"
    UNWANTED = "unwanted"


@dataclass(frozen=True)
class Verdict:
    """The state of a delivery after a try, and the pause before the next try while it is pending."""

    state: DeliveryState
    pause: timedelta | None = None


def judge_attempt(
    result: AttemptResult, tries: int, retry_after: timedelta | None = None, *, is_own_fault: bool = False
) -> Verdict:
    """Decide from the result of try number `tries` (the first is 1)."""
    match result:
        case AttemptResult.ACCEPTED:
            return Verdict(DeliveryState.SENT)
        case AttemptResult.REFUSED:
            return Verdict(DeliveryState.FAILED)
        case AttemptResult.UNCONFIRMED:
            # Another try could be a second copy: the ledger says that it is uncertain instead of guessing.
            return Verdict(DeliveryState.UNCERTAIN)
        case AttemptResult.UNWANTED:
            return Verdict(DeliveryState.SKIPPED)
        case AttemptResult.UNAVAILABLE:
            # A target that says when to come back is not broken: it gets the same patience as our own server.
            if tries >= (MAX_OWN_TRIES if is_own_fault or retry_after else MAX_TRIES):
                return Verdict(DeliveryState.FAILED)
            return Verdict(DeliveryState.PENDING, retry_after or _pause_after(tries, is_own_fault=is_own_fault))


def _pause_after(tries: int, *, is_own_fault: bool) -> timedelta:
    first, longest = (FIRST_OWN_PAUSE, LONGEST_OWN_PAUSE) if is_own_fault else (FIRST_PAUSE, LONGEST_PAUSE)
    pause: timedelta = first * 2 ** (tries - 1)
    return min(pause, longest)
