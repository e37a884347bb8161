"""Real matches, polled every half a minute, with every fault of the API that was seen: one goal is one goal."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.goals import PlayedMinute
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy
from tests.fakes.goal_ledger import Ledger
from tests.fakes.recorded_matches import FAULTS, MATCHES, Match, Raw, play

START = datetime(2026, 10, 3, 14, 0, tzinfo=UTC)
POLICY = FootyPolicy()
# What the list says then does not tell which of two entries is the goal; how many there are, the score tells.
UNKNOWABLE = ("second row with the full name", "second row with another player", "score falls, row stays")


def follow(match: Match, dead: tuple[float, float] = (0.0, 0.0)) -> Ledger:
    """Poll the match to its end; at every poll what is confirmed is what stands. Nobody polls while we are dead."""
    ledger, looked = Ledger(), None
    for number, moment in enumerate(match.poll_moments()):
        if dead[0] <= moment < dead[1]:
            continue
        raw, run_id = match.answer(moment), f"run-{number}"
        now = START + timedelta(minutes=moment)
        known = list(ledger.goals.values())
        result = compare(known, ledger.sequences, parse_fixture(raw), run_id, now, POLICY, looked)
        ledger.apply(result, run_id, now)
        ledger.start_searches()
        looked = PlayedMinute(raw["fixture"]["status"]["elapsed"])
        assert len(ledger.searches) <= match.count_scored(moment), f"a search for a goal that never was, at {moment}"
        confirmed = [one for one in ledger.present() if ledger.goals[one].monitor_complete]
        # What was taken away while nobody looked stands for the next two polls.
        standing = match.count_standing(moment if moment >= dead[1] + 1.5 else dead[0])
        assert len(confirmed) <= max(standing, match.count_standing(moment)), f"a goal is confirmed twice, at {moment}"
    return ledger


def check(match: Match, ledger: Ledger) -> None:
    """At the end each goal that stands is here once, was searched for once, and has its scorer."""
    present = [ledger.goals[name] for name in ledger.present()]
    assert sorted(goal.player_id for goal in present) == match.list_scorers()
    assert all(goal.monitor_complete for goal in present)
    assert len(ledger.searches) == len(set(ledger.searches))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("raw", MATCHES, ids=lambda raw: str(raw["fixture"]["id"]))
def test_one_goal_of_a_recorded_match_is_one_goal_whatever_goes_wrong(raw: Raw, fault: str) -> None:
    for number in range(len(play(raw).goals)):
        match = play(raw)
        FAULTS[fault](match, number)
        check(match, follow(match))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("raw", MATCHES, ids=lambda raw: str(raw["fixture"]["id"]))
def test_what_was_missed_while_nobody_polled_is_made_up_for(raw: Raw, fault: str) -> None:
    last = len(play(raw).goals) - 1
    for number, (before, after) in ((0, (1.5, 10.0)), (last, (1.5, 10.0)), (0, (-1.0, 12.0)), (last, (-1.0, 12.0))):
        match = play(raw)
        FAULTS[fault](match, number)
        begins = match.goals[number].begins
        ledger = follow(match, (begins + before, min(begins + after, match.ends)))
        if fault in UNKNOWABLE:
            assert len(ledger.present()) == len(match.list_scorers())
        else:
            check(match, ledger)


@pytest.mark.parametrize("raw", MATCHES, ids=lambda raw: str(raw["fixture"]["id"]))
def test_a_goal_that_was_disallowed_while_nobody_polled_leaves_a_trace(raw: Raw) -> None:
    for number in range(len(play(raw).goals)):
        match = play(raw)
        FAULTS["disallowed by a decision"](match, number)
        goal = match.goals[number]
        ledger = follow(match, (goal.begins - 1, goal.begins + 5))
        [gone] = [one for one in ledger.goals.values() if one.removed_at]
        assert (gone.team_id, gone.player_id) == (goal.row["team"]["id"], goal.row["player"]["id"] or 0)
        assert (gone.confirmed, gone.event_id in ledger.searches) == (True, False)


@pytest.mark.parametrize("one", [fault for fault in FAULTS if fault != "none"])
def test_two_faults_at_once_make_no_goal_of_none(one: str) -> None:
    for other in list(FAULTS)[list(FAULTS).index(one) + 1 :]:
        match = play(MATCHES[0])
        FAULTS[one](match, 0)
        FAULTS[other](match, len(match.goals) - 1)
        check(match, follow(match))


@settings(max_examples=40, derandomize=True)
@given(st.sampled_from(MATCHES), st.tuples(st.sampled_from(sorted(FAULTS)), st.integers(0, 20)), st.randoms())
def test_the_order_of_a_list_does_not_matter(raw: Raw, fault: tuple[str, int], dice: Any) -> None:
    match = play(raw)
    name, number = fault
    FAULTS[name](match, number % len(match.goals))
    match.order = dice.shuffle
    check(match, follow(match))
