"""Whether the title of an article tells the score of a match that somebody does not want to know yet. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# 2–1, 2-1, 2 : 1; not a time of day (15:30), a date (17-11-2026), a season (2026-27) or a span of years.
_SCORE = re.compile(r"(?<![\d:.,/–-])\d{1,2}(?:\s?[-–—]\s?\d{1,2}|\s?:\s?\d)(?![\d/]|[-–—:.,]\d)")
_NO_WORD = re.compile(r"[^\w]+")
# Parts of a club's name that papers leave out.
_FORMS = frozenset({"fc", "afc", "cf", "sc", "ac", "as", "ss", "sv", "vfb", "vfl", "tsg", "rb", "1", "club", "de"})
SHORTEST_NAME = 3


@dataclass(frozen=True)
class GuardedMatch:
    """A match whose score somebody does not want to know yet, with the names of its sides, the usual one first."""

    subject: str
    home: Sequence[str]
    away: Sequence[str]

    @property
    def heading(self) -> str:
        return f"{self.home[0]} – {self.away[0]}"


def has_score(text: str) -> bool:
    return _SCORE.search(text) is not None


def find_told(text: str, matches: Iterable[GuardedMatch]) -> GuardedMatch | None:
    """The match whose score these words tell: they name both sides, and a score."""
    if not has_score(text):
        return None
    words = f" {_fold(text)} "
    return next((one for one in matches if _names(words, one.home) and _names(words, one.away)), None)


def cover_title(title: str, matches: Iterable[GuardedMatch]) -> str:
    """The title, or the match whose score it would tell."""
    match = find_told(title, matches)
    return match.heading if match else title


def _names(words: str, names: Sequence[str]) -> bool:
    return any(f" {name} " in words for name in _spellings(names))


def _spellings(names: Sequence[str]) -> Iterable[str]:
    for name in names:
        folded = _fold(name)
        short = " ".join(word for word in folded.split() if word not in _FORMS)
        yield from (one for one in (folded, short) if len(one) >= SHORTEST_NAME)


def _fold(text: str) -> str:
    """In small letters without accents and marks, words apart by one space; a possessive s stays a word of its own."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    return _NO_WORD.sub(" ", plain.casefold()).strip()
