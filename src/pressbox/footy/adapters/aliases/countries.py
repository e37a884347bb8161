"""Countries under the names that football data, Wikidata and fans give them."""

from functools import cache

from babel import Locale
from babel.languages import get_official_languages
from babel.localedata import locale_identifiers

from pressbox.footy.domain.names import fold
from pressbox.footy.domain.team_names import KnownName

# What fans of most countries write in; the languages of the country itself come before them.
_LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl")
# Names that the list of territories spells otherwise or does not have.
_OTHER_NAMES = {
    "usa": "US", "united states of america": "US", "korea republic": "KR", "republic of korea": "KR", "korea": "KR",
    "dpr korea": "KP", "bosnia": "BA", "bosnia and herzegovina": "BA", "bosnia n herzegovina": "BA",
    "ivory coast": "CI", "cote d ivoire": "CI", "czech republic": "CZ", "czechia": "CZ", "turkey": "TR",
    "turkiye": "TR", "fyr macedonia": "MK", "macedonia": "MK", "north macedonia": "MK", "china pr": "CN",
    "people s republic of china": "CN", "rep of ireland": "IE", "republic of ireland": "IE", "cape verde": "CV",
    "cape verde islands": "CV", "congo dr": "CD", "democratic republic of the congo": "CD", "uae": "AE",
    "hong kong": "HK", "kyrgyzstan": "KG", "kyrgyz republic": "KG", "curacao": "CW", "palestine": "PS",
    "st lucia": "LC", "kingdom of the netherlands": "NL", "kingdom of denmark": "DK", "swaziland": "SZ",
    "england": "GB", "scotland": "GB", "wales": "GB", "northern ireland": "GB", "great britain": "GB",
    "trinidad n tobago": "TT", "crimea": "UA", "holland": "NL",
}  # fmt: skip
# Clubs that play in the league of a neighbour: Swansea, Monaco, Vaduz, Toronto, Wellington.
_SHARED_LEAGUES = (frozenset({"FR", "MC"}), frozenset({"CH", "LI"}), frozenset({"US", "CA"}), frozenset({"AU", "NZ"}))
_HOME_NATIONS = frozenset({"england", "scotland", "wales", "northern ireland"})


def country_code(name: str) -> str:
    """The country's code, or nothing for a name that is none, such as “World”."""
    plain = _plain(name)
    return _OTHER_NAMES.get(plain) or _codes().get(plain, "")


def may_share_a_league(first: str, second: str) -> bool:
    """Whether a club of the first country can play in a league of the second. Unknown countries exclude nothing."""
    one, other = country_code(first), country_code(second)
    return not one or not other or one == other or any({one, other} <= shared for shared in _SHARED_LEAGUES)


def is_same_country(first: str, second: str) -> bool:
    one, other = _plain(first), _plain(second)
    if one in _HOME_NATIONS and other in _HOME_NATIONS:
        return one == other
    code = country_code(first)
    return one == other or (bool(code) and code == country_code(second))


def country_names(team: str) -> tuple[KnownName, ...]:
    """What fans call a national team: its country in their languages and its own. Empty for a club."""
    code = country_code(team)
    if not code or _plain(team) in _HOME_NATIONS or code == "GB":
        return ()
    languages = (*get_official_languages(code, de_facto=True), *_LANGUAGES)
    return tuple(KnownName(name, language, main=True) for language in languages if (name := _name(code, language)))


def _name(code: str, language: str) -> str:
    return _territories(language).get(code, "").replace("’", "'")


@cache
def _territories(language: str) -> dict[str, str]:
    return dict(Locale.parse(language).territories) if language in _known_languages() else {}


@cache
def _known_languages() -> frozenset[str]:
    return frozenset(locale_identifiers())


@cache
def _codes() -> dict[str, str]:
    names: dict[str, str] = {}
    for language in _LANGUAGES:
        for code, name in _territories(language).items():
            if code.isalpha() and len(code) == 2:
                names.setdefault(_plain(name), code)
    return names


def _plain(name: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in fold(name).casefold()).split())
