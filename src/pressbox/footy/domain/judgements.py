"""Turns the judgements of single frames into a verdict on the clip. Pure.

"Unknown" never means "no": a clip is not rejected because a judge could not tell. Two frames must agree to reject it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.footy.domain.clock import ClockReading, readings_agree

# Where the first two frames are taken, and the third one when they disagree, as fractions of the duration.
FIRST_FRAMES = (0.25, 0.75)
DECIDING_FRAME = 0.5
MOST_FRAMES = 3
ENOUGH_VOTES = 2


class Vote(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Decision(StrEnum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    ANOTHER_FRAME = "another frame"


class RejectReason(StrEnum):
    NOT_FOOTBALL = "not football"
    FILMED_SCREEN = "filmed from a screen"


@dataclass(frozen=True)
class FrameJudgement:
    """Whether one frame shows football and was filmed from a screen, and what its clocks show.

    `added` is the announced stoppage time, `stoppage_clock` a second timer. Texts are as read, empty when not seen.
    """

    soccer: Vote = Vote.UNKNOWN
    screen: Vote = Vote.UNKNOWN
    clock: str = ""
    added: str = ""
    stoppage_clock: str = ""

    def reading(self, second: float | None = None) -> ClockReading:
        return ClockReading(self.clock, self.added, self.stoppage_clock, second)


@dataclass(frozen=True)
class ClipVerdict:
    """`soccer` and `screen` are the combined votes of all frames; `readings` are for `validate_timestamp`."""

    decision: Decision
    reason: RejectReason | None = None
    soccer: Vote = Vote.UNKNOWN
    screen: Vote = Vote.UNKNOWN
    readings: tuple[ClockReading, ...] = ()


def judge_clip(judgements: Sequence[FrameJudgement], seconds: Sequence[float] | None = None) -> ClipVerdict:
    """Decide after two or three frames. `seconds` are their places in the clip, in the same order."""
    soccer = _combine([judgement.soccer for judgement in judgements], rejects=Vote.NO)
    screen = _combine([judgement.screen for judgement in judgements], rejects=Vote.YES)
    places = seconds if seconds is not None else (None,) * len(judgements)
    readings = tuple(judgement.reading(second) for judgement, second in zip(judgements, places, strict=True))
    known_soccer, known_screen = soccer or Vote.UNKNOWN, screen or Vote.UNKNOWN
    if soccer is Vote.NO:
        return ClipVerdict(Decision.REJECTED, RejectReason.NOT_FOOTBALL, known_soccer, known_screen, readings)
    if screen is Vote.YES:
        return ClipVerdict(Decision.REJECTED, RejectReason.FILMED_SCREEN, known_soccer, known_screen, readings)
    settled = soccer is not None and screen is not None and readings_agree(readings)
    if len(judgements) >= ENOUGH_VOTES and (settled or len(judgements) >= MOST_FRAMES):
        return ClipVerdict(Decision.ACCEPTED, None, known_soccer, known_screen, readings)
    return ClipVerdict(Decision.ANOTHER_FRAME, None, known_soccer, known_screen, readings)


def _combine(votes: Sequence[Vote], *, rejects: Vote) -> Vote | None:
    """Combine the votes of all frames; None while they disagree, or while a single one would reject the clip."""
    yes, no = votes.count(Vote.YES), votes.count(Vote.NO)
    against = yes if rejects is Vote.YES else no
    if yes == no:
        return Vote.UNKNOWN if not yes else None
    ahead = Vote.YES if yes > no else Vote.NO
    if ahead is rejects:
        return ahead if against >= ENOUGH_VOTES else None
    return ahead if not against or len(votes) >= MOST_FRAMES else None
