"""Names under which people write about teams, known ones and those that no catalogue has."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.footy.adapters.aliases.club_list import ClubList
from pressbox.footy.domain.names import mentions
from pressbox.footy.domain.team_names import (
    MOST_ALIASES,
    KnownName,
    Section,
    derive_aliases,
    rank_aliases,
    split_section,
)
from pressbox.footy.ports.storage import TeamName
from tests.shared_data import shared

# Countries of which the list in the package has no club, or only those of the first league.
NEVER_SEEN = {
    "ar": "Argentina",
    "br": "Brazil",
    "eng": "England",
    "it": "Italy",
    "nl": "Netherlands",
    "pt": "Portugal",
    "tr": "Turkey",
}
# Clubs in the manner of those lists, where the lists are absent.
OWN_CLUBS = (
    ("Netherlands", ("Heracles Almelo", "Heracles", "SC Heracles Almelo")),
    ("Brazil", ("Palmeiras SP", "Palmeiras", "SE Palmeiras")),
    ("England", ("Ipswich Town FC", "Ipswich Town", "Ipswich", "ITFC")),
    ("Argentina", ("CA Tigre", "Tigre", "Club Atlético Tigre")),
)


def test_aliases_are_filtered_and_the_most_useful_come_first() -> None:
    known = [
        KnownName("Liverpool F.C.", "en", main=True),
        KnownName("LFC", "en"),
        KnownName("Liverpool Football Club", "en"),
        KnownName("The Reds", "en"),
        KnownName("ליברפול", "he", main=True),
        KnownName("リヴァプールFC", "ja", main=True),
        KnownName("FC Liverpool", "de", main=True),
        KnownName("Liverpool (voetbalclub)", "nl"),
        KnownName("Liverpool Football Club and Athletic Grounds", "en"),
        KnownName("Liverpool 1892", "it"),
        KnownName("lfc", "tr"),
        KnownName("FC", "en"),
        KnownName("Merseysiders", "fr"),
    ]
    assert rank_aliases("Liverpool", known) == ("Liverpool", "LFC", "Merseysiders")


def test_a_name_that_any_club_could_have_is_no_alias_but_stays_inside_longer_ones() -> None:
    known = [KnownName("City"), KnownName("Man City"), KnownName("MCFC"), KnownName("United"), KnownName("The Blues")]
    assert rank_aliases("Manchester City FC", known) == ("Manchester City", "MCFC", "Man City")


@given(st.text(min_size=1, max_size=30), st.lists(st.builds(KnownName, st.text(max_size=30)), max_size=20))
def test_whatever_a_catalogue_says_the_list_is_short_and_has_no_repetition(team: str, known: list[KnownName]) -> None:
    ranked = rank_aliases(team, known)
    assert len(ranked) <= MOST_ALIASES
    assert len(set(ranked)) == len(ranked)
    assert not team.strip() or ranked


def test_names_as_tables_shorten_them_are_no_aliases() -> None:
    known = [KnownName("Bor. Dortmund"), KnownName("B. Dortmund"), KnownName("BVB"), KnownName("Dortm.")]
    assert rank_aliases("Borussia Dortmund", known) == ("Borussia Dortmund", "BVB")
    assert rank_aliases("Pauli", [KnownName("St. Pauli"), KnownName("P.S.G.")]) == ("Pauli", "P.S.G.", "St. Pauli")


@pytest.mark.parametrize(
    ("team", "expected"),
    [
        ("Chelsea W", Section("Chelsea", women=True)),
        ("Chelsea", Section("Chelsea")),
        ("Barcelona Femenino", Section("Barcelona", women=True)),
        ("Manchester City U21", Section("Manchester City", other=True)),
        ("Germany U21 W", Section("Germany", women=True, other=True)),
        ("Barcelona B", Section("Barcelona", other=True)),
        ("W", Section("W")),
    ],
)
def test_women_youth_and_reserves_are_sections_of_a_club(team: str, expected: Section) -> None:
    assert split_section(team) == expected


@pytest.mark.parametrize(
    ("team", "country", "expected"),
    [
        ("Heracles Almelo", "Netherlands", {"Heracles Almelo", "Heracles", "Almelo"}),
        ("PSV Eindhoven", "Netherlands", {"PSV", "Eindhoven"}),
        ("SE Palmeiras", "Brazil", {"Palmeiras"}),
        ("Ipswich Town", "England", {"Ipswich", "Ipswich Town", "ITFC"}),
        ("Arsenal W", "England", {"Arsenal", "Arsenal Women"}),
        ("Atlético MG", "Brazil", {"Atlético MG"}),
        ("Bodo/Glimt", "Norway", {"Bodo Glimt", "Bodo", "Glimt"}),
        ("Rangers U21", "Scotland", {"Rangers", "Rangers U21"}),
        ("Germany U21 W", "", {"Germany", "Germany U21 Women"}),
    ],
)
def test_a_team_that_no_catalogue_has_is_called_by_parts_of_its_name(
    team: str, country: str, expected: set[str]
) -> None:
    assert expected <= set(derive_aliases(team, country))


def test_initials_are_those_of_the_first_team() -> None:
    assert "AFC" in derive_aliases("Arsenal", "England")
    assert not {"AFC"} & {*derive_aliases("Arsenal W", "England"), *derive_aliases("Arsenal U21", "England")}


def test_names_that_everybody_uses_are_kept_although_they_fit_other_clubs() -> None:
    known = [KnownName("OM", proven=True), KnownName("VfB"), KnownName("Sporting", proven=True)]
    assert rank_aliases("Marseille", known) == ("Marseille", "OM", "Sporting")


@pytest.mark.parametrize("team", ["Manchester United", "Real Madrid", "West Ham United", "Atlético MG", "Sporting CP"])
def test_a_word_that_many_clubs_have_is_never_a_name_alone(team: str) -> None:
    lone = {name for name in derive_aliases(team) if " " not in name}
    assert not lone & {"Manchester", "United", "Real", "Madrid", "West", "Atlético", "Sporting"}


@given(st.text(max_size=40), st.sampled_from(["", "England", "Brazil"]))
def test_every_name_yields_distinct_aliases(team: str, country: str) -> None:
    aliases = derive_aliases(team, country)
    assert len(set(aliases)) == len(aliases) <= MOST_ALIASES
    assert bool(aliases) == bool(team.split())


async def test_clubs_never_seen_are_found_by_nine_of_ten_names_that_fans_use() -> None:
    names = plain = found = plain_found = 0
    clubs = ClubList()
    for country, club in clubs_never_seen():
        aliases = await aliases_of(clubs, club[0], country)
        used = [name for name in dict.fromkeys(club) if is_typed_by_fans(name)]
        if used:
            shortest = min(used, key=lambda name: (len(name) < 4, len(name)))
            names, found = names + len(used), found + sum(mentions(name, (), aliases) for name in used)
            plain, plain_found = plain + 1, plain_found + mentions(shortest, (), aliases)
    assert names
    assert found / names >= 0.9, f"{found} of {names}"
    assert plain_found / plain >= 0.9, f"{plain_found} of {plain}"


async def aliases_of(clubs: ClubList, name: str, country: str) -> Sequence[str]:
    known = await clubs.find_aliases(TeamName(0, name, country))
    return known.names or derive_aliases(name, country)


def is_typed_by_fans(name: str) -> bool:
    return len(name) >= 3 and len(name.split()) <= 3 and not re.search(r"[.(\[]|\d{4}", name)


def clubs_never_seen() -> Iterator[tuple[str, Sequence[str]]]:
    folder = shared("providers/wikidata/openfootball_clubs")
    if folder is None:
        yield from OWN_CLUBS
        return
    for code, country in NEVER_SEEN.items():
        for club in read_clubs(folder / f"{code}.clubs.txt"):
            yield country, club


def read_clubs(file: Path) -> Iterator[list[str]]:
    """Clubs with their other names. Reserve teams, and clubs that are gone, are left out."""
    club: list[str] = []
    for line in (full.partition("#")[0].rstrip() for full in file.read_text(encoding="utf-8").splitlines()):
        if line.lstrip().startswith("|"):
            club += [name.strip() for name in line.split("|") if name.strip()]
        elif line and not line.startswith("="):
            if club:
                yield club
            is_left_out = re.match(r"[a-z]+\)", line) or re.search(r"\(\d{4}-", line)
            club = [] if is_left_out else [re.sub(r"\s*\(.*", "", line.partition(",")[0]).strip()]
    if club:
        yield club
