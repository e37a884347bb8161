"""Cards, substitutions, missed penalties and the score at half-time, over every recorded answer."""

import copy
import json
from typing import Any

import pytest

from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.moments import MatchRecord, Moment, MomentKind, read_record
from tests.fakes.football_answers import SHOOT_OUTS, answer
from tests.shared_data import shared

FOLDER = shared("providers/api_football")
RECORDINGS = sorted(FOLDER.glob("*.json")) if FOLDER else []


def event(kind: str, detail: str, minute: int, **values: Any) -> dict[str, Any]:
    plain = {
        "time": {"elapsed": minute, "extra": None},
        "team": {"id": 40, "name": "Liverpool"},
        "player": {"id": 1, "name": "C. Gakpo"},
        "assist": {"id": None, "name": None},
        "type": kind,
        "detail": detail,
        "comments": None,
    }
    return plain | values


def read(*events: object, status: FixtureStatus = FixtureStatus.SECOND_HALF, **raw: Any) -> MatchRecord:
    return read_record({"events": list(events), **raw}, status)


def test_a_recorded_match_is_told_in_its_order() -> None:
    raw = answer(SHOOT_OUTS)["response"][0]
    record = read_record(raw, FixtureStatus.AFTER_PENALTIES)
    score = raw["score"]["halftime"]
    assert record.half_time == (score["home"], score["away"])
    assert [moment.elapsed for moment in record.moments] == sorted(moment.elapsed for moment in record.moments)
    assert MomentKind.MISSED_PENALTY not in {moment.kind for moment in record.moments}, "kicks of a shoot-out"


def test_every_recording_is_read_whole_and_broken() -> None:
    found: set[MomentKind] = set()
    for path in RECORDINGS:
        body = json.loads(path.read_text())
        response = body.get("response") if isinstance(body, dict) else body
        answers = [one for one in response if isinstance(one, dict)] if isinstance(response, list) else []
        # Some recordings are lists of events, without the match around them.
        matches = answers if answers and "events" in answers[0] else [{"events": answers}]
        for raw in matches:
            found |= {moment.kind for moment in read_record(raw, FixtureStatus.FULL_TIME).moments}
            broken = copy.deepcopy(raw)
            for entry in broken.get("events") or []:
                entry.pop("team", None)
                entry["player"], entry["time"] = None, "90"
            assert read_record(broken, FixtureStatus.FULL_TIME).moments == ()
    assert {MomentKind.YELLOW_CARD, MomentKind.RED_CARD, MomentKind.SUBSTITUTION} <= found or not RECORDINGS


def test_who_leaves_and_who_comes_on() -> None:
    change = event("subst", "Substitution 1", 71, assist={"id": 2, "name": "D. Jota"})
    assert read(change, change).moments == (
        Moment(MomentKind.SUBSTITUTION, 40, "Liverpool", "C. Gakpo", "D. Jota", 71, None),
    )


@pytest.mark.parametrize(
    ("kind", "detail", "comment", "expected"),
    [
        ("Card", "Yellow Card", "Foul", MomentKind.YELLOW_CARD),
        ("Card", "Second Yellow card", None, MomentKind.SECOND_YELLOW_CARD),
        ("Card", "Red Card", None, MomentKind.RED_CARD),
        ("Goal", "Missed Penalty", None, MomentKind.MISSED_PENALTY),
        ("Goal", "Missed Penalty", "Penalty Shootout", None),
        ("Goal", "Normal Goal", None, None),
        ("Var", "Card upgrade", None, None),
        ("Card", "Green Card", None, None),
    ],
)
def test_kinds_are_told_apart(kind: str, detail: str, comment: str | None, expected: MomentKind | None) -> None:
    moments = read(event(kind, detail, 30, comments=comment)).moments
    assert [moment.kind for moment in moments] == ([expected] if expected else [])


def test_the_score_at_half_time_waits_for_it() -> None:
    score = {"halftime": {"home": 1, "away": 0}}
    assert read(score=score, status=FixtureStatus.FIRST_HALF).half_time is None
    assert read(score=score, status=FixtureStatus.HALF_TIME).half_time == (1, 0)
    assert read(score={"halftime": {"home": None, "away": None}}).half_time is None
    assert read_record({}, FixtureStatus.FULL_TIME) == MatchRecord()
    assert read_record({"events": "none", "score": []}, FixtureStatus.FULL_TIME) == MatchRecord()
