"""Takes the kicks of a shoot-out out of a score that counts them. Pure.

For some minutes the API adds the kicks to the score, and lists them like goals. What tells them apart is what is known:
once the kicks begin, the score can hold the goals that are known, and beyond them as much as there are kicks.
"""

from collections.abc import Sequence
from dataclasses import replace

from pressbox.footy.domain.fixtures import FixtureStatus, ObservedFixture
from pressbox.footy.domain.goals import GoalDetail, Observation, StoredGoal

END_OF_PLAY, END_OF_EXTRA_TIME = 90, 120
SHOOT_OUT = frozenset({FixtureStatus.PENALTIES, FixtureStatus.AFTER_PENALTIES})
# Score and kicks are counted apart: one may lack the last kick of the other.
_LAG = 1


def may_be_kick(goal: Observation | StoredGoal, status: FixtureStatus) -> bool:
    """Whether it can be a kick of the shoot-out that is not marked as one."""
    begins = END_OF_PLAY if status in SHOOT_OUT else END_OF_EXTRA_TIME
    return goal.detail is GoalDetail.PENALTY and goal.elapsed >= begins


def leave_out_kicks(observed: ObservedFixture, present: Sequence[StoredGoal]) -> ObservedFixture:
    """The answer with the score of the play alone; `present` are the goals that stand."""
    home, away = (observed.score_of(team.id) for team in (observed.home, observed.away))
    if observed.status not in SHOOT_OUT or home is None or away is None:
        return observed
    known = [_count_known(observed, team.id, present) for team in (observed.home, observed.away)]
    kicks = observed.penalties if observed.penalties and any(observed.penalties) else _count_listed(observed, present)
    beyond = [max(score - goals, 0) for score, goals in zip((home, away), known, strict=True)]
    counted = all(more >= kicked - _LAG for more, kicked in zip(beyond, kicks, strict=True))
    if not any(beyond) or not counted or sum(beyond) < sum(kicks) - _LAG:
        return observed
    home, away = (max(score - kicked, goals) for score, kicked, goals in zip((home, away), kicks, known, strict=True))
    return replace(observed, home_goals=home, away_goals=away)


def _count_known(observed: ObservedFixture, team_id: int, present: Sequence[StoredGoal]) -> int:
    listed = {
        (goal.player_name, goal.elapsed, goal.extra)
        for goal in observed.events or ()
        if goal.team_id == team_id and not may_be_kick(goal, observed.status)
    }
    return max(len(listed), sum(goal.team_id == team_id for goal in present))


def _count_listed(observed: ObservedFixture, present: Sequence[StoredGoal]) -> tuple[int, int]:
    """How many entries of each side may be kicks, beside those that are known goals."""
    sides = []
    for team in (observed.home, observed.away):
        known = sum(goal.team_id == team.id and may_be_kick(goal, observed.status) for goal in present)
        listed = sum(goal.team_id == team.id and may_be_kick(goal, observed.status) for goal in observed.events or ())
        sides.append(max(listed - known, 0))
    return sides[0], sides[1]
