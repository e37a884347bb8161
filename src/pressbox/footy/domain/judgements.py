"""What a judge says about single frames, and what that makes of a clip. Pure.

"Unknown" is never "no": nothing is left out because a judge could not tell. Two frames must agree to leave a clip out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.footy.domain.clock import ClockReading, readings_agree

# Where the first two frames are taken, and the third when they disagree, as shares of the clip's length.
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
    """The five answers for one frame. Texts are as read, empty when not seen.

    SOCCER: is this a football match? SCREEN: is it filmed from a screen? CLOCK, ADDED and STOPPAGE_CLOCK: what the
    match clock, the announced stoppage time and the second timer show.
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
    """`soccer` and `screen` are the votes of all frames together; `readings` are for `validate_timestamp`."""

    decision: Decision
    reason: RejectReason | None = None
    soccer: Vote = Vote.UNKNOWN
    screen: Vote = Vote.UNKNOWN
    readings: tuple[ClockReading, ...] = ()


def judge_clip(judgements: Sequence[FrameJudgement], seconds: Sequence[float] | None = None) -> ClipVerdict:
    """The verdict after two frames or three. `seconds` are the places of the frames in the clip, in the same order."""
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
    """One vote for all frames; None while they disagree, or while a single one would leave the clip out."""
    yes, no = votes.count(Vote.YES), votes.count(Vote.NO)
    against = yes if rejects is Vote.YES else no
    if yes == no:
        return Vote.UNKNOWN if not yes else None
    ahead = Vote.YES if yes > no else Vote.NO
    if ahead is rejects:
        return ahead if against >= ENOUGH_VOTES else None
    return ahead if not against or len(votes) >= MOST_FRAMES else None
