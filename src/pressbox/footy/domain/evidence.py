"""Decides which entries of a list of goals count. Pure.

The API lists a goal twice while it corrects it, keeps goals that were disallowed, and lists the kicks of a shoot-out.
The score is what it gets right first. So of the entries of a side as many count as the score has goals; the entries
that are left out are those with the weakest evidence. Without a score everything counts that is not plainly a repeat.
"""

from collections.abc import Callable, Container, Mapping, Sequence, Set
from enum import IntEnum

from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.domain.goals import Cancellation, Observation, PlayedMinute, StoredGoal
from pressbox.footy.domain.names import fold
from pressbox.footy.domain.shoot_outs import may_be_kick

# At most so far apart are two entries of one goal while the API corrects it.
REPEAT_MINUTES = 3
AGAIN_MINUTES = 1
# So long after a goal the video referee may decide; the score tells whether he did.
LONGEST_REVIEW = 15
# A decision of the minutes before the last look can be new; an older one was weighed then.
FRESH_MINUTES = 2
# A second goal of a minute is listed so soon after it; what comes later is a repeat, and the score has another goal.
NEWS_MINUTES = 1


class _Doubt(IntEnum):
    """Why an entry may not count, the strongest reason first."""

    KICK = 0
    REMOVED_BEFORE = 1
    LISTED_AGAIN = 2
    MISSED_BEFORE = 3
    DISALLOWED = 4
    REPEATED = 5
    NEW = 6
    DISALLOWED_EARLIER = 7
    LATEST = 8


def same_scorer(one: StoredGoal | Observation | Cancellation, other: StoredGoal | Observation) -> bool:
    """Compare by id, or by family name where one has no id: the API shortens given names now and then."""
    if not one.player_name or not other.player_name:
        return False
    if one.player_id and other.player_id:
        return one.player_id == other.player_id
    (*given, family), (*other_given, other_family) = one.player_name.split(), other.player_name.split()
    # A. Silva is not B. Silva.
    if given and other_given and fold(given[0])[:1] != fold(other_given[0])[:1]:
        return False
    return family.casefold() == other_family.casefold()


def merge_repeats(
    observed: ObservedFixture, stored: Sequence[StoredGoal] = (), looked: PlayedMinute | None = None
) -> list[Observation]:
    """Leave one entry per scorer and minute. An unknown scorer gives way to a known one if the score wants fewer.

    A second entry stays if it is one of the `stored` goals, or if it is new and only with it there are as many as the
    score says: somebody scored twice in a minute, or two namesakes did.
    """
    merged: list[Observation] = []
    repeats: list[Observation] = []
    for goal in observed.events or ():
        place = next((index for index, kept in enumerate(merged) if _is_same_entry(kept, goal)), None)
        if place is None:
            merged.append(goal)
        elif _fullness(goal) > _fullness(merged[place]):
            repeats.append(merged[place])
            merged[place] = goal
        else:
            repeats.append(goal)
    # A repeat by the letter says less than one of another spelling.
    for goal in sorted(repeats, key=lambda goal: any(goal.player_name == one.player_name for one in merged)):
        if _is_second_goal(goal, observed, merged, stored, looked):
            merged.append(goal)
    for goal in [goal for goal in merged if not goal.player_name]:
        team_score = observed.score_of(goal.team_id)
        reach = 0 if team_score is None else 1
        full = team_score is None or sum(one.team_id == goal.team_id for one in merged) > team_score
        if full and any(is_near(goal, one, reach) and one.player_name for one in merged):
            merged.remove(goal)
    return merged


def drop_excess(
    observed: ObservedFixture,
    rows: Sequence[Observation],
    known: Mapping[int, StoredGoal],
    looked: PlayedMinute | None,
    stored: Sequence[StoredGoal] = (),
) -> list[Observation]:
    """Leave out the weakest entries of a side that has more of them than goals.

    `known` has the stored goal of an entry by its place; `looked` is the minute of the match at the last look.
    Of two new entries the one by a scorer of `stored` stays: it may be his goal in another minute.
    While the other side lacks as many, a goal was most likely listed for the wrong side, and stays, unless it is a
    repeat of another.
    """
    scores = {team.id: observed.score_of(team.id) for team in (observed.home, observed.away)}
    listed = {team: sum(goal.team_id == team for goal in rows) for team in scores}
    lacking = sum(max((score or 0) - listed[team], 0) for team, score in scores.items())
    cancelled = _find_cancelled(observed, rows)
    dropped: set[int] = set()
    for team, score in scores.items():
        places = [place for place, goal in enumerate(rows) if goal.team_id == team]
        if score is None:
            dropped |= {
                place
                for place in places
                if place not in known
                and (may_be_kick(rows[place], observed.status) or is_listed_again(rows[place], rows, known))
            }
            continue
        # One after the other: without its repeat an entry is no repeat any more.
        for excess in range(len(places) - score, 0, -1):
            rank = _weakness(observed, rows, known, cancelled, looked, dropped, stored)
            weakest = min((place for place in places if place not in dropped), key=rank)
            if excess <= lacking and rank(weakest)[0] not in (_Doubt.LISTED_AGAIN, _Doubt.REPEATED):
                break
            dropped.add(weakest)
    return [goal for place, goal in enumerate(rows) if place not in dropped]


def _weakness(
    observed: ObservedFixture,
    rows: Sequence[Observation],
    known: Mapping[int, StoredGoal],
    cancelled: Mapping[int, Cancellation],
    looked: PlayedMinute | None,
    dropped: Set[int],
    stored: Sequence[StoredGoal],
) -> Callable[[int], tuple[int, bool, int, int]]:
    missing = [goal for goal in stored if goal.removed_at is None and goal not in known.values()]

    def weigh(place: int) -> tuple[int, bool, int, int]:
        repeated = any(
            _is_repeat(rows[place], goal, index in known)
            for index, goal in enumerate(rows)
            if index not in dropped and index != place
        )
        doubt = _doubt(rows[place], observed, repeated, known.get(place), cancelled.get(place), looked)
        if place not in known and doubt > _Doubt.LISTED_AGAIN and is_listed_again(rows[place], rows, known):
            doubt = _Doubt.LISTED_AGAIN
        known_scorer = any(same_scorer(goal, rows[place]) for goal in missing)
        return doubt, known_scorer, -rows[place].elapsed, -(rows[place].extra or 0)

    return weigh


def _doubt(
    goal: Observation,
    observed: ObservedFixture,
    repeated: bool,
    stored: StoredGoal | None,
    decision: Cancellation | None,
    looked: PlayedMinute | None,
) -> _Doubt:
    if stored is None and may_be_kick(goal, observed.status):
        return _Doubt.KICK
    if stored is not None and stored.removed_at is not None:
        return _Doubt.REMOVED_BEFORE
    if stored is not None and stored.drop_runs:
        return _Doubt.MISSED_BEFORE
    if decision is not None and (stored is None or looked is None or decision.minute >= looked.minute - FRESH_MINUTES):
        return _Doubt.DISALLOWED
    if stored is None:
        return _Doubt.REPEATED if repeated else _Doubt.NEW
    return _Doubt.DISALLOWED_EARLIER if decision is not None else _Doubt.LATEST


def _find_cancelled(observed: ObservedFixture, rows: Sequence[Observation]) -> dict[int, Cancellation]:
    """The entry that each decision is about: the last one of that scorer before it."""
    found: dict[int, Cancellation] = {}
    for decision in observed.cancellations:
        about = [
            place
            for place, goal in enumerate(rows)
            if goal.team_id == decision.team_id
            and (not decision.player_name or same_scorer(decision, goal))
            and 0 <= decision.minute - goal.minute <= LONGEST_REVIEW
            and place not in found
        ]
        if about:
            found[max(about, key=lambda place: rows[place].minute)] = decision
    return found


def _is_same_entry(one: Observation, other: Observation) -> bool:
    same_minute = (one.elapsed, one.extra or 0) == (other.elapsed, other.extra or 0)
    return one == other or (one.team_id == other.team_id and same_minute and same_scorer(one, other))


def _is_second_goal(
    goal: Observation,
    observed: ObservedFixture,
    merged: Sequence[Observation],
    stored: Sequence[StoredGoal],
    looked: PlayedMinute | None,
) -> bool:
    """Whether an entry that looks like a repeat is a goal of its own: the score has room, and nothing else fills it."""
    entries = [one for one in merged if one.team_id == goal.team_id]
    present = [one for one in stored if one.removed_at is None and not one.drop_runs]
    here = [one for one in present if _is_of_minute(one, goal)]
    known = len(here) > sum(_is_of_minute(one, goal) for one in merged)
    if not (known or looked is None or looked.minute <= goal.minute + NEWS_MINUTES):
        return False
    entries = [one for one in entries if one.player_name or not _is_of_minute(one, goal)]
    unlisted = [
        one
        for one in present
        if one.team_id == goal.team_id and one not in here and not any(same_scorer(one, entry) for entry in entries)
    ]
    return len(entries) + len(unlisted) < (observed.score_of(goal.team_id) or 0)


def _is_of_minute(one: StoredGoal | Observation, goal: Observation) -> bool:
    return (one.elapsed, one.extra or 0) == (goal.elapsed, goal.extra or 0)


def is_near(one: Observation, other: Observation, minutes: int) -> bool:
    return one is not other and one.team_id == other.team_id and abs(one.minute - other.minute) <= minutes


def is_listed_again(goal: Observation, rows: Sequence[Observation], known: Container[int]) -> bool:
    """Whether a new entry is most likely a known goal by the same player: nobody scores again within a minute."""
    return any(
        place in known
        and is_near(goal, other, AGAIN_MINUTES)
        and goal.minute != other.minute
        and same_scorer(goal, other)
        for place, other in enumerate(rows)
    )


def _is_repeat(goal: Observation, other: Observation, other_is_known: bool) -> bool:
    """Whether a new entry may be about the goal of another one."""
    if not is_near(goal, other, REPEAT_MINUTES):
        return False
    return other_is_known or goal.minute == other.minute or same_scorer(goal, other)


def _fullness(goal: Observation) -> int:
    return 2 * bool(goal.player_id) + bool(goal.assist_name)
