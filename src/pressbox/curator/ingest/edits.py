"""Tells how an entry's text differs from the one before: not at all, in a figure, or in its words. Pure."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby

from pressbox.curator.text.plain_text import to_plain_text

# Of what is longer, the rest is an edit as soon as it differs.
_LONGEST_COMPARED = 200_000
# Where only figures change again and again, an entry is done again ever more seldom.
_FIGURES_AT_MOST_EVERY = timedelta(hours=1)
_FIGURES_SHARE_OF_AGE = 4


class Edit(StrEnum):
    """How an entry's text differs from the one before."""

    NONE = "none"
    # A correction ("3 dead" becomes "5 dead"), or a counter in words that we do not know.
    FIGURES = "figures"
    WORDS = "words"


@dataclass(frozen=True)
class Version:
    """What a feed says, or said, of an entry."""

    title: str
    html: str

    @property
    def text(self) -> str:
        return f"{self.title}\n{to_plain_text(self.html)}"


@dataclass(frozen=True)
class Change:
    before: Version
    after: Version


def compare_all(changes: tuple[Change, ...]) -> tuple[Edit, ...]:
    """Tell of each how it differs. The texts are those of strangers: not for the event loop."""
    return tuple(compare_texts(change.before.text, change.after.text) for change in changes)


def compare_texts(before: str, after: str) -> Edit:
    """Tell how two texts differ. A feed that counts comments has not edited its articles."""
    if before[_LONGEST_COMPARED:] != after[_LONGEST_COMPARED:]:
        return Edit.WORDS
    kept, counted = _take_counters(before[:_LONGEST_COMPARED])
    told, counts = _take_counters(after[:_LONGEST_COMPARED])
    if "".join(kept.split()) == "".join(told.split()):
        return Edit.NONE if _has_only_grown(counted, counts) else Edit.FIGURES
    return Edit.FIGURES if _FIGURES.sub("", kept) == _FIGURES.sub("", told) else Edit.WORDS


def is_due_for_figures(first_seen_at: datetime, edited_at: datetime, now: datetime) -> bool:
    """Whether an entry whose figures changed is done again now; otherwise a later crawl finds the change again."""
    return now - edited_at >= max(_FIGURES_AT_MOST_EVERY, (now - first_seen_at) / _FIGURES_SHARE_OF_AGE)


_FIGURES = re.compile(r"\d++(?:[.,]\d++)*+|\s++")
# What only counters are called. Whoever counts them does so in lines of their own.
_TALK = (
    r"(?:comments?|replies|upvotes|likes?|boosts?|views?|downloads?|kommentare?|antworten|aufrufe"
    r"|commentaires?|vues?|comentarios?)"
)
# An article may be about these: they are counters only in company of one of the others.
_OTHER = r"(?:points?|votes?|shares?|reads?|stars?|punkte?|stimmen|leser|votos?)"
_NUMBER = r"(?:\d{1,3}(?:[.,\u202f ]\d{3}){1,3}+|\d{1,12}+)(?![.,]?\d)"
_COUNTER = re.compile(
    rf"(?P<first>{_NUMBER}) ?(?P<name>{_TALK}|{_OTHER})\b"
    rf"|\b(?P<label>{_TALK}|{_OTHER})(?: ?[:#(–-]){{0,3}} ?(?P<last>{_NUMBER})",
    re.IGNORECASE,
)
_IS_TALK = re.compile(_TALK, re.IGNORECASE)
_BESIDE_COUNTERS = " \t#()[]|·•,;/–-"
# There are a handful of counters in a line.
_LONGEST_LINE = 200

# How much of what; of several with the same name, which one.
_Counts = Mapping[tuple[str, int], int]


def _take_counters(text: str) -> tuple[str, _Counts]:
    """Return the text without its lines of counters, and what they say."""
    kept: list[str] = []
    counts: list[tuple[str, int]] = []
    for are_counters, lines in groupby(text.split("\n"), key=_is_line_of_counters):
        block = list(lines)
        found = [counter for line in block for counter in _read_counters(line)] if are_counters else []
        if any(_IS_TALK.fullmatch(name) for name, _ in found):
            counts += found
        else:
            kept += block
    seen: Counter[str] = Counter()
    numbered: dict[tuple[str, int], int] = {}
    for name, count in counts:
        # One comment, two comments.
        one = name.casefold().rstrip("es")
        numbered[one, seen[one]] = count
        seen[one] += 1
    return "\n".join(kept), numbered


def _is_line_of_counters(line: str) -> bool:
    if len(line) > _LONGEST_LINE:
        return False
    rest, found = _COUNTER.subn("", line)
    return bool(found) and not rest.strip(_BESIDE_COUNTERS)


def _read_counters(line: str) -> list[tuple[str, int]]:
    return [
        (found["name"] or found["label"], int("".join(filter(str.isdecimal, found["first"] or found["last"]))))
        for found in _COUNTER.finditer(line)
    ]


def _has_only_grown(before: _Counts, after: _Counts) -> bool:
    return all(after.get(name, -1) >= count for name, count in before.items())
