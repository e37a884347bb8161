"""Names as people type them: plain letters, queries, words in posts, and readable parts of workflow ids."""

import re
import unicodedata
import zlib
from collections.abc import Sequence

from pressbox.core.errors import InvalidInputError

SHORTEST_PART = 4
# X refuses longer queries.
LONGEST_QUERY = 512
LONGEST_SLUG = 40
SHORTEST_SEARCH = 2

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
