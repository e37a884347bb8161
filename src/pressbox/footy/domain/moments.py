"""What else happens in a match: cards, substitutions, missed penalties, the score at half-time. Pure.

They are read from the answer that the goals come from, so they cost no request. Nothing depends on them: an entry that
cannot be read is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pressbox.footy.domain.fixture_parser import MISSED_PENALTY, SHOOT_OUT
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.raw_values import object_in, read_count, read_id, read_name, read_text, word_in

MOST_MOMENTS = 100
_BEFORE_HALF_TIME = frozenset({FixtureStatus.NOT_STARTED, FixtureStatus.FIRST_HALF, FixtureStatus.LIVE})


class MomentKind(StrEnum):
    YELLOW_CARD = "yellow card"
    SECOND_YELLOW_CARD = "second yellow card"
    RED_CARD = "red card"
    SUBSTITUTION = "substitution"
    MISSED_PENALTY = "missed penalty"


_CARDS = {kind.value: kind for kind in MomentKind if kind.value.endswith("card")}


@dataclass(frozen=True)
class Moment:
    """`player_name` leaves the pitch in a substitution, and `other_name` comes on."""

    kind: MomentKind
    team_id: int
    team_name: str
    player_name: str
    other_name: str
    elapsed: int
    extra: int | None

    @property
    def minute(self) -> str:
        return f"{self.elapsed}+{self.extra}" if self.extra else str(self.elapsed)


@dataclass(frozen=True)
class MatchRecord:
    """`half_time` is None until the first half is over."""

    half_time: tuple[int, int] | None = None
    moments: tuple[Moment, ...] = ()


def read_record(raw: Mapping[str, Any], status: FixtureStatus) -> MatchRecord:
    return MatchRecord(_read_half_time(raw, status), _read_moments(raw.get("events")))


def _read_half_time(raw: Mapping[str, Any], status: FixtureStatus) -> tuple[int, int] | None:
    """During the first half the API gives the running score here."""
    score = object_in(object_in(raw, "score"), "halftime")
    home, away = read_count(score.get("home")), read_count(score.get("away"))
    return None if status in _BEFORE_HALF_TIME or home is None or away is None else (home, away)


def _read_moments(listed: object) -> tuple[Moment, ...]:
    """In the order of the match; the API repeats entries and does not sort them."""
    events = listed if isinstance(listed, list) else []
    found = [_read_moment(event) for event in events if isinstance(event, Mapping)]
    distinct = dict.fromkeys(moment for moment in found if moment is not None)
    return tuple(sorted(distinct, key=lambda moment: (moment.elapsed, moment.extra or 0)))[:MOST_MOMENTS]


def _read_moment(event: Mapping[str, Any]) -> Moment | None:
    kind, time = _read_kind(event), object_in(event, "time")
    team, elapsed = object_in(event, "team"), read_count(time.get("elapsed"))
    number = read_id(team.get("id"))
    player = read_name(object_in(event, "player").get("name")) or ""
    other = read_name(object_in(event, "assist").get("name")) or ""
    if kind is None or number is None or elapsed is None or not (player or other):
        return None
    extra = read_count(time.get("extra")) or None
    return Moment(kind, number, read_text(team.get("name")), player, other, elapsed, extra)


def _read_kind(event: Mapping[str, Any]) -> MomentKind | None:
    detail = word_in(event, "detail")
    match word_in(event, "type"):
        case "card":
            return _CARDS.get(detail)
        case "subst":
            return MomentKind.SUBSTITUTION
        case "goal" if detail == MISSED_PENALTY and word_in(event, "comments") != SHOOT_OUT:
            return MomentKind.MISSED_PENALTY
    return None
