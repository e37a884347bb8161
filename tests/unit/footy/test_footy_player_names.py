"""What is searched for a scorer: the parts of a name that fans type and that find him."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pressbox.footy.domain.names import fold, mentions
from pressbox.footy.domain.nicknames import find_nickname
from pressbox.footy.domain.player_names import (
    MOST_NAME_PARTS,
    extract_player_search_names,
    is_everyday_word,
    is_too_common,
)
from tests.shared_data import shared

WORDS = st.text(alphabet=st.characters(categories=["L"]), min_size=1, max_size=12)
NAMES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Florian Wirtz", ("Florian", "Wirtz")),
        ("D. Szoboszlai", ("Szoboszlai", "Szobo")),
        ("Mohamed Salah", ("Salah",)),
        ("M. Salah", ("Salah",)),
        ("Kylian Mbappé", ("Kylian", "Mbappé", "Mbappe")),
        ("Martin Ødegaard", ("Ødegaard", "Odegaard")),
        ("Luka Modrić", ("Luka", "Modrić", "Modric")),
        ("Pierre-Emerick Aubameyang", ("Emerick", "Aubameyang", "Auba")),
        ("Trent Alexander-Arnold", ("Trent", "Alexander-Arnold", "Arnold")),
        ("J.-P. Mateta", ("Mateta",)),
        ("N’Golo Kanté", ("N'Golo", "Kanté", "Kante")),
        ("K. De Bruyne", ("Bruyne", "KDB")),
        ("Virgil van Dijk", ("Virgil", "Dijk", "VVD")),
        ("Vinícius Júnior", ("Vinícius", "Vinicius", "Vini")),
        ("Vinicius Junior", ("Vinicius", "Vini")),
        ("T. Alexander-Arnold", ("Alexander-Arnold", "Arnold", "Trent")),
        ("Bruno Fernandes", ("Fernandes", "Bruno")),
        ("B. Fernandes", ("Fernandes",)),
        ("Bernardo Silva", ("Silva", "Bernardo")),
        ("B. Silva", ("Silva",)),
        ("Julián Álvarez", ("Álvarez", "Alvarez", "Julián", "Julian")),
        ("P. Aubameyang", ("Aubameyang", "Auba")),
        ("P.-E. Aubameyang", ("Aubameyang", "Auba")),
        ("B. White", ("White scores", "goal by White", "gol de White")),
        ("J. St. Juste", ("St Juste",)),
        ("Jerry St. Juste", ("Jerry", "St Juste")),
        ("D. Man", ("Man scores", "goal by Man", "gol de Man")),
        ("H. Son", ("Son",)),
        ("Son", ("Son",)),
        ("David Ito", ("Ito",)),
        ("Mohamed Ali", ("Mohamed Ali",)),
        ("João Pedro", ("João Pedro", "Joao Pedro")),
        ("Ben White", ("Ben White",)),
        ("Ng Wing-Kin", ("Ng", "Wing-Kin", "Wingkin")),
        ("三笘 薫", ("三笘",)),
        ("R. De Paul", ("De Paul",)),
        ("Rodrigo De Paul", ("De Paul",)),
        ("A. Di María", ("Di María", "Di Maria")),
        ("J. San Martín", ("San Martín", "San Martin")),
        ("Ali Al Hassan", ("Al Hassan",)),
        ("Salem Al-Dawsari", ("Al-Dawsari", "Dawsari")),
        ("M. ter Stegen", ("Stegen",)),
        ("E. ten Hag", ("ten Hag",)),
        ("K. van 't Hof", ("van t Hof",)),
        ("Allan Saint-Maximin", ("Allan", "Saint-Maximin", "Maximin")),
        ("Nguyen Van", ("Nguyen Van",)),
        ("Son Heung-Min", ("Son", "Heung-Min", "Heungmin")),
        ("Heung-Min Son", ("Heung-Min", "Heungmin", "Son")),
        ("Kim Min-Jae", ("Kim", "Min-Jae", "Minjae")),
        ("Lee Kang-In", ("Lee", "Kang-In", "Kangin")),
        ("No Sang-Rae", ("Sang-Rae", "Sangrae")),
        ("Son Heung Min", ("Son", "Heung-Min", "Heungmin")),
        ("Fakhereddine Ben Youssef", ("Fakhereddine", "Ben Youssef")),
        ("Henry Martín", ("Henry",)),
        ("Zé Pedro", ("Zé Pedro", "Ze Pedro")),
        ("Ángel Di María", ("Di María", "Di Maria")),
        ("Lee Grant", ("Grant",)),
        ("Wu Lei", ("Wu Lei",)),
        ("Emre Can", ("Emre",)),
        ("E. Can", ("Can scores", "goal by Can", "gol de Can")),
        ("R. One", ("One scores", "goal by One", "gol de One")),
        ("Neymar Jr", ("Neymar",)),
        ("Pedro Neto", ("Pedro Neto",)),
        ("Rodri", ("Rodri",)),
        ("Isco", ("Isco",)),
        ("Fred", ("Fred",)),
        ("Pedro", ("Pedro",)),
        ("", ()),
        (" . ", ()),
    ],
)
def test_a_player_is_searched_by_the_parts_that_help(name: str, expected: tuple[str, ...]) -> None:
    assert extract_player_search_names(name) == expected


@given(NAMES)
@example("\N{ARABIC LIGATURE SHADDA WITH DAMMATAN ISOLATED FORM}")
def test_a_name_always_yields_something_and_never_more_than_three_parts(name: str) -> None:
    found = extract_player_search_names(name)
    assert found
    assert len({fold(part).casefold() for part in found}) <= 3
    assert all(part == part.strip() and part for part in found)


PARTICLES = ("de", "De", "Di", "van der", "van", "ter", "San", "Al", "El", "dos", "Mac", "St.", "von", "le")
GIVEN_NAMES = ("J.", "J.-P.", "Mohamed", "João", "Ali", "Kylian", "Heung-Min", "Jean-Philippe", "Ki", "Bruno")
FAMILY_NAMES = (
    "Paul",
    "María",
    "Martín",
    "Hassan",
    "Dijk",
    "Stegen",
    "Son",
    "Kim",
    "Ba",
    "Silva",
    "Saint-Maximin",
    "Jr",
)


@given(
    st.lists(st.sampled_from(GIVEN_NAMES), max_size=2),
    st.lists(st.sampled_from(PARTICLES), max_size=2),
    st.lists(st.sampled_from(FAMILY_NAMES), min_size=1, max_size=2),
)
def test_no_combination_of_particles_and_common_names_is_reduced_to_one_of_them(
    given_names: list[str], particles: list[str], family_names: list[str]
) -> None:
    assert_searchable(" ".join((*given_names, *particles, *family_names)))


def test_every_player_of_the_recorded_matches_is_searched_by_what_identifies_him() -> None:
    names = set(recorded_names())
    assert len(names) > 500 or shared("worldcup") is None
    for name in sorted(names):
        assert_searchable(name)


def assert_searchable(name: str) -> None:
    terms = extract_player_search_names(name)
    assert terms, name
    assert len({fold(term).casefold() for term in terms}) <= MOST_NAME_PARTS, (name, terms)
    words = [word for word in name.split() if len(word.rstrip(".")) > 1 and word != "J.-P."]
    # A post that has the whole name is found. Nobody types the initials.
    told = " ".join(words)
    if len(words) == 1 and is_everyday_word(told):
        assert not mentions(told, terms, ()), "a lone word of everyday language is in every other post"
        told = f"GOAL! {told} scores for his team"
    assert any(mentions(told, (term,), ()) for term in terms), (name, terms)
    if len(words) > 1:
        found_by = [term for term in terms if fold(term) != fold(find_nickname(name))]
        assert not [term for term in found_by if is_too_common(term)], (name, terms)


def recorded_names() -> Iterator[str]:
    for folder in filter(None, map(shared, ("worldcup", "api-football", "providers/api_football"))):
        for file in sorted(folder.rglob("*.json")):
            yield from _names_in(json.loads(file.read_text(encoding="utf-8")), file)


def _names_in(value: object, file: Path, key: str = "") -> Iterator[str]:
    match value:
        case dict():
            is_person = key in ("player", "assist", "players", "goals1", "goals2")
            if is_person and isinstance(name := value.get("name"), str) and name:
                yield name
            for inner, content in value.items():
                yield from _names_in(content, file, inner)
        case list():
            for content in value:
                yield from _names_in(content, file, key)


def test_a_family_name_that_is_an_everyday_word_finds_no_recorded_post_by_chance() -> None:
    """Posts of all kinds, recorded at Reddit and Bluesky: none is about a player called Can, One, Win or Day."""
    texts = list(recorded_texts())
    assert len(texts) > 100 or shared("providers") is None
    for family in ("Can", "One", "Win", "Day"):
        found = [text for text in texts if mentions(text, extract_player_search_names(f"E. {family}"), ())]
        assert found == [], family
    if texts:
        assert any(mentions(text, ("can", "one", "win", "day"), ()) for text in texts), "what a lone word would find"


def recorded_texts() -> Iterator[str]:
    for folder in filter(None, map(shared, ("providers/reddit", "providers/bluesky"))):
        for file in sorted(folder.rglob("*.json")):
            yield from _texts_in(json.loads(file.read_text(encoding="utf-8", errors="replace")))


def _texts_in(value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                if key in ("title", "selftext", "text", "body") and isinstance(inner, str) and " " in inner:
                    yield inner
                yield from _texts_in(inner)
        case list():
            for inner in value:
                yield from _texts_in(inner)
