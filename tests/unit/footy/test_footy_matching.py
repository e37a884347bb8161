"""What one poll means for the goals of a fixture, case by case."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.footy.domain.fixtures import FixtureStatus, League, ObservedFixture, Team
from pressbox.footy.domain.goals import Comparison, GoalDetail, Observation, PlayedMinute, Score, Sighting, StoredGoal
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy

NOW = datetime(2024, 3, 13, 21, 0, tzinfo=UTC)
HOME, AWAY = Team(1, "Home"), Team(2, "Away")
POLICY = FootyPolicy()


def observation(
    minute: int, player: int | None = 9, team: Team = HOME, extra: int | None = None, detail: GoalDetail | None = None
) -> Observation:
    name = f"P. {player}" if player else None
    return Observation(team.id, team.name, player, name, detail or GoalDetail.NORMAL, minute, extra)


def observed(
    *events: Observation, score: tuple[int, int] | None = None, status: str = "2H", problems: tuple[str, ...] = ()
) -> ObservedFixture:
    counted = tuple(sum(one.team_id == side.id for one in events) for side in (HOME, AWAY))
    home, away = score or counted
    return ObservedFixture(
        7,
        NOW,
        FixtureStatus(status),
        League(1, "L"),
        HOME,
        AWAY,
        80,
        None,
        home,
        away,
        events=events,
        problems=problems,
    )


def stored(
    name: str, goal: Observation, score: tuple[int, int] = (1, 0), *, drops: int = 0, removed: timedelta | None = None
) -> StoredGoal:
    return StoredGoal(
        name,
        goal.team_id,
        goal.player_id or 0,
        goal.player_name or "",
        goal.detail,
        goal.elapsed,
        goal.extra,
        Score(*score),
        frozenset({"earlier"}),
        frozenset(f"drop-{number}" for number in range(drops)),
        removed_at=None if removed is None else NOW - removed,
    )


def poll(known: list[StoredGoal], fixture: ObservedFixture, looked: int | None = None) -> Comparison:
    last = None if looked is None else PlayedMinute(looked)
    return compare(known, {}, fixture, "run", NOW, POLICY, last)


def sightings(result: Comparison) -> dict[str, Sighting]:
    return {one.event_id: one.sighting for one in result.seen}


def test_a_goal_gets_its_id_at_first_sight_and_the_next_free_number() -> None:
    result = compare([], {(1, 9): 3}, observed(observation(50), observation(10)), "run", NOW, POLICY)
    assert [(one.event_id, one.sequence, one.observation.minute) for one in result.created] == [
        ("7_1_9_Goal_4", 4, 10),
        ("7_1_9_Goal_5", 5, 50),
    ]
    assert [one.score for one in result.created] == [Score(1, 0), Score(2, 0)]


def test_an_unknown_scorer_is_player_zero() -> None:
    assert poll([], observed(observation(10, None))).created[0].event_id == "7_1_0_Goal_1"


def test_a_goal_seen_as_known_is_unchanged_and_registers_until_the_search_began() -> None:
    goal = stored("g", observation(10))
    result = poll([goal], observed(observation(10)))
    assert (sightings(result), result.seen[0].registers) == ({"g": Sighting.UNCHANGED}, True)
    result = poll([replace(goal, monitor_complete=True)], observed(observation(10)))
    assert result.seen[0].registers is False


def test_a_scorer_who_becomes_known_names_the_goal() -> None:
    result = poll([stored("g", observation(10, None))], observed(observation(10, 9)))
    assert sightings(result) == {"g": Sighting.NAMED}


def test_a_scorer_who_was_known_stays_known_when_an_answer_lacks_the_name() -> None:
    result = poll([stored("g", observation(10))], observed(observation(10, None)))
    assert sightings(result) == {"g": Sighting.UNCHANGED}
    assert (result.seen[0].observation.player_id, result.seen[0].observation.player_name) == (9, "P. 9")


def test_another_scorer_at_the_same_minute_and_score_is_the_same_goal() -> None:
    result = poll([stored("g", observation(10))], observed(observation(10, 4, detail=GoalDetail.OWN)))
    assert sightings(result) == {"g": Sighting.REATTRIBUTED}
    assert result.seen[0].observation.player_id == 4
    assert not result.created
    assert not result.missed


def test_another_scorer_some_minutes_off_at_another_score_is_another_goal() -> None:
    known = [stored("a", observation(10), (1, 0)), stored("b", observation(12, 8), (2, 0))]
    result = poll(known, observed(observation(12, 8), observation(14, 5)), looked=13)
    assert [one.event_id for one in result.missed] == ["a"]
    assert [one.observation.player_id for one in result.created] == [5]


@pytest.mark.parametrize(("minute", "extra"), [(11, None), (12, None), (8, None)])
def test_a_minute_within_the_tolerance_is_a_correction(minute: int, extra: int | None) -> None:
    result = poll([stored("g", observation(10))], observed(observation(minute, extra=extra)))
    assert sightings(result) == {"g": Sighting.CORRECTED}


@pytest.mark.parametrize(
    ("before", "after"),
    [((10, None), (13, None)), ((90, 6), (90, 3)), ((90, 1), (90, 4)), ((45, 3), (48, None)), ((17, None), (71, None))],
)
@pytest.mark.parametrize("player", [9, 4])
def test_a_minute_that_moved_far_is_a_correction_if_the_score_has_room_for_one(
    before: tuple[int, int | None], after: tuple[int, int | None], player: int
) -> None:
    known = stored("g", observation(before[0], extra=before[1]))
    result = poll([known], observed(observation(after[0], player, extra=after[1])), looked=92)
    assert [one.event_id for one in result.seen] == ["g"]
    assert (result.missed, result.created) == ((), ())


def test_a_goal_of_a_minute_after_the_last_look_is_another_goal() -> None:
    result = poll([stored("g", observation(10))], observed(observation(31)), looked=12)
    assert ([one.event_id for one in result.missed], len(result.created)) == (["g"], 1)


@pytest.mark.parametrize(("minute", "player"), [(11, 4), (12, 4), (12, 9)])
def test_a_goal_after_the_score_fell_is_another_goal_even_in_the_next_minute(minute: int, player: int) -> None:
    result = poll([stored("g", observation(10), drops=1)], observed(observation(minute, player)), looked=11)
    assert ([one.event_id for one in result.missed], len(result.created)) == (["g"], 1)


@pytest.mark.parametrize("minute", [9, 11])
def test_a_goal_that_one_poll_lacked_and_the_next_has_a_minute_off_is_the_same(minute: int) -> None:
    """Nobody scores again within a minute."""
    result = poll([stored("g", observation(10), drops=1)], observed(observation(minute)), looked=11)
    assert (sightings(result), result.created, result.missed) == ({"g": Sighting.CORRECTED}, (), ())


def test_a_second_row_of_a_goal_makes_none_while_a_row_of_the_other_side_is_missing() -> None:
    twice = observed(observation(23), observation(24), score=(1, 1))
    assert [one.observation.minute for one in poll([], twice).created] == [23]
    result = poll([stored("g", observation(23))], twice, looked=24)
    assert (sightings(result), result.created) == ({"g": Sighting.UNCHANGED}, ())


def test_a_second_row_makes_no_goal_when_one_poll_lacked_the_first() -> None:
    result = poll([stored("g", observation(23), drops=1)], observed(observation(23), observation(24), score=(1, 0)))
    assert (sightings(result), result.created) == ({"g": Sighting.UNCHANGED}, ())


def test_two_goals_of_one_player_in_one_minute_are_two_if_the_score_says_so() -> None:
    twice = observed(observation(23), observation(23))
    assert len(poll([stored("g", observation(23))], twice, looked=23).created) == 1
    known = [stored("a", observation(23), (1, 0)), stored("b", observation(23), (2, 0))]
    assert sightings(poll(known, twice, looked=60)) == {"a": Sighting.UNCHANGED, "b": Sighting.UNCHANGED}


def test_an_entry_that_is_listed_twice_is_one_goal_while_the_score_has_another() -> None:
    twice = observed(observation(23), observation(23), score=(2, 0))
    assert poll([stored("g", observation(23))], twice, looked=60).created == ()
    other = [stored("g", observation(23)), stored("o", observation(24, 5), (2, 0))]
    assert poll(other, twice, looked=24).created == ()


def test_namesakes_without_ids_are_two_players() -> None:
    one, other = (replace(observation(23), player_id=None, player_name=name) for name in ("A. Silva", "B. Silva"))
    result = poll([stored("g", one)], observed(one, other), looked=23)
    assert sightings(result) == {"g": Sighting.UNCHANGED}
    assert [new.observation.player_name for new in result.created] == ["B. Silva"]
    spelled = replace(one, player_name="André Silva")
    assert sightings(poll([stored("g", one)], observed(spelled))) == {"g": Sighting.CORRECTED}


@pytest.mark.parametrize(("looked", "extra"), [(PlayedMinute(90, 4), 5), (PlayedMinute(90), 5)])
def test_a_goal_after_another_that_went_in_stoppage_time_is_another_goal(looked: PlayedMinute, extra: int) -> None:
    known = [stored("g", observation(90, extra=2))]
    result = compare(known, {}, observed(observation(90, 4, extra=extra)), "run", NOW, POLICY, looked)
    assert ([one.event_id for one in result.missed], len(result.created)) == (["g"], 1)


KICK = replace(observation(120, 7, detail=GoalDetail.PENALTY), extra=1)


@pytest.mark.parametrize("penalties", [(3, 2), None])
def test_kicks_that_the_score_counts_are_no_goals(penalties: tuple[int, int] | None) -> None:
    kicks = [replace(KICK, player_id=70 + number, extra=number) for number in range(1, 4)]
    kicks += [replace(KICK, team_id=AWAY.id, player_id=80 + number, extra=number) for number in range(1, 3)]
    counted = observed(observation(113), *kicks, score=(4, 2), status="P")
    result = poll([stored("g", observation(113))], replace(counted, penalties=penalties), looked=120)
    assert (sightings(result), result.created) == ({"g": Sighting.UNCHANGED}, ())


def test_a_penalty_in_the_last_minute_that_is_listed_during_the_shoot_out_is_a_goal() -> None:
    late = observed(observation(113), KICK, score=(2, 0), status="P")
    result = poll([stored("g", observation(113))], replace(late, penalties=(2, 2)), looked=120)
    assert [new.observation.minute for new in result.created] == [121]


def test_a_goal_that_is_named_and_moved_to_its_side_at_once_is_the_same() -> None:
    result = poll([stored("g", observation(50, None))], observed(observation(50, team=AWAY), score=(1, 0)))
    assert ([one.event_id for one in result.seen], result.created) == (["g"], ())


def test_a_goal_of_the_wrong_side_does_not_keep_one_that_was_taken_away() -> None:
    wrong = observed(observation(26, 4, AWAY), score=(1, 0))
    assert [one.event_id for one in poll([stored("g", observation(23), drops=1)], wrong).missed] == ["g"]
    lacking = observed(score=(1, 0))
    assert poll([stored("g", observation(23, team=AWAY), (0, 1))], lacking).missed == ()


def test_stoppage_time_that_is_added_later_is_a_correction() -> None:
    result = poll([stored("g", observation(90))], observed(observation(90, extra=6)))
    assert sightings(result) == {"g": Sighting.CORRECTED}


def test_the_end_of_a_half_lies_between_stoppage_time_and_the_next_minutes() -> None:
    result = poll([stored("g", observation(45, extra=3))], observed(observation(47), score=(2, 0)))
    assert (result.missed, len(result.created)) == ((), 1)


@pytest.mark.parametrize("gap", [1, 2, 3, 30])
def test_of_two_goals_by_one_player_the_disallowed_one_is_missed(gap: int) -> None:
    known = [stored("first", observation(40), (1, 0)), stored("second", observation(40 + gap), (2, 0))]
    result = poll(known, observed(observation(40 + gap)))
    assert [one.event_id for one in result.missed] == ["first"]
    assert [one.event_id for one in result.seen] == ["second"]
    result = poll(known, observed(observation(40)))
    assert [one.event_id for one in result.missed] == ["second"]


def test_a_chain_of_goals_is_not_shifted_when_the_first_goes_and_another_comes() -> None:
    known = [stored("a", observation(50), (1, 0)), stored("b", observation(52), (2, 0))]
    result = poll(known, observed(observation(52), observation(54)), looked=53)
    assert [one.event_id for one in result.seen] == ["b"]
    assert [one.event_id for one in result.missed] == ["a"]
    assert [one.observation.minute for one in result.created] == [54]


def test_the_player_says_more_than_the_minute() -> None:
    result = poll([stored("g", observation(50))], observed(observation(50, 4), observation(51, 9), score=(2, 0)))
    assert sightings(result) == {"g": Sighting.CORRECTED}
    assert [one.observation.player_id for one in result.created] == [4]


def test_a_team_that_is_corrected_for_the_same_player_and_minute_keeps_the_goal() -> None:
    result = poll([stored("g", observation(50))], observed(observation(50, team=AWAY)))
    assert sightings(result) == {"g": Sighting.CORRECTED}


def test_the_third_run_in_a_row_that_misses_a_goal_removes_it() -> None:
    fixture = observed(observation(60, 5))
    assert poll([stored("g", observation(10), drops=1)], fixture).missed[0].removes is False
    assert poll([stored("g", observation(10), drops=2)], fixture).missed[0].removes is True


def test_the_same_run_counts_a_miss_once() -> None:
    goal = replace(stored("g", observation(10)), drop_runs=frozenset({"run", "other"}))
    assert poll([goal], observed(observation(60, 5))).missed[0].removes is False


def test_a_run_that_saw_a_goal_does_not_miss_it() -> None:
    goal = replace(stored("g", observation(10)), monitor_runs=frozenset({"run"}))
    assert poll([goal], observed(observation(60, 5))).missed == ()


def test_the_score_of_later_goals_waits_until_a_missing_one_is_removed() -> None:
    later = stored("later", observation(60), (2, 0))
    result = poll([stored("g", observation(10), (1, 0)), later], observed(observation(60)))
    assert sightings(result) == {"later": Sighting.UNCHANGED}
    result = poll([stored("g", observation(10), (1, 0), drops=2), later], observed(observation(60)))
    assert (sightings(result), result.seen[0].score) == ({"later": Sighting.CORRECTED}, Score(1, 0))


def test_two_goals_of_one_minute_keep_their_order_when_the_list_is_turned() -> None:
    known = [stored("a", observation(10), (1, 0)), stored("b", observation(10, 5, AWAY), (1, 1))]
    result = poll(known, observed(observation(10, 5, AWAY), observation(10)))
    assert sightings(result) == {"a": Sighting.UNCHANGED, "b": Sighting.UNCHANGED}


def test_a_new_goal_comes_after_one_of_the_same_minute_that_the_answer_lacks() -> None:
    first, equaliser = stored("a", observation(5)), stored("b", observation(11, 4, AWAY), (1, 1))
    result = poll([first, equaliser], observed(observation(11), score=(2, 1)))
    assert [one.score for one in result.created] == [Score(2, 1)]


def test_the_score_of_a_goal_that_stands_unlisted_follows_when_earlier_ones_are_removed() -> None:
    gone = [stored("a", observation(5), drops=2), stored("b", observation(7), (2, 0), drops=2)]
    unlisted, listed = stored("c", observation(11, 4, AWAY), (2, 1)), stored("d", observation(11), (3, 1))
    result = poll([*gone, unlisted, listed], observed(observation(11)))
    assert result.seen[0].score == Score(1, 1)
    assert result.rescored == {"c": Score(0, 1)}


def test_a_removed_goal_that_returns_within_the_grace_is_restored() -> None:
    result = poll([stored("g", observation(10), removed=timedelta(hours=23))], observed(observation(10)))
    assert sightings(result) == {"g": Sighting.RESTORED}
    result = poll([stored("g", observation(10), removed=timedelta(hours=25))], observed(observation(10)))
    assert (len(result.created), result.seen) == (1, ())


@pytest.mark.parametrize(("minute", "player"), [(11, 4), (12, 9)])
def test_a_goal_after_a_disallowed_one_is_a_new_one(minute: int, player: int) -> None:
    result = poll([stored("g", observation(10), removed=timedelta(minutes=1))], observed(observation(minute, player)))
    assert (len(result.created), result.seen, result.missed) == (1, (), ())


@pytest.mark.parametrize("minute", [9, 11])
def test_a_removed_goal_returns_a_minute_off(minute: int) -> None:
    result = poll([stored("g", observation(10), removed=timedelta(minutes=1))], observed(observation(minute)))
    assert (sightings(result), result.created) == ({"g": Sighting.RESTORED}, ())


@pytest.mark.parametrize(
    "fixture",
    [
        replace(observed(), events=None),
        observed(score=(1, 0)),
        observed(score=(1, 0), status="FT"),
        replace(observed(status="CANC"), home_goals=None, away_goals=None),
        observed(status="NS"),
        observed(observation(60, 5), score=(2, 0), problems=("Event 1 is not an object.",)),
    ],
)
def test_an_answer_that_cannot_be_complete_misses_nothing(fixture: ObservedFixture) -> None:
    result = poll([stored("g", observation(10), drops=2)], fixture)
    assert result.missed == ()
    assert result.distrusted


def test_an_empty_list_at_nil_nil_is_believed() -> None:
    result = poll([stored("g", observation(10))], observed())
    assert ([one.event_id for one in result.missed], result.distrusted) == (["g"], "")


def test_a_goal_that_the_score_counts_is_not_missed() -> None:
    known = [stored("a", observation(10), (1, 0), drops=2), stored("b", observation(60, 5), (2, 0))]
    result = poll(known, observed(observation(60, 5), score=(2, 0)))
    assert (result.missed, result.distrusted) == ((), "The score counts a goal that is not listed.")


def test_a_list_that_says_too_little_loses_only_what_the_score_lost() -> None:
    known = [stored("a", observation(10), (1, 0)), stored("b", observation(60, 5), (2, 0))]
    assert [one.event_id for one in poll(known, observed(score=(1, 0))).missed] == ["b"]


def test_a_correction_of_the_assist_is_told_when_it_is_known() -> None:
    goal = replace(stored("g", observation(10)), assist_name="")
    result = poll([goal], observed(replace(observation(10), assist_name="Q. Passer")))
    assert sightings(result) == {"g": Sighting.CORRECTED}


def test_a_scorer_without_an_id_is_known_by_name() -> None:
    nameless_id = replace(observation(10), player_id=None)
    result = poll([stored("g", observation(10))], observed(nameless_id))
    assert sightings(result) == {"g": Sighting.UNCHANGED}
    assert result.seen[0].observation.player_id == 9
