"""Decides what one answer of the API means for the goals of a fixture: seen, new, missed or restored. Pure.

The API gives events no ids, reorders them, and corrects scorers and minutes. So observations are paired with stored
goals at the least total cost. A goal that is listed exactly as stored is that goal. For the rest, a pair costs less
than leaving both unpaired, but more than half of that. So a removed goal never shifts all later goals by one: of two
goals by one player, the one that is no longer listed is missed, whichever came first.

The score decides what the list leaves open. Where it has no room for a known goal and a new entry, the two are one goal
that was corrected. While it still counts a goal that is not listed, that goal is not missed. A goal that list and score
both took away returns only as it was: anything else is another goal.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pressbox.footy.domain.assignment import cheapest_pairs
from pressbox.footy.domain.disallowed import find_disallowed
from pressbox.footy.domain.evidence import (
    AGAIN_MINUTES,
    REPEAT_MINUTES,
    drop_excess,
    is_listed_again,
    is_near,
    merge_repeats,
    same_scorer,
)
from pressbox.footy.domain.fixtures import ObservedFixture, Stage
from pressbox.footy.domain.goals import (
    UNKNOWN_PLAYER,
    Comparison,
    MissedGoal,
    NewGoal,
    Observation,
    PlayedMinute,
    Score,
    SeenGoal,
    Sighting,
    StoredGoal,
    event_id,
)
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.running_score import Listed, count_scores, count_scores_among_all
from pressbox.footy.domain.shoot_outs import leave_out_kicks

# What a missed goal and a new goal cost each; a removed goal that stays removed costs nothing.
ALONE = 50.0
MOVED = 52.0
MOVED_PER_MINUTE = 8.0
# More than a moved minute: the scorer identifies a goal better than the minute.
OTHER_PLAYER = 75.0
OTHER_PLAYER_PER_MINUTE = 4.0
OTHER_TEAM = 90.0
OTHER_SCORE = 5.0
OTHER_DETAIL = 6.0
NAMED = 3.0
RETURNED = 8.0
RETURNED_AS_OTHER = 40.0
# Where stoppage time begins: the API often adds the `extra` of such a goal later.
PERIOD_ENDS = frozenset({45, 90, 105, 120})


def compare(
    stored: Sequence[StoredGoal],
    sequences: Mapping[tuple[int, int], int],
    observed: ObservedFixture,
    run_id: str,
    now: datetime,
    policy: FootyPolicy,
    looked: PlayedMinute | None = None,
) -> Comparison:
    """Comparing the same answer twice in a run changes nothing: registers are sets of run ids.

    `looked` is the minute of the match when it was looked at last: a goal of a later minute was not known then.
    """
    present = [goal for goal in stored if goal.removed_at is None]
    if observed.events is None:
        return Comparison(distrusted="The answer has no list of events.", problems=observed.problems)
    observed = leave_out_kicks(observed, present)
    returning = [
        goal for goal in stored if goal.removed_at is not None and now - goal.removed_at <= policy.removal_grace
    ]
    seen, pairs = _weigh(observed, [*present, *returning], looked, policy.minute_tolerance)
    seen = _leave_out_repeats(observed, present, seen, pairs, looked)
    pairs += _pair_corrected(observed, present, seen, pairs, looked)
    pairs += _pair_across(observed, present, seen, pairs)
    taken = {found.place for _, found in pairs}
    paired = {goal.event_id for goal, _ in pairs}
    unseen = [goal for goal in present if goal.event_id not in paired]
    distrusted = _why_incomplete(observed) if unseen else ""
    lost = [] if distrusted else _find_lost(observed, unseen, seen)
    if unseen and not lost:
        distrusted = distrusted or "The score counts a goal that is not listed."
    # A run that saw a goal once cannot miss it in a second comparison.
    missed = [_miss(goal, run_id, policy) for goal in lost if run_id not in goal.monitor_runs]
    gone = {miss.event_id for miss in missed if miss.removes}
    standing = [goal for goal in unseen if goal.event_id not in gone]
    scores = count_scores_among_all(observed, seen, pairs, standing)
    created = _create(observed.fixture_id, [one for one in seen if one.place not in taken], sequences, scores)
    disallowed, proven = ((), ()) if created or unseen else _take_back(observed, stored, seen, sequences)
    return Comparison(
        created=created,
        disallowed=disallowed,
        proven=proven,
        seen=tuple(_see(goal, found.goal, scores[found.place]) for goal, found in pairs),
        missed=tuple(missed),
        rescored={goal.event_id: scores[goal.event_id] for goal in standing if scores[goal.event_id] != goal.score},
        distrusted=distrusted,
        problems=observed.problems,
    )


def minutes_apart(stored: StoredGoal, goal: Observation) -> int:
    """Minutes of play between the two: 45+3 and 47 are five apart, because a half ended in between."""
    if stored.elapsed == goal.elapsed:
        return abs((stored.extra or 0) - (goal.extra or 0))
    earlier, later = sorted(((stored.elapsed, stored.extra or 0), (goal.elapsed, goal.extra or 0)))
    return later[0] + later[1] - earlier[0] + (earlier[1] if earlier[0] in PERIOD_ENDS else -earlier[1])


def _weigh(
    observed: ObservedFixture, goals: Sequence[StoredGoal], looked: PlayedMinute | None, tolerance: int
) -> tuple[list[Listed], list[tuple[StoredGoal, Listed]]]:
    """The entries that count, and the goals that they are."""
    seen = count_scores(observed, merge_repeats(observed, goals, looked))
    pairs = _pair(goals, seen, tolerance, looked)
    known = {found.place: goal for goal, found in pairs}
    rows = [found.goal for found in seen]
    counted = drop_excess(observed, rows, known, looked, goals)
    if len(counted) == len(rows):
        return seen, pairs
    seen = count_scores(observed, counted)
    return seen, _pair(goals, seen, tolerance, looked)


def _leave_out_repeats(
    observed: ObservedFixture,
    present: Sequence[StoredGoal],
    seen: Sequence[Listed],
    pairs: Sequence[tuple[StoredGoal, Listed]],
    looked: PlayedMinute | None,
) -> list[Listed]:
    """Leave out a second entry of a known goal that only seems to count because another goal is not listed."""
    paired, taken = {goal.event_id for goal, _ in pairs}, {found.place for _, found in pairs}
    left_out: set[int] = set()
    for team in (observed.home, observed.away):
        score = observed.score_of(team.id)
        unlisted = sum(
            goal.team_id == team.id and goal.event_id not in paired and not goal.drop_runs for goal in present
        )
        listed = [one for one in seen if one.goal.team_id == team.id]
        repeats = [
            one.place
            for one in listed
            if one.place not in taken
            and (
                is_listed_again(one.goal, [found.goal for found in seen], taken)
                or (
                    not _is_later(one.goal, looked)
                    and any(found.place in taken and is_near(one.goal, found.goal, REPEAT_MINUTES) for found in listed)
                )
            )
        ]
        if score is not None and unlisted:
            left_out |= set(repeats[: max(len(listed) + unlisted - score, 0)])
    return [one for one in seen if one.place not in left_out]


def _pair_corrected(
    observed: ObservedFixture,
    present: Sequence[StoredGoal],
    seen: Sequence[Listed],
    pairs: Sequence[tuple[StoredGoal, Listed]],
    looked: PlayedMinute | None,
) -> list[tuple[StoredGoal, Listed]]:
    """Pair what is left where the score has no room for both, however far the minute moved."""
    paired = {goal.event_id for goal, _ in pairs}
    taken = {found.place for _, found in pairs}
    corrected: list[tuple[StoredGoal, Listed]] = []
    for team in (observed.home, observed.away):
        score = observed.score_of(team.id)
        goals = [
            goal for goal in present if goal.team_id == team.id and goal.event_id not in paired and not goal.drop_runs
        ]
        rest = [one for one in seen if one.goal.team_id == team.id and one.place not in taken]
        if score is None or not goals or not rest:
            continue
        room = score - sum(one.goal.team_id == team.id and one.place in taken for one in seen)
        costs = sorted(
            (_distance(goal, one.goal), goals.index(goal), one.place)
            for goal in goals
            for one in rest
            if not (_is_later(one.goal, looked) or _is_swapped(goal, one.goal, looked))
            or _is_moved(goal, one.goal, observed)
        )
        corrected += _take_cheapest(costs, goals, {one.place: one for one in rest}, len(goals) + len(rest) - room)
    return corrected


def _pair_across(
    observed: ObservedFixture,
    present: Sequence[StoredGoal],
    seen: Sequence[Listed],
    pairs: Sequence[tuple[StoredGoal, Listed]],
) -> list[tuple[StoredGoal, Listed]]:
    """Pair what is left of one minute on two sides, if the score has no room for a goal there or for an entry here."""
    paired, taken = {goal.event_id for goal, _ in pairs}, {found.place for _, found in pairs}
    across: list[tuple[StoredGoal, Listed]] = []
    for goal in present:
        score = observed.score_of(goal.team_id)
        listed = sum(one.goal.team_id == goal.team_id for one in seen)
        others = [one for one in seen if one.goal.team_id != goal.team_id]
        other_score = None if score is None or not others else observed.score_of(others[0].goal.team_id)
        if goal.event_id in paired or goal.drop_runs or score is None or other_score is None:
            continue
        if listed < score and len(others) <= other_score:
            continue
        other = next(
            (one for one in others if one.place not in taken and minutes_apart(goal, one.goal) == 0),
            None,
        )
        if other is not None:
            taken.add(other.place)
            across.append((goal, other))
    return across


def _take_cheapest(
    costs: Sequence[tuple[tuple[bool, int], int, int]],
    goals: Sequence[StoredGoal],
    rest: Mapping[int, Listed],
    wanted: int,
) -> list[tuple[StoredGoal, Listed]]:
    used: set[int] = set()
    places: set[int] = set()
    found: list[tuple[StoredGoal, Listed]] = []
    for _, number, place in costs:
        if len(found) < wanted and number not in used and place not in places:
            used.add(number)
            places.add(place)
            found.append((goals[number], rest[place]))
    return found


def _distance(stored: StoredGoal, goal: Observation) -> tuple[bool, int]:
    return _differ(stored, goal), abs(stored.minute - goal.minute)


def _is_moved(stored: StoredGoal, goal: Observation, observed: ObservedFixture) -> bool:
    """Whether an entry after the last look is a known goal whose minute was corrected while nobody looked."""
    near = same_scorer(stored, goal) and abs(stored.minute - goal.minute) <= REPEAT_MINUTES
    return near and not any(
        decision.team_id == goal.team_id and decision.minute >= stored.minute for decision in observed.cancellations
    )


def _is_swapped(stored: StoredGoal, goal: Observation, looked: PlayedMinute | None) -> bool:
    """Whether it is another goal of a stoppage time that the API does not count: minutes later, by another player."""
    uncounted = looked is not None and looked.extra is None and looked.elapsed == stored.elapsed == goal.elapsed
    return uncounted and _differ(stored, goal) and (goal.extra or 0) - (stored.extra or 0) >= REPEAT_MINUTES


def _is_later(goal: Observation, looked: PlayedMinute | None) -> bool:
    """Whether it was scored after the last look, so that no goal that was known then can be it."""
    if looked is None or goal.elapsed != looked.elapsed:
        return looked is not None and goal.elapsed > looked.elapsed
    return looked.extra is not None and (goal.extra or 0) > looked.extra


def _take_back(
    observed: ObservedFixture,
    stored: Sequence[StoredGoal],
    seen: Sequence[Listed],
    sequences: Mapping[tuple[int, int], int],
) -> tuple[tuple[NewGoal, ...], tuple[str, ...]]:
    """What the video referee's decisions tell of goals that are gone: those nobody saw, and those nobody confirmed."""
    decisions = list(find_disallowed(observed, stored, [one.goal for one in seen]))
    unknown: list[Listed] = []
    for place, goal in enumerate([each.goal for each in decisions if each.known is None], start=len(seen)):
        before = [
            one.score for one in seen if (one.goal.elapsed, one.goal.extra or 0) <= (goal.elapsed, goal.extra or 0)
        ]
        unknown.append(Listed(place, goal, before[-1] if before else Score(0, 0)))
    disallowed = _create(observed.fixture_id, unknown, sequences, {one.place: one.score for one in unknown})
    return disallowed, tuple(each.known.event_id for each in decisions if each.known and not each.known.confirmed)


def _find_lost(observed: ObservedFixture, unseen: Sequence[StoredGoal], seen: Sequence[Listed]) -> list[StoredGoal]:
    """The goals that neither the list nor the score has any more; of several the ones that came last.

    What one side has too many of while the other lacks as many is listed for the wrong side.
    """
    teams = (observed.home.id, observed.away.id)
    listed = {team: sum(one.goal.team_id == team for one in seen) for team in teams}
    missing = {team: [goal for goal in unseen if goal.team_id == team] for team in teams}
    lost: list[StoredGoal] = []
    for team, other in (teams, teams[::-1]):
        score, other_score = observed.score_of(team), observed.score_of(other)
        beyond = 0 if other_score is None else listed[other] - other_score
        unlisted = 0 if score is None else max(score - listed[team] - max(beyond, 0), 0)
        stand = unlisted + max(-beyond - len(missing[other]), 0)
        missing[team].sort(key=lambda goal: (not goal.drop_runs, -goal.elapsed, -(goal.extra or 0)))
        lost += missing[team][: max(len(missing[team]) - stand, 0)]
    return lost


def _pair(
    stored: Sequence[StoredGoal], seen: Sequence[Listed], tolerance: int, looked: PlayedMinute | None
) -> list[tuple[StoredGoal, Listed]]:
    pairs = _pair_exactly(stored, seen)
    known, used = {goal.event_id for goal, _ in pairs}, {found.place for _, found in pairs}
    goals = [goal for goal in stored if goal.event_id not in known]
    rest = [found for found in seen if found.place not in used]
    costs = [[_cost(goal, found, tolerance, looked) for found in rest] for goal in goals]
    row_alone = [ALONE if goal.removed_at is None else 0.0 for goal in goals]
    return pairs + [(goals[row], rest[column]) for row, column in cheapest_pairs(costs, row_alone, [ALONE] * len(rest))]


def _pair_exactly(stored: Sequence[StoredGoal], seen: Sequence[Listed]) -> list[tuple[StoredGoal, Listed]]:
    """Pair goals that are listed exactly as stored and are unique on both sides: nearly all of every poll."""

    def key(goal: StoredGoal | Observation) -> tuple[object, ...]:
        player = goal.player_id or goal.player_name or UNKNOWN_PLAYER
        return goal.team_id, player, goal.detail, goal.elapsed, goal.extra or 0

    listed = Counter(key(found.goal) for found in seen)
    kept = Counter(key(goal) for goal in stored)
    by_key = {key(goal): goal for goal in stored if goal.removed_at is None and kept[key(goal)] == 1}
    return [
        (by_key[key(found.goal)], found) for found in seen if listed[key(found.goal)] == 1 and key(found.goal) in by_key
    ]


def _cost(stored: StoredGoal, found: Listed, tolerance: int, looked: PlayedMinute | None) -> float | None:
    """What it costs to pair this observation with that goal; None when it is impossible."""
    apart = minutes_apart(stored, found.goal)
    if same_scorer(stored, found.goal) and stored.minute == found.goal.minute:
        # 45+3 is written as 48 now and then.
        apart = 0
    same_score = stored.score == found.score
    small = (0.0 if same_score else OTHER_SCORE) + (0.0 if stored.detail is found.goal.detail else OTHER_DETAIL)
    if stored.removed_at is not None:
        return _cost_of_return(stored, found, apart, small)
    if stored.drop_runs and _may_have_followed(stored, found.goal, apart, tolerance):
        return None
    if stored.team_id != found.goal.team_id:
        return OTHER_TEAM + small / 2 if same_scorer(stored, found.goal) and apart == 0 else None
    if apart > tolerance and not _stoppage_added(stored, found.goal):
        return None
    apart = min(apart, tolerance)
    if _differ(stored, found.goal):
        if apart and _is_later(found.goal, looked):
            return None
        # Another scorer is the same goal only at the same minute, or at the same score close by.
        return OTHER_PLAYER + apart * OTHER_PLAYER_PER_MINUTE + small if apart == 0 or same_score else None
    named = 0.0 if same_scorer(stored, found.goal) else NAMED
    return (MOVED + apart * MOVED_PER_MINUTE if apart else 0.0) + named + small


def _cost_of_return(stored: StoredGoal, found: Listed, apart: int, small: float) -> float | None:
    """A removed goal comes back as it was, or a minute off: what comes later is another goal after a review."""
    if apart > AGAIN_MINUTES or _may_have_followed(stored, found.goal, apart, AGAIN_MINUTES):
        return None
    if stored.team_id != found.goal.team_id:
        return RETURNED_AS_OTHER + small / 2 if same_scorer(stored, found.goal) and not apart else None
    if _differ(stored, found.goal):
        return RETURNED_AS_OTHER if small == 0.0 and not apart else None
    return RETURNED + apart + small


def _may_have_followed(stored: StoredGoal, goal: Observation, apart: int, tolerance: int) -> bool:
    """Whether it can be another goal, scored after the score fell.

    One of an earlier minute cannot be, and nobody scores again within a minute.
    """
    if not _comes_after(stored, goal):
        return False
    nearest = tolerance if _stoppage_added(stored, goal) else AGAIN_MINUTES
    return not same_scorer(stored, goal) or apart > nearest


def _comes_after(stored: StoredGoal, goal: Observation) -> bool:
    """Whether an entry is of a later minute than a goal; 45+3 is written as 48 now and then."""
    if same_scorer(stored, goal) and stored.minute == goal.minute:
        return False
    return (goal.elapsed, goal.extra or 0) > (stored.elapsed, stored.extra or 0)


def _differ(stored: StoredGoal, goal: Observation) -> bool:
    return bool(stored.player_name) and bool(goal.player_name) and not same_scorer(stored, goal)


def _stoppage_added(stored: StoredGoal, goal: Observation) -> bool:
    """90 first and 90+4 later is one goal, unless the scorer differs."""
    at_the_end = stored.elapsed == goal.elapsed and goal.elapsed in PERIOD_ENDS
    return at_the_end and stored.extra is None and goal.extra is not None and not _differ(stored, goal)


def _why_incomplete(observed: ObservedFixture) -> str:
    """Why an answer that lacks a goal must be incomplete, or empty."""
    if observed.status.stage is Stage.STAGING:
        return f"The status went back to {observed.status}, but goals are known."
    if observed.events:
        return ""
    unknown = observed.score_of(observed.home.id) is None or observed.score_of(observed.away.id) is None
    return "The list of events is empty and there is no score." if unknown else ""


def _miss(goal: StoredGoal, run_id: str, policy: FootyPolicy) -> MissedGoal:
    return MissedGoal(goal.event_id, removes=len(goal.drop_runs | {run_id}) >= policy.runs_to_remove)


def _create(
    fixture_id: int,
    found: Sequence[Listed],
    sequences: Mapping[tuple[int, int], int],
    scores: Mapping[int | str, Score],
) -> tuple[NewGoal, ...]:
    given = dict(sequences)
    created = []
    for one in found:
        key = (one.goal.team_id, one.goal.player_id or UNKNOWN_PLAYER)
        given[key] = given.get(key, 0) + 1
        name = event_id(fixture_id, *key, given[key])
        created.append(NewGoal(name, given[key], one.goal, scores[one.place]))
    return tuple(created)


def _see(stored: StoredGoal, goal: Observation, score: Score) -> SeenGoal:
    if stored.player_name and not goal.player_name:
        # A known name stays known when one answer lacks it.
        goal = replace(goal, player_id=stored.player_id or None, player_name=stored.player_name)
    elif not goal.player_id and same_scorer(stored, goal):
        goal = replace(goal, player_id=stored.player_id or None)
    return SeenGoal(stored.event_id, _sighting(stored, goal, score), goal, score, registers=not stored.monitor_complete)


def _sighting(stored: StoredGoal, goal: Observation, score: Score) -> Sighting:
    if stored.removed_at is not None:
        return Sighting.RESTORED
    if goal.player_name and not stored.player_name:
        return Sighting.NAMED
    if _differ(stored, goal):
        return Sighting.REATTRIBUTED
    assist_known = stored.assist_name is not None
    was = (stored.team_id, stored.player_id, stored.player_name, stored.detail, stored.elapsed, stored.extra or 0)
    now = (goal.team_id, goal.player_id or 0, goal.player_name or "", goal.detail, goal.elapsed, goal.extra or 0)
    same = was == now and stored.score == score and (not assist_known or stored.assist_name == (goal.assist_name or ""))
    return Sighting.UNCHANGED if same else Sighting.CORRECTED
