"""What is left of a match for somebody who may not know all of it yet: under cover, or as it was at a moment. Pure."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import GoalDetail, Sighting
from pressbox.footy.domain.views import FixtureView, GoalState, GoalView, NoteView, SideView

# Extra time and penalties tell that it was level after ninety minutes, so a covered match is only on or over.
_DESCRIBED = re.compile(
    r"(?P<who>.{0,200}), (?P<team>.{0,200}), (?P<minute>\d+)(?:\+(?P<extra>\d+))?', (?P<detail>.{0,200}), (\d+)–(\d+)"
)
UNNAMED = "unknown scorer"


@dataclass(frozen=True)
class FixtureState:
    """What an answer said of a fixture, from this moment on."""

    at: datetime
    status: FixtureStatus
    elapsed: int | None
    extra: int | None
    home_goals: int | None
    away_goals: int | None
    home_penalties: int | None
    away_penalties: int | None
    winner_id: int | None


def cover(fixture: FixtureView) -> FixtureView:
    """The match without anything that tells how it stands."""
    return replace(
        fixture,
        status=_covered_status(fixture.status),
        home=_without_goals(fixture.home),
        away=_without_goals(fixture.away),
        elapsed=None,
        extra=None,
        winner_id=None,
        completed_at=None,
        goals=(),
        covered=fixture.status.live or fixture.status.terminal,
    )


def as_of(
    fixture: FixtureView, state: FixtureState | None, goals: tuple[GoalView, ...], until: datetime
) -> FixtureView:
    """The match as it was known then; without a state it was not known to have begun."""
    if state is None:
        return replace(cover(fixture), status=FixtureStatus.NOT_STARTED, covered=False, as_of=until)
    status = state.status
    return replace(
        fixture,
        stage=fixture.stage if status.terminal else status.stage,
        status=status,
        home=replace(fixture.home, goals=state.home_goals, penalties=state.home_penalties),
        away=replace(fixture.away, goals=state.away_goals, penalties=state.away_penalties),
        elapsed=state.elapsed,
        extra=state.extra,
        winner_id=state.winner_id,
        completed_at=fixture.completed_at if fixture.completed_at and fixture.completed_at <= until else None,
        goals=goals,
        as_of=until,
    )


def goal_as_of(goal: GoalView, next_note: NoteView | None, until: datetime) -> GoalView | None:
    """The goal as it was known then, or None when it was not known, or was taken back.

    `next_note` is the first change after that moment: what it says was before is what was known.
    """
    taken_back = goal.removed_at is not None and goal.removed_at <= until
    restored_later = next_note is not None and next_note.what == Sighting.RESTORED
    if goal.first_seen > until or taken_back or restored_later:
        return None
    confirmed_at, completed_at = _past(goal.confirmed_at, until), _past(goal.completed_at, until)
    if completed_at is not None:
        state = GoalState.COMPLETE
    else:
        state = GoalState.SEARCHING if confirmed_at is not None else GoalState.UNCONFIRMED
    known = replace(
        goal,
        state=state,
        last_seen=min(goal.last_seen, until),
        confirmed_at=confirmed_at,
        completed_at=completed_at,
        completion_reason=goal.completion_reason if completed_at else "",
        removed_at=None,
        clips=tuple(clip for clip in goal.clips if clip.created_at <= until),
    )
    return _described(known, next_note.before) if next_note is not None and next_note.before else known


def _described(goal: GoalView, words: str) -> GoalView:
    """The goal as a note describes it."""
    found = _DESCRIBED.fullmatch(words)
    if found is None:
        return goal
    who, extra = found["who"], found["extra"]
    same = who == goal.player_name
    return replace(
        goal,
        player_name="" if who == UNNAMED else who,
        player_id=goal.player_id if same else 0,
        assist_name=goal.assist_name if same else "",
        elapsed=int(found["minute"]),
        extra=int(extra) if extra else None,
        detail=GoalDetail(found["detail"]) if found["detail"] in set(GoalDetail) else goal.detail,
        home_score=int(found[6]),
        away_score=int(found[7]),
    )


def _covered_status(status: FixtureStatus) -> FixtureStatus:
    if status.stopped or status in (FixtureStatus.CANCELLED, FixtureStatus.ABANDONED):
        return status
    if status.terminal:
        return FixtureStatus.FULL_TIME
    return FixtureStatus.LIVE if status.live else status


def _without_goals(side: SideView) -> SideView:
    return replace(side, goals=None, penalties=None)


def _past(at: datetime | None, until: datetime) -> datetime | None:
    return at if at is not None and at <= until else None
