"""The sentence that answers why a goal has these clips, or none."""

from datetime import UTC, datetime

import pytest

from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.goals import GoalDetail
from pressbox.footy.domain.trail_summary import Trail, summarise
from pressbox.footy.domain.views import GoalState, GoalView, OutcomeCount, RunView, SearchView

NOW = datetime(2026, 10, 3, 15, 0, tzinfo=UTC)


def seen(state: GoalState, reason: str = "") -> GoalView:
    return GoalView(
        event_id="1_40_306_Goal_1",
        fixture_id=1,
        team_id=40,
        team_name="Liverpool",
        at_home=True,
        player_id=306,
        player_name="Mohamed Salah",
        assist_name="",
        detail=GoalDetail.NORMAL,
        elapsed=45,
        extra=2,
        home_score=1,
        away_score=0,
        state=state,
        first_seen=NOW,
        last_seen=NOW,
        last_activity=NOW,
        confirmed_at=NOW,
        completed_at=None,
        completion_reason=reason,
        removed_at=None,
        clips=(),
    )


def search(attempt: int, source: str, failure: str = "") -> SearchView:
    return SearchView(attempt, source, "q", NOW, 0, failure)


@pytest.mark.parametrize(
    ("outcomes", "searches", "open_downloads", "ended", "told"),
    [
        ({}, [], 0, "", "Confirmed, and the search is about to begin."),
        ({}, [search(1, "folder")], 0, "", "Nothing found in 1 search."),
        (
            {},
            [search(1, "x-browser", "login expired."), search(2, "x-browser", "login expired.")],
            0,
            "",
            "Failed: x-browser 2 times (login expired).",
        ),
        (
            {CandidateOutcome.STORED: 1, CandidateOutcome.FILMED_SCREEN: 1, CandidateOutcome.WRONG_MINUTE: 2},
            [search(1, "folder")],
            0,
            "",
            "4 found: 2 wrong minute, 1 filmed from a screen, 1 stored.",
        ),
        (
            {CandidateOutcome.CHOSEN: 1},
            [search(1, "folder")],
            1,
            "attempts exhausted",
            "1 found: 1 being downloaded. The search ended: attempts exhausted, 1 download still running.",
        ),
    ],
)
def test_the_summary_says_what_became_of_everything(
    outcomes: dict[CandidateOutcome, int], searches: list[SearchView], open_downloads: int, ended: str, told: str
) -> None:
    counted = [OutcomeCount(outcome, count) for outcome, count in outcomes.items()]
    downloads = [RunView(f"download{number}", NOW, None, "") for number in range(open_downloads)]
    assert summarise(Trail(seen(GoalState.SEARCHING), counted, searches, 3, 3, downloads, ended)) == told


def test_a_goal_that_was_completed_by_its_deadline_says_so() -> None:
    goal = seen(GoalState.COMPLETE, "the deadline passed while something was stuck")
    told = summarise(Trail(goal, [], [search(1, "folder")], 3, 3, [], ""))
    assert told == "Nothing found in 1 search. Complete: the deadline passed while something was stuck."


def test_the_minute_of_stoppage_time_is_told_in_two_parts() -> None:
    assert seen(GoalState.SEARCHING).minute == "45+2"
