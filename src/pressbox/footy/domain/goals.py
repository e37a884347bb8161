"""Goals as the API states them and as we store them, and the result of comparing the two. Pure types.

The rules that make a `Comparison` are in `matching`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

UNKNOWN_PLAYER = 0
GOAL_TYPE = "Goal"


class GoalDetail(StrEnum):
    """The details that count. A missed penalty and the shoot-out do not."""

    NORMAL = "Normal Goal"
    PENALTY = "Penalty"
    OWN = "Own Goal"


@dataclass(frozen=True)
class Observation:
    """A goal as one answer of the API states it. For an own goal `team` is the side that benefits."""

    team_id: int
    team_name: str
    player_id: int | None
    player_name: str | None
    detail: GoalDetail
    elapsed: int
    extra: int | None = None
    assist_name: str | None = None

    @property
    def minute(self) -> int:
        return self.elapsed + (self.extra or 0)


@dataclass(frozen=True)
class Cancellation:
    """A decision of the video referee against a goal. The goal itself may be listed still, or never have been."""

    team_id: int
    player_id: int | None
    player_name: str | None
    elapsed: int
    extra: int | None = None

    @property
    def minute(self) -> int:
        return self.elapsed + (self.extra or 0)


@dataclass(frozen=True)
class PlayedMinute:
    """A minute of the match; `extra` is None before stoppage time, and while the API does not tell it."""

    elapsed: int
    extra: int | None = None

    @property
    def minute(self) -> int:
        return self.elapsed + (self.extra or 0)


@dataclass(frozen=True)
class Score:
    """The score after a goal, counted along the list of goals."""

    home: int
    away: int


@dataclass(frozen=True)
class StoredGoal:
    """A goal as the database keeps it. `event_id` was given at first sight and never changes.

    `monitor_runs` and `drop_runs` are the registers: ids of monitor runs that saw it, or missed it in a row.
    """

    event_id: str
    team_id: int
    player_id: int
    player_name: str
    detail: GoalDetail
    elapsed: int
    extra: int | None
    score: Score
    monitor_runs: frozenset[str]
    drop_runs: frozenset[str]
    monitor_complete: bool = False
    removed_at: datetime | None = None
    first_seen: datetime | None = None
    confirmed: bool = False
    # None: not loaded, so a change of it is not noticed.
    assist_name: str | None = None

    @property
    def minute(self) -> int:
        return self.elapsed + (self.extra or 0)


class Sighting(StrEnum):
    """How a goal that was seen again differs from what was known."""

    UNCHANGED = "unchanged"
    NAMED = "named"  # the scorer was unknown and is known now
    REATTRIBUTED = "reattributed"  # another scorer: same goal, same clips, new name
    CORRECTED = "corrected"  # minute, detail, assist, spelling or the score after it
    RESTORED = "restored"  # was removed and came back within the grace time


@dataclass(frozen=True)
class NewGoal:
    event_id: str
    sequence: int
    observation: Observation
    score: Score


@dataclass(frozen=True)
class SeenGoal:
    """`registers` tells whether this run enters the monitor register; after the search began it does not.

    `observation` is what to store: a known scorer stays known when an answer lacks the name.
    """

    event_id: str
    sighting: Sighting
    observation: Observation
    score: Score
    registers: bool


@dataclass(frozen=True)
class MissedGoal:
    """`removes` is set when enough runs in a row missed the goal."""

    event_id: str
    removes: bool


@dataclass(frozen=True)
class Comparison:
    """What one answer means for the goals of a fixture.

    When the answer may be incomplete (`distrusted` says why), nothing counts as missed.
    `rescored` has the new score after goals that stand although the answer lacks them, by their ids.
    `disallowed` are goals that were taken back before they were seen, and `proven` removed ones that a decision proves.
    """

    created: tuple[NewGoal, ...] = ()
    seen: tuple[SeenGoal, ...] = ()
    missed: tuple[MissedGoal, ...] = ()
    rescored: Mapping[str, Score] = field(default_factory=dict)
    disallowed: tuple[NewGoal, ...] = ()
    proven: tuple[str, ...] = ()
    distrusted: str = ""
    problems: tuple[str, ...] = ()


def event_id(fixture_id: int, team_id: int, player_id: int | None, sequence: int) -> str:
    return f"{fixture_id}_{team_id}_{player_id or UNKNOWN_PLAYER}_{GOAL_TYPE}_{sequence}"


class SearchEnd(StrEnum):
    """Why the search for clips of a goal ended."""

    ENOUGH = "enough downloads"
    EXHAUSTED = "attempts exhausted"
    GONE = "the goal is gone"
    FAILED = "the search failed"
    NO_SOURCE = "no source is set up; add one"


class CompletionReason(StrEnum):
    """Why a goal counts as complete."""

    DOWNLOADS = "all downloads finished"
    EXHAUSTED = "attempts exhausted, every download finished"
    REMOVED = "removed"
    NO_SOURCE = "no source is set up; add one"
    TOO_LATE = "it was scored hours before it was first seen; clips are not searched"
    DEADLINE = "the deadline passed while something was stuck"
