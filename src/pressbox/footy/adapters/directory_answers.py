"""Reads teams and leagues from answers of API-Football. Entries without an id or a name are left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ports.storage import RawAnswer

LARGEST_ID = 2**31 - 1
LONGEST_NAME = 100


def read_teams(answers: Sequence[RawAnswer]) -> Sequence[Entry]:
    """A national team has its country as its name, so it is not said twice."""
    found = []
    for answer in answers:
        team = _part(answer, "team")
        country = "" if team.get("national") is True else _text(team, "country")
        found.append(_entry(FollowKind.TEAM, team, country))
    return [entry for entry in found if entry is not None]


def read_leagues(answers: Sequence[RawAnswer]) -> Sequence[Entry]:
    found = [
        _entry(FollowKind.LEAGUE, _part(answer, "league"), _text(_part(answer, "country"), "name"))
        for answer in answers
    ]
    return [entry for entry in found if entry is not None]


def _entry(kind: FollowKind, raw: Mapping[str, Any], country: str) -> Entry | None:
    number, name = raw.get("id"), _text(raw, "name")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= LARGEST_ID or not name:
        return None
    return Entry(kind, number, name, country)


def _part(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = raw.get(name)
    return part if isinstance(part, Mapping) else {}


def _text(raw: Mapping[str, Any], name: str) -> str:
    text = raw.get(name)
    return " ".join(text.replace("\x00", "").split())[:LONGEST_NAME] if isinstance(text, str) else ""
