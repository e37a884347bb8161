"""What is read from an answer of API-Football: recorded ones, and what is known to go wrong with them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.footy.domain.evidence import drop_excess, merge_repeats
from pressbox.footy.domain.fixture_parser import MalformedAnswerError, parse_fixture
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import GoalDetail
from tests.fakes import football_answers
from tests.fakes.football_answers import NOT_STARTED, SHOOT_OUTS, shoot_out

HOME, AWAY = 530, 505


def recorded(name: str) -> list[dict[str, Any]]:
    response: list[dict[str, Any]] = football_answers.answer(name)["response"]
    return response


def goal(minute: int, player: int | None = 9, team: int | None = HOME, **changes: Any) -> dict[str, Any]:
    return {
        "time": {"elapsed": minute, "extra": changes.pop("extra", None)},
        "team": {"id": team, "name": "Side", "logo": None},
        "player": {"id": player, "name": changes.pop("name", f"P. {player}" if player else None)},
        "assist": {"id": None, "name": None},
        "type": "Goal",
        "detail": "Normal Goal",
        "comments": None,
        **changes,
    }


def answer(home: int | None, away: int | None, *events: Any, status: str = "2H") -> dict[str, Any]:
    raw = shoot_out()
    raw["fixture"]["status"] = {"long": "", "short": status, "elapsed": 80}
    raw["goals"] = {"home": home, "away": away}
    raw["events"] = list(events)
    return raw


def minutes(raw: dict[str, Any]) -> list[int]:
    """The minutes of what counts when nothing is known yet."""
    fixture = parse_fixture(raw)
    counted = drop_excess(fixture, merge_repeats(fixture), {}, None)
    return [one.minute for one in counted]


@pytest.mark.parametrize("raw", [recorded(SHOOT_OUTS)[0], shoot_out()], ids=["recorded", "ours"])
def test_a_match_with_a_shoot_out_has_the_goals_of_its_score(raw: dict[str, Any]) -> None:
    fixture = parse_fixture(raw)

    assert (fixture.status, fixture.home.name, fixture.away.name) == (FixtureStatus.AFTER_PENALTIES, *_names())
    assert (fixture.home_goals, fixture.away_goals, fixture.penalties, fixture.winner_id) == (2, 1, (3, 2), HOME)
    assert fixture.kickoff == datetime(2024, 3, 13, 20, 0, tzinfo=UTC)
    assert fixture.events is not None
    assert [one.player_name for one in fixture.events] == ["F. Dimarco", "A. Griezmann", "M. Depay"]
    assert fixture.events[0].assist_name == "N. Barella"
    assert fixture.problems == ()


def _names() -> tuple[str, str]:
    return "Atletico Madrid", "Inter"


def test_every_recorded_match_agrees_with_its_score() -> None:
    for raw in recorded(SHOOT_OUTS):
        fixture = parse_fixture(raw)
        assert fixture.events is not None
        assert len(fixture.events) == (fixture.home_goals or 0) + (fixture.away_goals or 0)


def test_recorded_lists_by_date_say_nothing_of_goals() -> None:
    fixtures = [parse_fixture(raw) for raw in recorded(NOT_STARTED)]

    assert len(fixtures) >= 6
    assert all(one.events is None and one.home_goals is None for one in fixtures)
    assert {one.league.name for one in fixtures} == {"Bundesliga"}


def test_only_the_details_that_count_are_goals() -> None:
    raw = answer(
        2,
        1,
        goal(10),
        goal(20, detail="Penalty"),
        goal(30, team=AWAY, detail="Own Goal"),
        goal(40, detail="Missed Penalty"),
        {**goal(41), "type": "Card", "detail": "Yellow Card"},
    )
    events = parse_fixture(raw).events
    assert events is not None
    assert [one.detail for one in events] == [GoalDetail.NORMAL, GoalDetail.PENALTY, GoalDetail.OWN]
    assert events[2].team_id == AWAY


@pytest.mark.parametrize("name", [None, "", "  ", "Unknown", "TBD", "unknown"])
def test_a_scorer_without_a_name_is_unknown(name: str | None) -> None:
    events = parse_fixture(answer(1, 0, goal(10, 77, name=name))).events
    assert events is not None
    assert (events[0].player_id, events[0].player_name) == (None, None)


def test_a_scorer_has_one_goal_in_a_minute_unless_the_score_says_more() -> None:
    assert minutes(answer(1, 0, goal(10), goal(10))) == [10]
    assert minutes(answer(None, None, goal(10), goal(10))) == [10]
    assert minutes(answer(2, 0, goal(10), goal(10), goal(10))) == [10, 10]
    assert minutes(answer(2, 0, goal(10), goal(10), goal(50))) == [10, 50]


def test_as_many_entries_count_as_the_score_has_goals() -> None:
    assert minutes(answer(2, 0, goal(10), goal(10, 8), goal(50))) == [10, 50]
    assert minutes(answer(4, 0, goal(10))) == [10]
    assert minutes(answer(None, None, goal(10), goal(10, 8), goal(50))) == [10, 10, 50]


def test_a_goal_that_is_listed_for_the_wrong_side_counts() -> None:
    assert minutes(answer(0, 1, goal(10))) == [10]


def test_an_awarded_score_says_nothing_of_the_goals() -> None:
    assert minutes(answer(0, 3, goal(10), goal(20), goal(30, team=AWAY), status="AWD")) == [10, 20, 30]


def test_a_late_penalty_counts_if_the_score_needs_it_and_is_of_the_shoot_out_otherwise() -> None:
    late = goal(120, detail="Penalty", extra=1)
    assert minutes(answer(1, 0, goal(10), late, status="PEN")) == [10]
    assert minutes(answer(2, 0, goal(10), late, status="PEN")) == [10, 121]
    assert minutes(answer(0, 0, late, status="ET")) == []
    kicks = [goal(90, player, detail="Penalty", extra=player) for player in range(1, 6)]
    assert minutes(answer(1, 0, goal(10), *kicks, status="P")) == [10]


@pytest.mark.parametrize("wording", ["Goal Disallowed - offside", "Goal cancelled", "Goal Disallowed - handball"])
def test_a_goal_that_the_video_referee_took_away_counts_only_if_the_score_still_has_it(wording: str) -> None:
    decision = {**goal(12), "type": "Var", "detail": wording}
    assert minutes(answer(1, 0, goal(10), goal(60), decision)) == [60]
    assert minutes(answer(2, 0, goal(10), goal(60), decision)) == [10, 60]
    assert minutes(answer(1, 0, goal(10), {**decision, "detail": "Goal confirmed"})) == [10]
    assert minutes(answer(1, 0, goal(4), goal(10), {**goal(17), "type": "Var", "detail": wording})) == [4]


def test_a_bad_event_is_named_and_the_rest_counts() -> None:
    fixture = parse_fixture(
        answer(
            3,
            0,
            "nonsense",
            goal(10),
            goal(20, team=None),
            {**goal(30), "time": None},
            goal(40, detail="Golden Goal"),
            goal(50, team=4711),
            goal(60),
        )
    )
    assert fixture.events is not None
    assert [one.minute for one in fixture.events] == [10, 60]
    assert len(fixture.problems) == 5
    assert "Event 5" in fixture.problems[3]


def test_events_that_are_no_list_say_nothing_of_goals() -> None:
    raw = answer(1, 0)
    raw["events"] = {"0": {}}
    fixture = parse_fixture(raw)
    assert fixture.events is None
    assert fixture.problems


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw["fixture"].pop("id"),
        lambda raw: raw["fixture"].update(id="1149519"),
        lambda raw: raw.pop("teams"),
        lambda raw: raw["teams"]["home"].update(id=None),
        lambda raw: raw["fixture"]["status"].update(short="??"),
        lambda raw: raw["fixture"].update(timestamp=None, date="tomorrow"),
    ],
)
def test_a_fixture_without_substance_is_an_error_and_not_an_empty_one(spoil: Any) -> None:
    raw = shoot_out()
    spoil(raw)
    with pytest.raises(MalformedAnswerError):
        parse_fixture(raw)


def test_a_date_without_a_timestamp_is_read_in_utc() -> None:
    raw = shoot_out()
    raw["fixture"].update(timestamp=None, date="2024-03-13T21:00:00+01:00")
    assert parse_fixture(raw).kickoff == datetime(2024, 3, 13, 20, 0, tzinfo=UTC)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 200) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "elapsed"]), inner),
    max_leaves=6,
)


@settings(max_examples=100)
@given(st.sampled_from(["fixture", "league", "teams", "goals", "score", "events"]), JSON)
def test_nonsense_anywhere_is_read_or_refused_but_never_a_crash(part: str, nonsense: Any) -> None:
    raw = answer(1, 0, goal(10), status="2H")
    raw[part] = nonsense
    if part == "events" and isinstance(nonsense, list):
        raw["events"] = [{**goal(10), "time": nonsense, "player": nonsense}, *nonsense]
    try:
        parse_fixture(raw)
    except MalformedAnswerError:
        assert part in ("fixture", "teams")
