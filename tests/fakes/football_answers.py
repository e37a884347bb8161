"""Answers in the shape of API-Football: recorded ones where they are at hand, and ours, which hold the same facts.

Who played, scored and won is public (Champions League, 12 and 13 March 2024; Bundesliga, end of March 2024); every
other word of ours is made up.
"""

import copy
import json
from collections.abc import Sequence
from typing import Any

from tests.shared_data import shared

Answer = dict[str, Any]

SHOOT_OUTS = "fixtures-cl-penalties.json"
NOT_STARTED = "fixtures-bundes-ns-pst.json"
MANCHESTER = "team-manchester.json"
NO_PARAMETER = "injuries-error.json"
WRONG_PARAMETER = "team-leipzig-error.json"


def answer(name: str) -> Answer:
    folder = shared("providers/api_football")
    return json.loads((folder / name).read_bytes()) if folder else copy.deepcopy(_OURS[name])


def shoot_out() -> Answer:
    """A match that a test may change."""
    return copy.deepcopy(_shoot_out())


def _envelope(response: Sequence[Answer] = (), errors: Any = ()) -> Answer:
    return {
        "get": "fixtures",
        "parameters": {},
        "errors": errors or [],
        "results": len(response),
        "paging": {"current": 1, "total": 1},
        "response": list(response),
    }


def _fixture(
    number: int, day: str, timestamp: int, status: str, league: tuple[int, str], teams: Sequence[tuple[int, str]]
) -> Answer:
    nothing = {"home": None, "away": None}
    home, away = ({"id": team, "name": name, "logo": "", "winner": None} for team, name in teams)
    return {
        "fixture": {
            "id": number,
            "referee": None,
            "timezone": "UTC",
            "date": day,
            "timestamp": timestamp,
            "periods": {"first": None, "second": None},
            "venue": {"id": None, "name": None, "city": None},
            "status": {"long": "", "short": status, "elapsed": None},
        },
        "league": {
            "id": league[0],
            "name": league[1],
            "country": "World",
            "logo": "",
            "flag": None,
            "season": 2023,
            "round": "",
        },
        "teams": {"home": home, "away": away},
        "goals": dict(nothing),
        "score": {part: dict(nothing) for part in ("halftime", "fulltime", "extratime", "penalty")},
    }


def _event(
    elapsed: int, team: tuple[int, str], player: tuple[int, str], assist: str | None = None, **changes: Any
) -> Answer:
    return {
        "time": {"elapsed": elapsed, "extra": changes.pop("extra", None)},
        "team": {"id": team[0], "name": team[1], "logo": ""},
        "player": {"id": player[0], "name": player[1]},
        "assist": {"id": None, "name": assist},
        "type": "Goal",
        "detail": "Normal Goal",
        "comments": None,
        **changes,
    }


def _kick(number: int, team: tuple[int, str], player: int, *, scored: bool) -> Answer:
    """A penalty of the shoot-out; one that was missed has the type of a goal, too."""
    detail = "Penalty" if scored else "Missed Penalty"
    return _event(120, team, (player, f"P. {player}"), extra=number, detail=detail, comments="Penalty Shootout")


def _over(fixture: Answer, goals: tuple[int, int], penalties: tuple[int, int], events: Sequence[Answer]) -> Answer:
    fixture["fixture"]["status"] = {"long": "Match Finished", "short": "PEN", "elapsed": 120}
    fixture["goals"] = dict(zip(("home", "away"), goals, strict=True))
    fixture["score"]["penalty"] = dict(zip(("home", "away"), penalties, strict=True))
    won = penalties[0] > penalties[1]
    fixture["teams"]["home"]["winner"], fixture["teams"]["away"]["winner"] = won, not won
    return {**fixture, "events": list(events), "lineups": [], "statistics": [], "players": []}


_CHAMPIONS, _BUNDESLIGA = (2, "UEFA Champions League"), (78, "Bundesliga")
_ATLETICO, _INTER, _ARSENAL, _PORTO = (530, "Atletico Madrid"), (505, "Inter"), (42, "Arsenal"), (212, "FC Porto")


def _shoot_out() -> Answer:
    match = _fixture(1149519, "2024-03-13T20:00:00+00:00", 1710360000, "PEN", _CHAMPIONS, (_ATLETICO, _INTER))
    kicks = ((_ATLETICO, True), (_INTER, True), (_ATLETICO, False), (_INTER, False), (_ATLETICO, True), (_INTER, False))
    more = ((_ATLETICO, True), (_INTER, True), (_INTER, False))
    events = (
        _event(33, _INTER, (31009, "F. Dimarco"), "N. Barella"),
        _event(35, _ATLETICO, (56, "A. Griezmann")),
        _event(87, _ATLETICO, (667, "M. Depay"), "Koke"),
        *(_kick(number, team, number, scored=scored) for number, (team, scored) in enumerate(kicks + more, start=1)),
    )
    return _over(match, (2, 1), (3, 2), events)


def _another_shoot_out() -> Answer:
    match = _fixture(1149523, "2024-03-12T20:00:00+00:00", 1710273600, "PEN", _CHAMPIONS, (_ARSENAL, _PORTO))
    kicks = ((_ARSENAL, True), (_PORTO, True), (_ARSENAL, True), (_PORTO, False), (_ARSENAL, True), (_PORTO, True))
    events = (
        _event(41, _ARSENAL, (1946, "L. Trossard"), "M. Ødegaard"),
        *(_kick(number, team, number, scored=scored) for number, (team, scored) in enumerate(kicks, start=1)),
        _kick(7, _ARSENAL, 7, scored=True),
        _kick(8, _PORTO, 8, scored=False),
    )
    return _over(match, (1, 0), (4, 2), events)


def _not_started() -> Sequence[Answer]:
    clubs = ((157, "Bayern Munich"), (165, "Borussia Dortmund"), (173, "RB Leipzig"), (164, "FSV Mainz 05"))
    return [
        _fixture(1049115 + number, "2024-03-30T17:30:00+00:00", 1711819800, "NS", _BUNDESLIGA, pair)
        for number, pair in enumerate((one, other) for one in clubs for other in clubs if one < other)
    ]


def _manchester() -> list[Answer]:
    names = {33: "Manchester United", 50: "Manchester City", 1854: "Manchester City W", 7198: "Manchester United U21"}
    others = {7754: "United of Manchester", 8791: "Godmanchester Rovers"}
    return [
        {"team": {"id": number, "name": name, "country": "England", "national": False}, "venue": {}}
        for number, name in (names | others).items()
    ]


_OURS = {
    SHOOT_OUTS: _envelope([_shoot_out(), _another_shoot_out()]),
    NOT_STARTED: _envelope(_not_started()),
    NO_PARAMETER: _envelope(errors={"required": "At least one parameter is required."}),
    MANCHESTER: _envelope(_manchester()),
    WRONG_PARAMETER: _envelope(errors={"league": "This field cannot be used with that one."}),
}
