"""Finds the words of a query in a text, and the snippet that a hit shows of its entry, as escaped HTML. Pure."""

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
    allows_prefix,
    allows_typo,
    halves,
    typo_matcher,
)
from pressbox.curator.search.ports import Hit, IndexDocument
from pressbox.curator.text.words import LETTER, Word, compose, fold, fold_lengths

SNIPPET_LENGTH = 240
# How far before its first word a snippet begins.
LEAD = 60
MOST_SPANS = 50
# Half of a shorter word is in too many others.
SHORTEST_HALVED = 7

_GAP = re.compile(r"[\W_]*")
_ONE = re.compile(LETTER)
_REST = re.compile(f"{LETTER}*")
_WORDS = re.compile(r"[^\W\d_]{3,64}")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Span:
    """The part of a text that matches clause number `clause`."""

    start: int
    end: int
    clause: int


@dataclass(frozen=True)
class Highlights:
    """A text with the spans that were found in it."""

    text: str
    spans: tuple[Span, ...]

    @property
    def clauses(self) -> frozenset[int]:
        return frozenset(span.clause for span in self.spans)


class Highlighter:
    """Made once for a query and used for all of its hits. It searches strings, since patterns take ten times as long.

    With `typos`, words with a typo are marked where no exact one is found.
    """

    def __init__(self, query: SearchQuery, *, typos: bool = True) -> None:
        self._clauses = query.included
        self._typos = typos
        # By clause, whether a word matches it: the same words occur in every hit.
        self._matches: list[dict[str, bool]] = [{} for _ in self._clauses]

    @property
    def clauses(self) -> int:
        return len(self._clauses)

    def find(self, text: str, field: Field = Field.ANY) -> Highlights:
        """Find the query in a text as the index stores it, that is composed."""
        plain = fold(text)
        spans: list[Span] = []
        for number, clause in enumerate(self._clauses):
            if clause.field in (Field.ANY, field):
                places = list(islice(_find_clause(plain, clause), MOST_SPANS)) or self._find_typos(plain, number)
                spans += [Span(start, end, number) for start, end in places]
        return Highlights(text, _drop_overlaps(_to_original(text, spans)))

    def _find_typos(self, plain: str, number: int) -> Sequence[tuple[int, int]]:
        words = self._clauses[number].words
        if not self._typos or not any(allows_typo(word) for word in words):
            return ()
        known, matchers = self._matches[number], [typo_matcher(word) for word in words]
        candidates = _typo_candidates(plain, words)
        known.update({other: any(matches(other) for matches in matchers) for other in candidates - known.keys()})
        similar = [Clause((Word(other, 0, unspaced=False),), exact=True) for other in candidates if known[other]]
        return [place for one in similar for place in islice(_find_clause(plain, one), MOST_SPANS)]


def text_html(found: Highlights) -> str:
    return _html(found.text, 0, len(found.text), found.spans)


def snippet_html(found: Highlights, length: int = SNIPPET_LENGTH) -> str:
    """Return the part with the most different words of the query, or the beginning when there is none."""
    start = _best_start(found, length)
    text = found.text
    if start > 0:
        blank = text.find(" ", start, start + 20)
        start = blank + 1 if blank >= 0 else start
    end = min(len(text), start + length)
    if end < len(text):
        blank = text.rfind(" ", max(start, end - 20), end)
        end = blank if blank > start else end
    inside = [span for span in found.spans if span.start >= start and span.end <= end]
    shown = _BLANKS.sub(" ", _html(text, start, end, inside)).strip()
    return f"{'… ' if start > 0 else ''}{shown}{' …' if end < len(text) else ''}"


def _best_start(found: Highlights, length: int) -> int:
    spans = found.spans
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


def _find_clause(plain: str, clause: Clause) -> Iterator[tuple[int, int]]:
    """Find a clause in a folded text."""
    first = clause.words[0].text
    at = plain.find(first)
    while at >= 0:
        end = _end(plain, at, clause)
        if end is not None:
            yield at, end
        at = plain.find(first, at + 1 if end is None else end)


def _end(plain: str, at: int, clause: Clause) -> int | None:
    """Return where a clause that begins here ends, or None when it is something else."""
    before: Word | None = None
    for word in clause.words:
        if before is not None:
            gap = _end_of(_GAP, plain, at)
            # Words in scripts without spaces need nothing between them.
            if gap == at and not (before.unspaced or word.unspaced):
                return None
            at = gap
        if not plain.startswith(word.text, at) or (not word.unspaced and _is_letter(plain, at - 1)):
            return None
        at += len(word.text)
        if not word.unspaced and _is_letter(plain, at):
            if word is not clause.words[-1] or clause.exact or not allows_prefix(word):
                return None
            at = _end_of(_REST, plain, at)
        before = word
    return at


def _typo_candidates(plain: str, words: Sequence[Word]) -> set[str]:
    """Return the words of the text that may match with a typo: few, when the words are long enough."""
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


def _to_original(text: str, spans: Sequence[Span]) -> Sequence[Span]:
    """Turn positions in the folded text into positions in the text: `ß` is two letters there and one here."""
    lengths = fold_lengths(text)
    if not spans or not lengths:
        return spans
    # Where characters begin that fold to several or none, and by how much they shift the rest.
    begins, shifts = [-1], [0]
    for odd in re.finditer(f"[{re.escape(''.join(lengths))}]", text):
        begins.append(odd.start() + shifts[-1])
        shifts.append(shifts[-1] + lengths[odd[0]] - 1)

    def original(place: int) -> int:
        at = bisect_right(begins, place) - 1
        # A position inside such a character is that character.
        return max(place - shifts[at], begins[at] - shifts[at - 1]) if at else place

    return [Span(original(span.start), original(span.end - 1) + 1, span.clause) for span in spans]


def _drop_overlaps(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans in order, without those that overlap an earlier one."""
    done: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not done or span.start >= done[-1].end:
            done.append(span)
    return tuple(done)


# Nobody reads further, and no index needs more.
LONGEST_TEXT = 200_000


@dataclass(frozen=True)
class ShownText:
    """The texts that a hit shows, with the words of the query highlighted."""

    title: str
    summary: str
    content: str
    feed_content: str


def text_to_show(entry: IndexDocument) -> ShownText:
    return ShownText(
        title=compose(entry.title),
        summary=compose(entry.summary),
        content=compose(entry.filtered_content[:LONGEST_TEXT]),
        feed_content=compose(entry.feed_content[:LONGEST_TEXT]),
    )


def show_hit(entry_id: int, score: float, shown: ShownText, highlighter: Highlighter) -> Hit:
    title = text_html(highlighter.find(shown.title, Field.TITLE))
    return Hit(entry_id, score, title, snippet_html(_best_text(shown, highlighter)))


def _best_text(shown: ShownText, highlighter: Highlighter) -> Highlights:
    """Return the text with most words of the query, or the summary when none has any."""
    best = Highlights(shown.summary or shown.content or shown.feed_content, ())
    for text in filter(None, (shown.content, shown.summary, shown.feed_content)):
        found = highlighter.find(text)
        if len(found.clauses) > len(best.clauses):
            best = found
        if len(best.clauses) == highlighter.clauses:
            break
    return best
