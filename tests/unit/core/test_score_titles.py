"""Titles as papers write them: which tell the score of a match, and which do not."""

import pytest

from pressbox.core.spoilers.titles import GuardedMatch, find_told

LIVERPOOL = GuardedMatch("footy.fixture.9", ("Liverpool", "Liverpool FC", "The Reds"), ("Manchester City", "Man City"))
BAYERN = GuardedMatch("footy.fixture.10", ("FC Bayern München", "Bayern"), ("1. FC Köln", "Cologne"))
ATLETICO = GuardedMatch("footy.fixture.11", ("Atlético Madrid", "Atletico"), ("Real Sociedad",))
MATCHES = (LIVERPOOL, BAYERN, ATLETICO)


@pytest.mark.parametrize(
    ("title", "match"),
    [
        ("Liverpool 2-1 Manchester City: Salah’s late winner stuns champions", LIVERPOOL),
        ("Liverpool 2–1 Man City – as it happened", LIVERPOOL),
        ("Manchester City beaten 2-1 at Anfield by Liverpool", LIVERPOOL),
        ("LIVERPOOL FC 0 - 0 MANCHESTER CITY", LIVERPOOL),
        ("Man City's 4-0 win over the Reds in pictures", LIVERPOOL),
        ("Bayern – Köln 5:0: Kane trifft dreimal", BAYERN),
        ("Bayern München schlägt den 1. FC Köln mit 10:0", BAYERN),
        ("Atletico Madrid 3-2 Real Sociedad (LaLiga)", ATLETICO),
        ("Full-time: Real Sociedad hold Atlético 1—1", ATLETICO),
    ],
)
def test_a_title_with_both_sides_and_a_score_tells_it(title: str, match: GuardedMatch) -> None:
    assert find_told(title, MATCHES) is match


@pytest.mark.parametrize(
    "title",
    [
        "Liverpool v Manchester City: match preview and team news",
        "Liverpool – Manchester City, Anstoß 17:30 Uhr",
        "Liverpool and Manchester City in the 2026-27 season",
        "Liverpool and Manchester City meet on 17-11-2026",
        "Liverpool 2-1 Everton",
        "Manchester City 3-0 Leeds",
        "Bayern gegen Köln um 20:30 im Fernsehen",
        "What Liverpoolers say of Manchester City: 3-2 for trams",
        "Man Citybus beats Liverpool 2-1",
        "",
    ],
)
def test_without_a_score_or_with_another_side_it_tells_nothing(title: str) -> None:
    assert find_told(title, MATCHES) is None


def test_nobody_hides_anything_so_nothing_is_told() -> None:
    assert find_told("Liverpool 2-1 Manchester City", ()) is None
