"""Where a query's words stand in a text, and the passage that shows most of them, as escaped HTML with <mark>.

Pure.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise

from pressbox.curator.domain.searching import (
    Clause,
    Field,
    SearchQuery,
    begins_near,
    is_near,
    may_be_misspelt,
    may_begin_a_word,
    may_begin_misspelt,
)
from pressbox.curator.domain.words import LETTER, Word, fold_lengths, folded

SNIPPET_LENGTH = 240
# How far before the first hit a snippet begins.
LEAD = 60
MOST_SPANS = 200

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
    """Made once for a query, used for all of its hits."""

    def __init__(self, query: SearchQuery) -> None:
        self._clauses = query.wanted
        self._patterns = [re.compile(_pattern(clause)) for clause in self._clauses]

    def marked(self, text: str, field: Field = Field.ANY) -> Marked:
        """`text` as the index stores it, that is composed."""
        plain = folded(text)
        spans: list[Span] = []
        for number, (clause, pattern) in enumerate(zip(self._clauses, self._patterns, strict=True)):
            if clause.field not in (Field.ANY, field):
                continue
            found = [Span(*match.span(), number) for match in _first(pattern, plain)]
            spans += found or _near(clause, number, plain)
        return Marked(text, _merged(_in_original(text, spans)))


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


def _pattern(clause: Clause) -> str:
    parts = [_word_pattern(clause.words[0], clause)]
    for before, word in pairwise(clause.words):
        # Between scripts there need not be anything.
        parts += [r"[\W_]*" if before.unspaced or word.unspaced else r"[\W_]+", _word_pattern(word, clause)]
    return "".join(parts)


def _word_pattern(word: Word, clause: Clause) -> str:
    literal = re.escape(word.text)
    if word.unspaced:
        return literal
    may_go_on = word is clause.words[-1] and not clause.exact and may_begin_a_word(word)
    return rf"(?<!{LETTER}){literal}{LETTER}*" if may_go_on else rf"(?<!{LETTER}){literal}(?!{LETTER})"


def _first(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return [match for _, match in zip(range(MOST_SPANS), pattern.finditer(text), strict=False)]


def _near(clause: Clause, number: int, plain: str) -> list[Span]:
    """Words that are nearly those of the clause; only where none is exactly."""
    if not any(may_be_misspelt(word) for word in clause.words):
        return []
    near = {other for other in set(_WORDS.findall(plain)) if any(_is_near(word, other) for word in clause.words)}
    if not near:
        return []
    pattern = re.compile(rf"(?<!{LETTER})(?:{'|'.join(map(re.escape, near))})(?!{LETTER})")
    return [Span(*match.span(), number) for match in _first(pattern, plain)]


def _is_near(word: Word, other: str) -> bool:
    if not may_be_misspelt(word):
        return word.text == other
    return begins_near(word.text, other) if may_begin_misspelt(word) else is_near(word.text, other)


def _in_original(text: str, spans: Sequence[Span]) -> Sequence[Span]:
    """From places in the folded text to places in the text: `ß` is two letters there and one here."""
    lengths = fold_lengths(text)
    if not spans or not lengths:
        return spans
    ends = list(accumulate(lengths.get(character, 1) for character in text))
    return [Span(bisect_right(ends, span.start), bisect_right(ends, span.end - 1) + 1, span.clause) for span in spans]


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """In order, none over another."""
    done: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not done or span.start >= done[-1].end:
            done.append(span)
    return tuple(done)
