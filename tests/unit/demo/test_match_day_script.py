"""The scripted match day: what it says at any minute, and that its truth is what the rules find."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.match_day.matches import ScriptedMatch
from pressbox.demo.match_day.records import load_matches
from pressbox.demo.world import MATCH_SPEED
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import StoredGoal
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy

START = datetime(2026, 6, 11, 18, 0, tzinfo=UTC)
POLICY = FootyPolicy()


def with_shoot_out() -> ScriptedMatch:
    return next(match for match in build_day(START, matches=4).matches if match.record.shoot_out)


def test_the_records_are_whole() -> None:
    matches = load_matches()
    assert (len(matches), sum(len(match.goals) for match in matches)) == (192, 512)
    names = {goal.scorer.name for match in matches for goal in match.goals if " " in goal.scorer.name}
    assert 0.88 < sum(". " in name for name in names) / len(names) < 0.98


def test_the_same_seed_builds_the_same_day_and_another_seed_another() -> None:
    assert build_day(START, seed=3) == build_day(START, seed=3)
    assert build_day(START, seed=3) != build_day(START, seed=4)


@pytest.mark.parametrize("seed", range(5))
def test_a_small_day_has_everything_that_can_happen(seed: int) -> None:
    day = build_day(START, matches=4, seed=seed)
    expected = day.expected()
    assert expected.disallowed
    assert expected.reattributed
    assert expected.named_later
    assert (len(expected.played), len(expected.postponed)) == (4, 1)
    assert any(match.record.shoot_out for match in day.matches)
    teams = [side.id for match in day.matches for side in match.record.sides]
    assert len(teams) == len(set(teams))


@pytest.mark.parametrize("seed", range(5))
def test_a_goal_that_is_disallowed_stands_so_long_that_a_demo_shows_it(seed: int) -> None:
    day = build_day(START, speed=MATCH_SPEED, matches=4, seed=seed)
    [(match, goal)] = [(match, goal) for match in day.matches for goal in match.goals if goal.disallowed is not None]
    scored = match.kickoff + timedelta(minutes=goal.reports[0].wall / day.speed)
    for seconds in range(8):
        [raw] = day.by_ids([match.fixture_id], scored + timedelta(seconds=seconds, milliseconds=10))
        listed = parse_fixture(raw).events or ()
        assert goal.elapsed in [one.elapsed for one in listed], f"{seconds} s after it"
    [raw] = day.by_ids([match.fixture_id], scored + timedelta(seconds=9))
    assert goal.elapsed not in [one.elapsed for one in parse_fixture(raw).events or ()]


def test_a_large_day_has_the_goals_that_are_asked_for() -> None:
    day = build_day(START, matches=40, goals=120)
    assert len(day.expected().played) == 40
    assert len(day.expected().goals) == 120


def test_a_match_goes_through_all_its_states() -> None:
    match = with_shoot_out()
    seen = [FixtureStatus(match.at(minute / 2)["fixture"]["status"]["short"]) for minute in range(-4, 2 * 180)]
    order = list(dict.fromkeys(seen))
    assert [str(one) for one in order] == ["NS", "1H", "HT", "2H", "BT", "ET", "P", "PEN"]


def test_stoppage_time_is_told_beside_the_last_minute() -> None:
    first_half = with_shoot_out().timeline.periods[0]
    assert (first_half.moment(44.5).elapsed, first_half.moment(44.5).extra) == (45, None)
    assert (first_half.moment(46.5).elapsed, first_half.moment(46.5).extra) == (45, 2)


def test_in_the_end_every_match_has_the_score_of_its_record() -> None:
    for match in build_day(START, matches=40).matches:
        if match.postponed_at is None:
            fixture = parse_fixture(match.at(400.0))
            assert (fixture.home_goals, fixture.away_goals) == (match.record.extra_time or match.record.full_time)
            assert fixture.penalties == match.record.shoot_out
            assert fixture.events is not None
            assert len(fixture.events) == (fixture.home_goals or 0) + (fixture.away_goals or 0)


def test_a_postponed_match_says_so_before_its_kickoff_and_has_another_date() -> None:
    day = build_day(START, matches=1)
    match = day.matches[-1]
    assert match.at(-15.0)["fixture"]["status"]["short"] == "NS"
    after = parse_fixture(match.at(-5.0))
    assert (after.status, after.kickoff) == (FixtureStatus.POSTPONED, START + timedelta(days=1))
    assert parse_fixture(match.at(300.0)).status is FixtureStatus.POSTPONED


def test_speed_divides_the_day() -> None:
    slow, fast = build_day(START), build_day(START, speed=60.0)
    assert (fast.ends_at - START) == (slow.ends_at - START) / 60


@pytest.mark.parametrize("seed", range(4))
def test_polls_over_the_day_find_the_truth_of_the_script(seed: int) -> None:
    day = build_day(START, matches=8, seed=seed)
    found = {match.fixture_id: polled(day, match) for match in day.matches}
    expected = day.expected()

    standing = {
        (number, goal.team_id, goal.player_name, goal.elapsed, goal.extra, str(goal.detail))
        for number, goals in found.items()
        for goal in goals
        if goal.removed_at is None
    }
    assert standing == {
        (one.fixture_id, one.team_id, one.player_name, one.elapsed, one.extra, one.detail) for one in expected.goals
    }
    removed = [goal for goals in found.values() for goal in goals if goal.removed_at is not None]
    assert len(removed) == len(expected.disallowed)


def polled(day: ScriptedDay, match: ScriptedMatch) -> list[StoredGoal]:
    """All goals of a match after polls every half minute, kept as the storage would keep them."""
    goals: dict[str, StoredGoal] = {}
    sequences: dict[tuple[int, int], int] = {}
    for poll in range(-2, 2 * 190):
        now = match.kickoff + timedelta(seconds=30 * poll)
        observed = parse_fixture(match.at(day.minute(match, now)))
        result = compare(list(goals.values()), sequences, observed, f"run-{poll}", now, POLICY)
        for new in result.created:
            one = new.observation
            sequences[one.team_id, one.player_id or 0] = new.sequence
            goals[new.event_id] = StoredGoal(
                new.event_id,
                one.team_id,
                one.player_id or 0,
                one.player_name or "",
                one.detail,
                one.elapsed,
                one.extra,
                new.score,
                frozenset({f"run-{poll}"}),
                frozenset(),
            )
        for seen in result.seen:
            one, known = seen.observation, goals[seen.event_id]
            goals[seen.event_id] = StoredGoal(
                seen.event_id,
                one.team_id,
                one.player_id or 0,
                one.player_name or "",
                one.detail,
                one.elapsed,
                one.extra,
                seen.score,
                known.monitor_runs | {f"run-{poll}"},
                frozenset(),
            )
        for miss in result.missed:
            known = goals[miss.event_id]
            goals[miss.event_id] = StoredGoal(
                known.event_id,
                known.team_id,
                known.player_id,
                known.player_name,
                known.detail,
                known.elapsed,
                known.extra,
                known.score,
                known.monitor_runs,
                known.drop_runs | {f"run-{poll}"},
                removed_at=now if miss.removes else None,
            )
    return list(goals.values())
