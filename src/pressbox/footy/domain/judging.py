"""What a judge says of the frames of a clip, and what follows from it. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class TimestampStatus(StrEnum):
    """What the match clock of a clip says about its goal."""

    NOT_CHECKED = "not checked"  # the judge is away; the clip waits for it
    NO_CLOCK = "no clock"
    VERIFIED = "verified"
    WRONG_MINUTE = "wrong minute"


class Answer(StrEnum):
    """Unknown is never "no"."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class FrameJudgement:
    """The five questions about one frame: SOCCER, SCREEN, and what CLOCK, ADDED and STOPPAGE_CLOCK show."""

    soccer: Answer
    screen: Answer
    clock: str = ""
    added: str = ""
    stoppage_clock: str = ""
