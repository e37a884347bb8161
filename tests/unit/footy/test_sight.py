"""What is left of a match under cover, and what it was some minutes ago."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import GoalDetail
from pressbox.footy.domain.sight import FixtureState, as_of, cover, goal_as_of
from pressbox.footy.domain.views import FixtureView, GoalState, GoalView, NoteView, SideView

NOW = datetime(2026, 11, 17, 16, 0, tzinfo=UTC)
UNTIL = NOW - timedelta(minutes=10)
LATER, EARLIER = NOW - timedelta(minutes=2), NOW - timedelta(minutes=20)
GOAL = GoalView(
    event_id="9_40_306_Goal_1",
    fixture_id=9,
    team_id=40,
    team_name="Liverpool",
    at_home=True,
    player_id=306,
    player_name="Mohamed Salah",
    assist_name="",
    detail=GoalDetail.NORMAL,
    elapsed=23,
    extra=None,
    home_score=1,
    away_score=0,
    state=GoalState.SEARCHING,
    first_seen=EARLIER,
    last_seen=NOW,
    last_activity=NOW,
    confirmed_at=EARLIER,
    completed_at=None,
    completion_reason="",
    removed_at=None,
    clips=(),
)
MATCH = FixtureView(
    fixture_id=9,
    stage=Stage.ACTIVE,
    status=FixtureStatus.PENALTIES,
    kickoff=NOW - timedelta(hours=2),
    league_id=39,
    league_name="Premier League",
    country="England",
    round="",
    venue="",
    home=SideView(40, "Liverpool", 1, 4),
    away=SideView(42, "Arsenal", 1, 3),
    elapsed=120,
    extra=None,
    winner_id=40,
    trouble="",
    trouble_since=None,
    last_monitor=NOW,
    completed_at=None,
    goals=(GOAL,),
)


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (FixtureStatus.FIRST_HALF, FixtureStatus.LIVE),
        (FixtureStatus.EXTRA_TIME, FixtureStatus.LIVE),
        (FixtureStatus.PENALTIES, FixtureStatus.LIVE),
        (FixtureStatus.AFTER_PENALTIES, FixtureStatus.FULL_TIME),
        (FixtureStatus.WALK_OVER, FixtureStatus.FULL_TIME),
        (FixtureStatus.INTERRUPTED, FixtureStatus.INTERRUPTED),
    ],
)
def test_a_covered_match_is_on_or_over_and_tells_nothing_else(status: FixtureStatus, shown: FixtureStatus) -> None:
    covered = cover(replace(MATCH, status=status))
    assert (covered.status, covered.covered, covered.goals) == (shown, True, ())
    assert (covered.elapsed, covered.winner_id) == (None, None)
    assert {side.goals for side in (covered.home, covered.away)} == {None}
    assert {side.penalties for side in (covered.home, covered.away)} == {None}


def test_a_match_to_come_has_nothing_to_cover() -> None:
    assert not cover(replace(MATCH, status=FixtureStatus.NOT_STARTED, goals=())).covered


def test_a_match_is_shown_as_the_answer_of_then_said() -> None:
    state = FixtureState(EARLIER, FixtureStatus.FIRST_HALF, 30, None, 1, 0, None, None, None)
    shown = as_of(MATCH, state, (GOAL,), UNTIL)
    assert (shown.status, shown.elapsed, shown.home.goals, shown.away.goals) == (FixtureStatus.FIRST_HALF, 30, 1, 0)
    assert (shown.winner_id, shown.home.penalties, shown.as_of) == (None, None, UNTIL)


def test_a_match_of_which_nothing_was_known_had_not_begun() -> None:
    shown = as_of(MATCH, None, (), UNTIL)
    assert (shown.status, shown.home.goals, shown.goals) == (FixtureStatus.NOT_STARTED, None, ())


def note(what: str, before: str) -> NoteView:
    return NoteView(LATER, "monitor-1", what, before, "")


def test_a_goal_is_there_from_the_moment_it_was_seen_until_it_is_taken_back() -> None:
    assert goal_as_of(replace(GOAL, first_seen=LATER), None, UNTIL) is None
    assert goal_as_of(replace(GOAL, removed_at=EARLIER), None, UNTIL) is None
    still = goal_as_of(replace(GOAL, removed_at=LATER, state=GoalState.REMOVED), None, UNTIL)
    assert still is not None
    assert (still.state, still.removed_at) == (GoalState.SEARCHING, None)


def test_what_became_of_it_since_then_is_not_known() -> None:
    ended = replace(GOAL, confirmed_at=LATER, completed_at=LATER, completion_reason="x", state=GoalState.COMPLETE)
    shown = goal_as_of(ended, None, UNTIL)
    assert shown is not None
    assert (shown.state, shown.confirmed_at, shown.completion_reason) == (GoalState.UNCONFIRMED, None, "")


def test_a_correction_since_then_is_not_known() -> None:
    before = "Bukayo Saka, Liverpool, 22+1', Penalty, 2–1"
    shown = goal_as_of(GOAL, note("reattributed", before), UNTIL)
    assert shown is not None
    assert (shown.player_name, shown.minute, shown.detail) == ("Bukayo Saka", "22+1", GoalDetail.PENALTY)
    assert (shown.home_score, shown.away_score) == (2, 1)
    unnamed = goal_as_of(GOAL, note("named", "unknown scorer, Liverpool, 23', Normal Goal, 1–0"), UNTIL)
    assert unnamed is not None
    assert unnamed.player_name == ""


def test_a_goal_that_came_back_since_then_was_taken_back() -> None:
    assert goal_as_of(GOAL, note("restored", "Mohamed Salah, Liverpool, 23', Normal Goal, 1–0"), UNTIL) is None
