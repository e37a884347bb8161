"""Real matches: the World Cups of 2014, 2018 and 2022, as recorded by openfootball (CC0)."""

import json
import random
from dataclasses import dataclass
from functools import cache
from importlib import resources

# The share of given names that real answers shorten to a letter.
SHORTENED = 0.93
FIRST_TEAM_ID = 10_001
FIRST_PLAYER_ID = 500_001
DETAILS = {"": "Normal Goal", "penalty": "Penalty", "own": "Own Goal"}


@dataclass(frozen=True)
class Side:
    id: int
    name: str


@dataclass(frozen=True)
class Player:
    id: int
    name: str


@dataclass(frozen=True)
class RecordedGoal:
    elapsed: int
    extra: int | None
    side: int
    scorer: Player
    detail: str


@dataclass(frozen=True)
class RecordedMatch:
    """`full_time` is after 90 minutes, `extra_time` after 120, `shoot_out` the penalties; None: not played."""

    year: int
    round: str
    ground: str
    sides: tuple[Side, Side]
    full_time: tuple[int, int]
    extra_time: tuple[int, int] | None
    shoot_out: tuple[int, int] | None
    goals: tuple[RecordedGoal, ...]


@cache
def load_matches() -> tuple[RecordedMatch, ...]:
    text = (resources.files("pressbox.demo") / "match_day" / "world_cups.json").read_text(encoding="utf-8")
    matches = json.loads(text)
    teams = sorted({match[side] for match in matches for side in ("home", "away")})
    players = sorted({goal[3] for match in matches for goal in match["goals"]})
    team_of = {name: Side(FIRST_TEAM_ID + place, name) for place, name in enumerate(teams)}
    player_of = {name: Player(FIRST_PLAYER_ID + place, _shorten_name(name)) for place, name in enumerate(players)}
    return tuple(
        RecordedMatch(
            year=match["year"],
            round=match["round"],
            ground=match["ground"],
            sides=(team_of[match["home"]], team_of[match["away"]]),
            full_time=tuple(match["score"]["ft"]),
            extra_time=_to_pair(match["score"].get("et")),
            shoot_out=_to_pair(match["score"].get("p")),
            goals=tuple(
                RecordedGoal(minute, extra or None, side, player_of[scorer], DETAILS[kind])
                for minute, extra, side, scorer, kind in match["goals"]
            ),
        )
        for match in matches
    )


@cache
def find_scorers(team_id: int) -> tuple[Player, ...]:
    """Everybody who scored for a team, without own goals; used for scorers that are corrected."""
    found = {
        goal.scorer.id: goal.scorer
        for match in load_matches()
        for goal in match.goals
        if match.sides[goal.side].id == team_id and goal.detail != DETAILS["own"]
    }
    return tuple(found[key] for key in sorted(found))


def _to_pair(score: list[int] | None) -> tuple[int, int] | None:
    return None if score is None else (score[0], score[1])


def _shorten_name(name: str) -> str:
    """The API mostly lists Enner Valencia as "E. Valencia"; the same player is always listed in the same way."""
    given, _, family = name.partition(" ")
    chance = random.Random(name).random()  # noqa: S311 - a script, not a secret
    return f"{given[0]}. {family}" if family and chance < SHORTENED else name
