"""Finds goals that the video referee took back before any poll saw them, in the decisions that the API lists. Pure.

A goal may be scored and disallowed between two polls, or while no worker ran; then the decision is all that is left of
it. A decision also proves that a goal which was listed too shortly to be confirmed was scored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pressbox.footy.domain.evidence import LONGEST_REVIEW, same_scorer
from pressbox.footy.domain.fixtures import ObservedFixture, Team
from pressbox.footy.domain.goals import Cancellation, GoalDetail, Observation, StoredGoal

# The list and the score follow a decision by some polls; until then the goal itself may be listed still.
SETTLED_MINUTES = 3
# At most so far apart are two entries of one decision.
REPEAT_MINUTES = 2


@dataclass(frozen=True)
class Decision:
    """A goal that was taken back: one that is known, or what is known of one that is not."""

    known: StoredGoal | None
    goal: Observation


def find_disallowed(
    observed: ObservedFixture, stored: Sequence[StoredGoal], counted: Sequence[Observation]
) -> Iterator[Decision]:
    """Pair the decisions with the goals that were removed, one by one; `counted` are the entries that stand."""
    gone = [goal for goal in stored if goal.removed_at is not None]
    left = [goal for goal in observed.events or () if goal not in counted]
    for decision in _distinct(observed.cancellations):
        if not _is_settled(observed, decision, stored, counted):
            continue
        known = min(
            (goal for goal in gone if _is_about(decision, goal)),
            key=lambda goal: abs(decision.minute - goal.minute),
            default=None,
        )
        if known is not None:
            gone.remove(known)
        row = next((goal for goal in left if _is_about(decision, goal)), None)
        yield Decision(known, row or _describe(observed, decision))


def _distinct(decisions: Sequence[Cancellation]) -> list[Cancellation]:
    """The API lists a decision twice while it corrects its wording or its minute."""
    distinct: list[Cancellation] = []
    for one in decisions:
        if not any(
            one.team_id == other.team_id and abs(one.minute - other.minute) <= REPEAT_MINUTES for other in distinct
        ):
            distinct.append(one)
    return distinct


def _is_settled(
    observed: ObservedFixture, decision: Cancellation, stored: Sequence[StoredGoal], counted: Sequence[Observation]
) -> bool:
    """Whether list, score and what we know of this side agree, and the decision is no news any more."""
    now = (observed.elapsed or 0) + (observed.extra or 0)
    if not (observed.status.terminal or now - decision.minute >= SETTLED_MINUTES):
        return False
    score = observed.score_of(decision.team_id)
    known = sum(goal.team_id == decision.team_id and goal.removed_at is None for goal in stored)
    return score == known == sum(goal.team_id == decision.team_id for goal in counted)


def _is_about(decision: Cancellation, goal: StoredGoal | Observation) -> bool:
    later = decision.minute - goal.minute
    if goal.team_id != decision.team_id or not -SETTLED_MINUTES <= later <= LONGEST_REVIEW:
        return False
    return abs(later) <= 1 or not (decision.player_name and goal.player_name) or same_scorer(decision, goal)


def _describe(observed: ObservedFixture, decision: Cancellation) -> Observation:
    """The goal as far as a decision tells: when it fell is not known better."""
    team: Team = observed.home if decision.team_id == observed.home.id else observed.away
    return Observation(
        team_id=team.id,
        team_name=team.name,
        player_id=decision.player_id if decision.player_name else None,
        player_name=decision.player_name,
        detail=GoalDetail.NORMAL,
        elapsed=decision.elapsed,
        extra=decision.extra,
    )
