"""Names as people type them: search terms for scorers and teams, aliases, and readable parts of workflow ids."""

import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pressbox.core.errors import InvalidInputError

SHORTEST_PART = 4
MOST_ALIASES = 8
# X refuses longer queries.
LONGEST_QUERY = 512
LONGEST_SLUG = 40
LONGEST_ALIAS = 40
SHORTEST_SEARCH = 2
_MOST_ALIAS_WORDS = 4

# Letters that have no decomposition into a plain one and a mark.
_PLAIN_LETTERS = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D",
        "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ł": "l", "Ł": "L", "ı": "i", "ħ": "h", "Ħ": "H", "ə": "e", "Ə": "E",
        "‘": "'", "’": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-",
    }
)  # fmt: skip
NOT_IN_A_WORD = re.compile(r"[^\w'-]|_")
# Operators in the search languages of all sources.
OPERATORS = frozenset({"or", "and", "not"})


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def fold(text: str) -> str:
    """Replace letters by their plain Latin form without accents, where there is one."""
    decomposed = unicodedata.normalize("NFKD", text)
    unmarked = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", unmarked.translate(_PLAIN_LETTERS))


def build_query(player_names: Sequence[str], team_aliases: Sequence[str]) -> str:
    """Build a query such as `(Florian OR Wirtz) (LFC OR Liverpool)`. Aliases that make it too long are left out."""
    names, teams = _terms(player_names), _terms(team_aliases)
    while len(query := " ".join(filter(None, (_any_of(names), _any_of(teams))))) > LONGEST_QUERY:
        if len(teams) > 1:
            teams.pop()
        elif len(names) > 1:
            names.pop()
        else:
            return query[:LONGEST_QUERY]
    return query


def mentions(text: str, player_names: Sequence[str], team_aliases: Sequence[str]) -> bool:
    """Whether a text has a name of the player and one of the team, for sources that cannot search for both.

    Whole words are compared, regardless of case and accents.
    """
    words = f" {_plain_words(text)} "
    return all(
        not wanted or any(f" {_plain_words(term)} " in words for term in wanted)
        for wanted in (player_names, team_aliases)
    )


def search_words(query: str) -> tuple[str, ...]:
    """The words that somebody typed to find a team or a player."""
    words = tuple(query.split())
    if len("".join(words)) < SHORTEST_SEARCH:
        raise InvalidInputError(f"Type at least {SHORTEST_SEARCH} letters of a name.", field="q")
    return words


def slug(text: str) -> str:
    """A readable part of an id: plain letters, digits and hyphens, at most 40 characters, never empty."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", fold(text)).strip("-")[:LONGEST_SLUG].rstrip("-")
    # A name in another script has no plain letters; a checksum keeps two of them apart.
    return plain or f"n{zlib.crc32(text.encode()):08x}"


@dataclass(frozen=True)
class KnownName:
    """A name of a team from a catalogue. `main` is its label, as opposed to an alias."""

    text: str
    language: str = "en"
    main: bool = False


def rank_aliases(team: str, known: Iterable[KnownName], limit: int = MOST_ALIASES) -> tuple[str, ...]:
    """The names under which people write about a team, the most useful first; the team's own name is always included.

    Leaves out names that are too long to type, in another script, with years, or that fit any club.
    """
    own = strip_legal_form(" ".join(team.split()))
    counted: dict[str, tuple[str, int]] = {}
    for candidate in known:
        text = strip_legal_form(" ".join(candidate.text.split()))
        key = _key(text)
        if _is_usable(text) and key != _key(own):
            spelling, weight = counted.get(key, (text, 0))
            counted[key] = (spelling, weight + _weight(candidate, text))
    ranked = sorted(counted.items(), key=lambda item: (-item[1][1], len(item[1][0]), item[0]))
    others = tuple(spelling for _, (spelling, _) in ranked)
    return ((own, *others) if own else others)[:limit]


# Words in the names of clubs that do not tell which club it is.
_LEGAL_FORMS = word_set(
    """
    fc f.c. afc a.f.c. cf c.f. sc s.c. ac a.c. as a.s. cd c.d. ud u.d. rc r.c. sv bv fk nk sk sd club ssc s.s.c. ss
    s.s. us u.s. bc b.c. tsv vfl vfb tsg jk if bk ff ca cp rcd calcio futbol football fussball association de the e.v.
    ev kv kaa krc ogc ogcn losc rsc vv gnk hnk mfk
    """
)
_ANY_CLUB = word_set(
    """
    united city town rovers wanderers athletic athletico atletico real sporting inter dynamo dinamo olympique rangers
    albion county racing deportivo nacional national team national-team men women reds blues whites blacks
    greens yellows lions eagles tigers bears the first football soccer club clubs
    """
)
# Abbreviations of tables (Bor. Dortmund), which nobody types; but not St.
_SHORTENED = re.compile(r"\b(?!St\.)[A-Za-z]+\.")
_YEARS = re.compile(r"\b(1[89]|20)\d\d\b")


def _is_usable(text: str) -> bool:
    plain = fold(text)
    if not plain.isascii() or _YEARS.search(plain):
        return False
    words = plain.casefold().split()
    letters = sum(char.isalpha() for char in plain)
    if letters < 2 or len(text) > LONGEST_ALIAS or len(words) > _MOST_ALIAS_WORDS:
        return False
    if any(char in text for char in '()[]{}/\\:;"'):
        return False
    if _SHORTENED.search(plain) and not plain.replace(".", "").isupper():
        return False
    # Three capitals name a club (LFC, BVB); two, or three small letters, are a word of some language.
    if letters <= 3 and not (letters == 3 and text.replace(".", "").isupper()):
        return False
    return not all(word in _ANY_CLUB or word in _LEGAL_FORMS for word in words)


def _weight(candidate: KnownName, text: str) -> int:
    english = candidate.language.partition("-")[0] in ("en", "mul")
    is_abbreviation = text.isupper() and len(text) <= 4
    return 1 + 4 * candidate.main + 4 * english + 3 * (is_abbreviation and english)


def strip_legal_form(text: str) -> str:
    """Shorten “Liverpool FC” to “Liverpool”, unless too little or a word for any club would be left."""
    words = text.split(" ")
    while len(words) > 1 and words[-1].casefold() in _LEGAL_FORMS:
        words = words[:-1]
    while len(words) > 1 and words[0].casefold() in _LEGAL_FORMS:
        words = words[1:]
    rest = " ".join(words)
    if count_letters(rest) < SHORTEST_PART or all(word.casefold() in _ANY_CLUB for word in words):
        return text
    return rest


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", fold(text).casefold()) or text.casefold()


def _plain_words(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+|_", " ", fold(text).casefold()).split())


def count_letters(text: str) -> int:
    return sum(char.isalnum() for char in text)


def _terms(words: Sequence[str]) -> list[str]:
    clean = (" ".join(NOT_IN_A_WORD.sub(" ", word).split()) for word in words)
    terms = (f'"{word}"' if " " in word else word for word in clean if word and word.casefold() not in OPERATORS)
    return list(dict.fromkeys(terms))


def _any_of(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})" if terms else ""
