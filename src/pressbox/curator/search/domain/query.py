"""What a person typed into the search field, understood. Anything can be typed; nothing is an error.

    words            all of them, also as the beginning of longer words, and nearly so when that finds little
    "two words"      exactly these, one after the other
    -word  -"…"      without
    author:name  title:word

Pure.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pressbox.curator.text.words import Word, split_words

LONGEST_QUERY = 400
MOST_CLAUSES = 16

# A prefix of one or two letters is in nearly every text, and a short word has too many neighbours.
SHORTEST_PREFIX = 3
SHORTEST_NEAR = 4
SHORTEST_NEAR_PREFIX = 7

_PIECE = re.compile(
    r"""(?P<without>-?)(?:(?P<field>author|title):)?(?:["“„«](?P<quoted>[^"“”„«»]*)(?:["“”»]|$)|(?P<plain>[^\s"“„«]+))""",
    re.IGNORECASE,
)


class Field(StrEnum):
    ANY = "any"
    TITLE = "title"
    AUTHOR = "author"


@dataclass(frozen=True)
class Clause:
    """Words that stand one after the other; one word is the common case. `exact` was put in quotes."""

    words: tuple[Word, ...]
    exact: bool = False
    without: bool = False
    field: Field = Field.ANY


@dataclass(frozen=True)
class SearchQuery:
    clauses: tuple[Clause, ...]

    @property
    def wanted(self) -> tuple[Clause, ...]:
        return tuple(clause for clause in self.clauses if not clause.without)

    @property
    def unwanted(self) -> tuple[Clause, ...]:
        return tuple(clause for clause in self.clauses if clause.without)


def parse_query(text: str) -> SearchQuery:
    clauses: list[Clause] = []
    for piece in _PIECE.finditer(text[:LONGEST_QUERY]):
        quoted = piece["quoted"]
        found = tuple(split_words(piece["plain"] if quoted is None else quoted))
        if found:
            field = Field(piece["field"].lower()) if piece["field"] else Field.ANY
            clauses.append(Clause(found, quoted is not None, bool(piece["without"]), field))
    return SearchQuery(tuple(clauses[:MOST_CLAUSES]))


def may_begin_a_word(word: Word) -> bool:
    return not word.unspaced and len(word.text) >= SHORTEST_PREFIX


def may_be_misspelt(word: Word) -> bool:
    """Numbers are not: 2024 is not 2025."""
    return not word.unspaced and len(word.text) >= SHORTEST_NEAR and word.text.isalpha()


def may_begin_misspelt(word: Word) -> bool:
    return may_be_misspelt(word) and len(word.text) >= SHORTEST_NEAR_PREFIX


def near_to(word: Word) -> Callable[[str], bool]:
    """Whether another word may be meant by this one."""
    typed = word.text
    if not may_be_misspelt(word):
        return typed.__eq__
    head, tail = halves(word)
    closely = begins_near if may_begin_misspelt(word) else is_near
    return lambda other: (other.startswith(head) or tail in other) and closely(typed, other)


def halves(word: Word) -> tuple[str, str]:
    """One slip leaves the first or the second as it is. That is quickly seen, and seldom so."""
    return word.text[: len(word.text) // 2], word.text[len(word.text) // 2 + 1 :]


def is_near(typed: str, other: str) -> bool:
    """Whether one letter more, less, another, or two exchanged make one of the other."""
    if typed == other:
        return True
    if abs(len(typed) - len(other)) > 1:
        return False
    first = next((at for at, (a, b) in enumerate(zip(typed, other, strict=False)) if a != b), None)
    if first is None:
        return True
    rest, other_rest = typed[first:], other[first:]
    if len(rest) == len(other_rest):
        exchanged = rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
        return rest[1:] == other_rest[1:] or exchanged
    return rest[1:] == other_rest or rest == other_rest[1:]


def begins_near(typed: str, other: str) -> bool:
    return any(is_near(typed, other[:length]) for length in range(len(typed) - 1, len(typed) + 2))
