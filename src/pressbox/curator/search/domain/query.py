"""Search queries and questions: what people type, parsed, and words one typo away from another. Pure.

A query is what somebody types into the search field. Anything can be typed; nothing is an error.

    words            all of them, also as prefixes of longer words, and with a typo when that finds little
    "two words"      exactly these, one after the other
    -word  -"…"      without these
    author:name  title:word

A question is answered from passages; its terms are the words that carry meaning.

An index that has no automaton over its dictionary looks them up one by one: some hundreds, of which few exist.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from pressbox.curator.text.words import STOP_WORDS, Word, fold, split_pairs, split_words

LONGEST_QUERY = 400
MOST_CLAUSES = 16

# A prefix of one or two letters is in nearly every text, and a short word is one typo away from too many others.
SHORTEST_PREFIX = 3
SHORTEST_TYPO = 4
SHORTEST_PREFIX_TYPO = 7

LONGEST_QUESTION = 2_000
MOST_TERMS = 24
# A follow-up question of so few terms needs the question before it: "And in Germany?"
FOLLOW_UP_TERMS = 6

_PIECE = re.compile(
    r"""(?P<excluded>-?)(?:(?P<field>(?i:author|title)):)?(?:["“„«](?P<quoted>[^"“”„«»]*)(?:["“”»]|$)|(?P<plain>[^\s"“„«]+))"""
)


class Field(StrEnum):
    ANY = "any"
    TITLE = "title"
    AUTHOR = "author"


@dataclass(frozen=True)
class Clause:
    """Words that stand one after the other, mostly a single one. `exact` words were in quotes."""

    words: tuple[Word, ...]
    exact: bool = False
    excluded: bool = False
    field: Field = Field.ANY


@dataclass(frozen=True)
class SearchQuery:
    clauses: tuple[Clause, ...]

    @property
    def included(self) -> tuple[Clause, ...]:
        return tuple(clause for clause in self.clauses if not clause.excluded)

    @property
    def excluded(self) -> tuple[Clause, ...]:
        return tuple(clause for clause in self.clauses if clause.excluded)


class Tolerance(IntEnum):
    """How much a search forgives. A later step is slower and less relevant, and counts only where little was found."""

    EXACT = 0
    PREFIXES = 1
    TYPOS = 2
    # Also in what was put in quotes.
    TYPOS_IN_QUOTES = 3


# With fewer exact hits than this, prefixes count too; with fewer hits than that, words with a typo as well.
ENOUGH_EXACT = 100
ENOUGH = 10


def parse_query(text: str) -> SearchQuery:
    clauses: list[Clause] = []
    for piece in _PIECE.finditer(text[:LONGEST_QUERY]):
        quoted = piece["quoted"]
        found = tuple(split_words(piece["plain"] if quoted is None else quoted))
        if found:
            field = Field(piece["field"].lower()) if piece["field"] else Field.ANY
            clauses.append(Clause(found, quoted is not None, bool(piece["excluded"]), field))
    return SearchQuery(tuple(clauses[:MOST_CLAUSES]))


def allows_prefix(word: Word) -> bool:
    """True when longer words that begin with this one count as found."""
    return not word.unspaced and len(word.text) >= SHORTEST_PREFIX


def allows_typo(word: Word) -> bool:
    """True when words with one typo count as found. Numbers never do: 2024 is not 2025."""
    return not word.unspaced and len(word.text) >= SHORTEST_TYPO and word.text.isalpha()


def allows_prefix_typo(word: Word) -> bool:
    return allows_typo(word) and len(word.text) >= SHORTEST_PREFIX_TYPO


def next_tolerance(query: SearchQuery, tolerance: Tolerance, total: int) -> Tolerance | None:
    """Return the step to take after one that found so many, or None when that was enough or nothing is left to try."""
    words = [word for clause in query.included for word in clause.words]
    if tolerance is Tolerance.EXACT:
        return Tolerance.PREFIXES if total < ENOUGH_EXACT and any(map(allows_prefix, words)) else None
    if tolerance is Tolerance.PREFIXES and total < ENOUGH and any(map(allows_typo, words)):
        return Tolerance.TYPOS if total else Tolerance.TYPOS_IN_QUOTES
    return None


def is_one_character(clause: Clause) -> bool:
    """True for one character of a script without spaces: every character begins a pair."""
    return len(clause.words) == 1 and clause.words[0].unspaced and len(clause.words[0].text) == 1


def positioned_terms(clause: Clause) -> list[tuple[int, str]]:
    """Return the terms of a clause as the index has them, with their positions, counted from the first."""
    first = clause.words[0].position
    return [
        (word.position - first + place, term)
        for word in clause.words
        for place, term in enumerate(split_pairs(word.text) if word.unspaced else (word.text,))
    ]


def typo_matcher(word: Word) -> Callable[[str], bool]:
    """Return a test whether another word may be meant by this one."""
    typed = word.text
    if not allows_typo(word):
        return typed.__eq__
    head, tail = halves(word)
    matches = has_prefix_with_typo if allows_prefix_typo(word) else is_one_typo_away
    return lambda other: (other.startswith(head) or tail in other) and matches(typed, other)


def halves(word: Word) -> tuple[str, str]:
    """Split a word. One typo leaves one half as it is, and few other words have that half, which is quick to test."""
    return word.text[: len(word.text) // 2], word.text[len(word.text) // 2 + 1 :]


def is_one_typo_away(typed: str, other: str) -> bool:
    """True when one letter more, less or different, or two swapped, turn one word into the other."""
    if typed == other:
        return True
    if abs(len(typed) - len(other)) > 1:
        return False
    first = next((at for at, (a, b) in enumerate(zip(typed, other, strict=False)) if a != b), None)
    if first is None:
        return True
    rest, other_rest = typed[first:], other[first:]
    if len(rest) == len(other_rest):
        swapped = rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
        return rest[1:] == other_rest[1:] or swapped
    return rest[1:] == other_rest or rest == other_rest[1:]


def has_prefix_with_typo(typed: str, other: str) -> bool:
    return any(is_one_typo_away(typed, other[:length]) for length in range(len(typed) - 1, len(typed) + 2))


# Words that ask say nothing about what is asked for.
_ASKING = """
    does did explain tell happened happen happens anything something know latest recent recently article articles
    erkläre sag sage weshalb wieso warum woher wohin wodurch womit gibt geht ging gab welcher welches welchen welchem
    worum artikel pourquoi comment quels quelles quelque cuál cuáles cómo cuándo dónde quién quali quale perché
    waarom welk welke
"""
_IGNORED = frozenset(
    fold(word) for word in (*_ASKING.split(), *(word for listed in STOP_WORDS.values() for word in listed))
)
# Hiragana hold a Japanese sentence together; what carries meaning is mostly written otherwise.
_HIRAGANA = frozenset(chr(code) for code in range(0x3040, 0x30A0))


def content_terms(question: str) -> tuple[str, ...]:
    """Return the terms of a question as the index has them, each once. A question of stop words alone keeps them."""
    found = [term for word in split_words(question[:LONGEST_QUESTION]) for term in _terms(word.text, word.unspaced)]
    telling = [term for term in found if term not in _IGNORED and not _HIRAGANA.issuperset(term)]
    return tuple(dict.fromkeys(telling or found))[:MOST_TERMS]


def expand_follow_up(question: str, earlier: Sequence[str]) -> str:
    """Return what to search for: the question, and when it is short, also the question before it."""
    if not earlier or len(content_terms(question)) > FOLLOW_UP_TERMS:
        return question
    return f"{question}\n{earlier[-1]}"


def _terms(text: str, unspaced: bool) -> tuple[str, ...]:
    if unspaced:
        return split_pairs(text)
    return (text,) if len(text) > 1 or text.isdigit() else ()


# Letters as they are after folding. Another script gets the letters of the word itself: swaps, doubled and lost ones.
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzæøłđ",
    "абвгдежзиклмнопрстуфхцчшщъыьэюяієґђјљњћџ",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويءىة",
)


def one_typo_away(word: str) -> frozenset[str]:
    """Return the word, and each that one letter more, less or different, or two swapped, turn it into."""
    letters = next((alphabet for alphabet in _ALPHABETS if set(alphabet).intersection(word)), "".join(set(word)))
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    less = {head + tail[1:] for head, tail in cuts if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    different = {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    more = {head + letter + tail for head, tail in cuts for letter in letters}
    return frozenset({word, *less, *swapped, *different, *more})
