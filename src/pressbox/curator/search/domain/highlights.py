"""Where a query's words stand in a text, and the passage that shows most of them, as escaped HTML with <mark>.

Pure.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice

from pressbox.curator.search.domain.query import (
    Clause,
    Field,
    SearchQuery,
    halves,
    may_be_misspelt,
    may_begin_a_word,
    near_to,
)
from pressbox.curator.text.words import LETTER, Word, fold, fold_lengths

SNIPPET_LENGTH = 240
# How far before the first hit a snippet begins.
LEAD = 60
MOST_SPANS = 50
# Half of a shorter word stands in too many others.
SHORTEST_HALVED = 7

_GAP = re.compile(r"[\W_]*")
_ONE = re.compile(LETTER)
_REST = re.compile(f"{LETTER}*")
_WORDS = re.compile(r"[^\W\d_]{3,64}")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Span:
    """Part of a text that answers to clause number `clause`."""

    start: int
    end: int
    clause: int


@dataclass(frozen=True)
class Marked:
    """A text with what was found in it."""

    text: str
    spans: tuple[Span, ...]

    @property
    def clauses(self) -> frozenset[int]:
        return frozenset(span.clause for span in self.spans)


class Highlighter:
    """Made once for a query, used for all of its hits. Words are looked for as such: patterns take ten times as long.

    With `slips`, words that are nearly the same are marked where none is exactly.
    """

    def __init__(self, query: SearchQuery, *, slips: bool = True) -> None:
        self._clauses = query.wanted
        self._slips = slips
        # The same words come again in every hit.
        self._near: list[dict[str, bool]] = [{} for _ in self._clauses]

    @property
    def clauses(self) -> int:
        return len(self._clauses)

    def marked(self, text: str, field: Field = Field.ANY) -> Marked:
        """`text` as the index stores it, that is composed."""
        plain = fold(text)
        spans: list[Span] = []
        for number, clause in enumerate(self._clauses):
            if clause.field in (Field.ANY, field):
                places = list(islice(_places(plain, clause), MOST_SPANS)) or self._near_places(plain, number)
                spans += [Span(start, end, number) for start, end in places]
        return Marked(text, _merged(_in_original(text, spans)))

    def _near_places(self, plain: str, number: int) -> Sequence[tuple[int, int]]:
        words = self._clauses[number].words
        if not self._slips or not any(may_be_misspelt(word) for word in words):
            return ()
        known, tests = self._near[number], [near_to(word) for word in words]
        there = _candidates(plain, words)
        known.update({other: any(test(other) for test in tests) for other in there - known.keys()})
        near = [Clause((Word(other, 0, unspaced=False),), exact=True) for other in there if known[other]]
        return [place for one in near for place in islice(_places(plain, one), MOST_SPANS)]


def whole_html(marked: Marked) -> str:
    return _html(marked.text, 0, len(marked.text), marked.spans)


def snippet_html(marked: Marked, length: int = SNIPPET_LENGTH) -> str:
    """The passage with the most different words of the query; the beginning when there is none."""
    start = _best_start(marked, length)
    text = marked.text
    if start > 0:
        blank = text.find(" ", start, start + 20)
        start = blank + 1 if blank >= 0 else start
    end = min(len(text), start + length)
    if end < len(text):
        blank = text.rfind(" ", max(start, end - 20), end)
        end = blank if blank > start else end
    inside = [span for span in marked.spans if span.start >= start and span.end <= end]
    shown = _BLANKS.sub(" ", _html(text, start, end, inside)).strip()
    return f"{'… ' if start > 0 else ''}{shown}{' …' if end < len(text) else ''}"


def _best_start(marked: Marked, length: int) -> int:
    spans = marked.spans
    best, start = 0, 0
    for at, span in enumerate(spans):
        begin = 0 if span.end <= length else max(0, span.start - LEAD)
        seen = {other.clause for other in spans[at:] if other.end <= begin + length}
        if len(seen) > best:
            best, start = len(seen), begin
    return start


def _html(text: str, start: int, end: int, spans: Sequence[Span]) -> str:
    parts, at = [], start
    for span in spans:
        parts += [escape(text[at : span.start]), "<mark>", escape(text[span.start : span.end]), "</mark>"]
        at = span.end
    return "".join((*parts, escape(text[at:end])))


def _places(plain: str, clause: Clause) -> Iterator[tuple[int, int]]:
    """Where the clause stands in a folded text."""
    first = clause.words[0].text
    at = plain.find(first)
    while at >= 0:
        end = _end(plain, at, clause)
        if end is not None:
            yield at, end
        at = plain.find(first, at + 1 if end is None else end)


def _end(plain: str, at: int, clause: Clause) -> int | None:
    """Where the clause that may begin here ends; None when it is something else."""
    before: Word | None = None
    for word in clause.words:
        if before is not None:
            gap = _end_of(_GAP, plain, at)
            # Between scripts there need not be anything.
            if gap == at and not (before.unspaced or word.unspaced):
                return None
            at = gap
        if not plain.startswith(word.text, at) or (not word.unspaced and _is_letter(plain, at - 1)):
            return None
        at += len(word.text)
        if not word.unspaced and _is_letter(plain, at):
            if word is not clause.words[-1] or clause.exact or not may_begin_a_word(word):
                return None
            at = _end_of(_REST, plain, at)
        before = word
    return at


def _candidates(plain: str, words: Sequence[Word]) -> set[str]:
    """Words of the text among which the near ones are: few, where the words are long enough."""
    if any(len(word.text) < SHORTEST_HALVED for word in words):
        return set(_WORDS.findall(plain))
    return {found for word in words for half in halves(word) for found in _words_with(plain, half)}


def _words_with(plain: str, part: str) -> Iterator[str]:
    at = plain.find(part)
    while at >= 0:
        start, end = at, _end_of(_REST, plain, at)
        while _is_letter(plain, start - 1):
            start -= 1
        yield plain[start:end]
        at = plain.find(part, max(end, at + 1))


def _is_letter(plain: str, at: int) -> bool:
    return at >= 0 and _ONE.match(plain, at) is not None


def _end_of(pattern: re.Pattern[str], plain: str, at: int) -> int:
    found = pattern.match(plain, at)
    return at if found is None else found.end()


def _in_original(text: str, spans: Sequence[Span]) -> Sequence[Span]:
    """From places in the folded text to places in the text: `ß` is two letters there and one here."""
    lengths = fold_lengths(text)
    if not spans or not lengths:
        return spans
    # Where folded characters begin that are not one, and how far the rest is moved from there on.
    begins, moved = [-1], [0]
    for odd in re.finditer(f"[{re.escape(''.join(lengths))}]", text):
        begins.append(odd.start() + moved[-1])
        moved.append(moved[-1] + lengths[odd[0]] - 1)

    def original(place: int) -> int:
        at = bisect_right(begins, place) - 1
        # Inside of what one character became, it is that character.
        return max(place - moved[at], begins[at] - moved[at - 1]) if at else place

    return [Span(original(span.start), original(span.end - 1) + 1, span.clause) for span in spans]


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """In order, none over another."""
    done: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not done or span.start >= done[-1].end:
            done.append(span)
    return tuple(done)
