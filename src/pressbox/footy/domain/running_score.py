"""The score after each goal of a list, counted along the minutes of the match. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.domain.goals import Observation, Score, StoredGoal


@dataclass(frozen=True)
class Listed:
    """An observation with its place in the list and the score after it."""

    place: int
    goal: Observation
    score: Score


def count_scores(observed: ObservedFixture, events: Sequence[Observation]) -> list[Listed]:
    home = away = 0
    seen: list[Listed] = []
    for goal in sorted(events, key=lambda one: (one.elapsed, one.extra or 0)):
        if goal.team_id == observed.home.id:
            home += 1
        else:
            away += 1
        seen.append(Listed(len(seen), goal, Score(home, away)))
    return seen


def count_scores_among_all(
    observed: ObservedFixture,
    seen: Sequence[Listed],
    pairs: Sequence[tuple[StoredGoal, Listed]],
    unlisted: Sequence[StoredGoal],
) -> dict[int | str, Score]:
    """The score after each observation, by its place, and after each goal that still stands unlisted, by its id.

    Otherwise a goal that is missing from one answer would change the score of all that came after it. In one minute
    the goals keep the order in which they were first listed.
    """
    before = {found.place: goal.score.home + goal.score.away for goal, found in pairs}
    kept = {goal.event_id: goal.score.home + goal.score.away for goal in unlisted}
    latest = len(seen) + max((*before.values(), *kept.values()), default=0)
    moments: list[tuple[tuple[int, int, int, int], int | str, int]] = [
        ((one.goal.elapsed, one.goal.extra or 0, before.get(one.place, latest), one.place), one.place, one.goal.team_id)
        for one in seen
    ]
    moments += [
        ((goal.elapsed, goal.extra or 0, kept[goal.event_id], -1), goal.event_id, goal.team_id) for goal in unlisted
    ]
    scores: dict[int | str, Score] = {}
    home = away = 0
    for _, goal_or_place, team_id in sorted(moments, key=lambda moment: moment[0]):
        if team_id == observed.home.id:
            home += 1
        else:
            away += 1
        scores[goal_or_place] = Score(home, away)
    return scores
