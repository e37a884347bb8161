"""Queries, aliases of teams, and how ids are spelt."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.footy.domain.names import (
    LONGEST_QUERY,
    build_query,
    mentions,
    slug,
)
from pressbox.footy.domain.player_names import extract_player_search_names


@given(st.text(max_size=60))
def test_no_text_whatever_breaks_the_search_language(text: str) -> None:
    query = build_query(extract_player_search_names(text), [text, "Liverpool FC"])
    outside_quotes = re.sub(r'"[^"]*"', "", query)
    assert query.count('"') % 2 == 0
    assert outside_quotes.count("(") == outside_quotes.count(")") <= 2
    assert '""' not in query


@pytest.mark.parametrize(
    ("names", "aliases", "expected"),
    [
        (("Florian", "Wirtz"), ("LFC", "Liverpool"), "(Florian OR Wirtz) (LFC OR Liverpool)"),
        (("Salah",), ("LFC", "Liverpool"), "Salah (LFC OR Liverpool)"),
        (("Salah",), ("Liverpool",), "Salah Liverpool"),
        (("Salah",), ("Manchester United", "MUFC"), 'Salah ("Manchester United" OR MUFC)'),
        (("Salah",), (), "Salah"),
        (("Salah", "Salah"), ("OR", "LFC"), "Salah LFC"),
    ],
)
def test_a_query_asks_for_any_name_of_the_player_with_any_of_the_team(
    names: tuple[str, ...], aliases: tuple[str, ...], expected: str
) -> None:
    assert build_query(names, aliases) == expected


def test_a_query_that_x_would_refuse_loses_its_last_aliases() -> None:
    query = build_query(["Wirtz"], [f"Alias number {number}" for number in range(100)])
    assert len(query) <= LONGEST_QUERY
    assert query.startswith('Wirtz ("Alias number 0" OR ')
    assert query.endswith('")')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Liverpool", "Liverpool"),
        ("D. Szoboszlai", "D-Szoboszlai"),
        ("Bayern München", "Bayern-Munchen"),
        ("Côte d'Ivoire", "Cote-d-Ivoire"),
        ("Øygarden Fotballklubb og idrettslag av 1918 i Norge", "Oygarden-Fotballklubb-og-idrettslag-av-1"),
    ],
)
def test_a_slug_stays_readable(text: str, expected: str) -> None:
    assert slug(text) == expected


@given(st.text(max_size=100))
def test_a_slug_is_never_empty_and_fits_into_an_id(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}[A-Za-z0-9])?", slug(text))


def test_names_in_other_scripts_stay_apart() -> None:
    assert slug("三笘") != slug("久保")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Liverpool [1] - 0 Bournemouth - Florian Wirtz 23'", True),
        ("WIRTZ!!! #LFC", True),
        ("Wirtz scores", False),
        ("Liverpool win again", False),
        ("Wirtzman of LFCX", False),
        ("Goal by Mbappe for Manchester-United", False),
    ],
)
def test_a_post_is_about_the_goal_when_it_names_player_and_team(text: str, expected: bool) -> None:
    assert mentions(text, ("Florian", "Wirtz"), ("LFC", "Liverpool")) is expected


def test_accents_hyphens_and_aliases_of_several_words_are_found_in_any_spelling() -> None:
    assert mentions("mbappe for manchester-UNITED", ("Mbappé",), ("Manchester United",))
    assert mentions("Aubameyang, Pierre Emerick!", ("Pierre-Emerick",), ())
