"""Leagues and teams by name: the lists of the program, their order, and how API-Football's own search is read."""

import json
from collections.abc import Sequence

import pytest

from pressbox.footy.adapters.aliases.club_list import ClubList, club_list
from pressbox.footy.adapters.directory import find_listed, listed_leagues, with_listed
from pressbox.footy.adapters.directory_answers import read_leagues, read_teams
from pressbox.footy.domain.directory import Entry, asked_text, plain_words, rank_entries
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ports.storage import RawAnswer, TeamName
from pressbox.footy.settings import FootySettings
from tests.shared_data import shared

FOLDER = shared("providers/api_football")
RECORDINGS = sorted(FOLDER.glob("*.json")) if FOLDER else []
TEAM, LEAGUE = FollowKind.TEAM, FollowKind.LEAGUE
NEAR = frozenset({"england", "germany"})


def found(query: str) -> Sequence[str]:
    words = plain_words(query)
    ranked = rank_entries(with_listed((), words), words, NEAR, 8)
    return [f"{entry.name} · {entry.country}".removesuffix(" · ") for entry in ranked]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Arsenal", "Arsenal · England"),
        ("arsenal tula", "Arsenal Tula · Russia"),
        ("bayern munich", "Bayern München · Germany"),
        ("BVB", "Borussia Dortmund · Germany"),
        ("koln", "1. FC Köln · Germany"),
        ("Köln", "1. FC Köln · Germany"),
        ("Everton", "Everton · England"),
        ("brasil", "Brazil"),
        ("premier league", "Premier League · England"),
        ("MLS", "Major League Soccer · USA"),
        ("bundesliga austria", "Bundesliga · Austria"),
        ("effzeh", "1. FC Köln · Germany"),
        ("galaxy", "Los Angeles Galaxy · USA"),
        ("chelsea women", "Chelsea W · England"),
    ],
)
def test_without_a_key_the_lists_of_the_program_answer(query: str, first: str) -> None:
    assert found(query)[0] == first


def test_every_league_that_is_followed_from_the_start_has_a_name() -> None:
    for number in FootySettings().leagues:
        entry = find_listed(LEAGUE, number)
        assert entry is not None, number
        assert entry.name
        assert entry.country
    assert len({entry.id for entry in listed_leagues()}) == len(listed_leagues())


def test_each_club_of_the_list_has_its_own_id_for_ever() -> None:
    entries = [entry for entry, _ in club_list()._entries]
    assert len({entry.id for entry in entries}) == len(entries) > 1_600
    assert all(entry.id < 0 for entry in entries)
    assert ClubList().load_entry(-753851479) == next(entry for entry in entries if entry.name == "Arsenal")


@pytest.mark.parametrize(
    ("team", "country", "listed"),
    [
        ("Arsenal", "England", "Arsenal"),
        ("Bayern München", "Germany", "Bayern München"),
        ("FC Bayern München", "Germany", "Bayern München"),
        ("Barcelona", "Spain", "Barcelona"),
        ("Brazil", "", "Brazil"),
        ("Arsenal W", "England", "Arsenal W"),
        ("Bristol City W", "England", None),
        ("River Plate", "Argentina", "River Plate"),
        ("Inter Miami", "USA", "Inter Miami"),
        ("Arsenal U21", "England", None),
        ("Arsenal", "Argentina", None),
    ],
)
def test_a_team_of_the_api_is_recognised_in_the_list(team: str, country: str, listed: str | None) -> None:
    ids = club_list().identify(TeamName(1, team, country))
    names = {entry.name for number in ids if (entry := club_list().load_entry(number))}
    assert names == ({listed} if listed else set())


def test_a_team_that_is_known_hides_its_entry_in_the_list() -> None:
    known = Entry(TEAM, 42, "Arsenal", "England")
    same = [entry for entry in with_listed([known], plain_words("arsenal")) if entry.country == "England"]
    assert [entry.name for entry in same] == ["Arsenal", "Arsenal W"]
    assert same[0] == known


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("Arsenal", "arsenal"),
        ("  1. FC  Köln ", "1 fc koln"),
        ("D'Or / x&y", "d or x y"),
        ("ab", ""),
        ("", ""),
        ("Зенит", ""),
        ("a" * 100, "a" * 60),
    ],
)
def test_the_api_gets_plain_letters_and_never_too_few(typed: str, asked: str) -> None:
    assert asked_text(typed) == asked


def test_first_teams_come_before_women_youth_and_reserves() -> None:
    names = ("Manchester United W", "Manchester United U21", "Manchester United", "United of Manchester", "FC United")
    entries = [Entry(TEAM, 1 + place, name, "England") for place, name in enumerate(names)]
    ranked = rank_entries(entries, plain_words("manchester united"), NEAR, 5)
    assert [entry.name for entry in ranked][:2] == ["Manchester United", "Manchester United W"]


def test_every_recording_is_read_without_a_fault() -> None:
    teams: dict[str, int] = {}
    for path in RECORDINGS:
        body = json.loads(path.read_text())
        answers = body.get("response") if isinstance(body, dict) else body
        raw = [one for one in answers if isinstance(one, dict)] if isinstance(answers, list) else []
        entries = [*read_teams(raw), *read_leagues(raw)]
        assert all(entry.name and entry.id > 0 for entry in entries), path.name
        teams[path.name] = len(entries)
    assert teams.get("team-manchester.json", 16) == 16
    assert teams.get("leagues-current-de.json", 33) == 33
    assert teams.get("team-leipzig-error.json", 0) == 0


def test_half_an_entry_is_left_out() -> None:
    whole = {"team": {"id": 33, "name": " Manchester  United ", "country": "England", "national": False}}
    broken: list[RawAnswer] = [
        {},
        {"team": None},
        {"team": {"id": "33", "name": "x"}},
        {"team": {"id": True, "name": "x"}},
    ]
    broken += [{"team": {"id": 7, "name": None}}, {"team": {"id": 2**40, "name": "x"}}]
    assert read_teams([*broken, whole]) == [Entry(TEAM, 33, "Manchester United", "England")]
    national = {"team": {"id": 6, "name": "Brazil", "country": "Brazil", "national": True}}
    assert read_teams([national]) == [Entry(TEAM, 6, "Brazil")]
    assert read_leagues([{"league": {"id": 1, "name": "World Cup"}, "country": []}]) == [Entry(LEAGUE, 1, "World Cup")]
