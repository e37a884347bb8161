"""Passages that may answer a question: which entries, which windows of their texts, and in which order. Pure."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from pressbox.curator.text.words import compose, to_index_terms

# About a paragraph. In scripts without spaces, one character is about a syllable or two.
LONGEST, LONGEST_UNSPACED = 700, 280
# A longer sentence is cut.
LONGEST_SENTENCE = 1_500
# The text of a whole book is not read to its end.
MOST_WINDOWS = 600
# Words with the same stem count as related: plurals, cases and so on.
SHORTEST_STEM = 4
# Endings of the languages that most feeds are written in, the longest first.
_ENDINGS = re.compile("(?:ungen|ment|ions|ing|ern|ies|aux|ed|en|er|em|es|os|as|e|s|n)$")
# A word that is longer by more is mostly another word.
_LONGER = 4
RELATED_WEIGHT = 0.5
_TITLE_WEIGHT = 0.4
# Every repetition of a word counts less.
_SATURATION = 1.2

# What each is worth: the words of the passage, its meaning, and the score of its entry.
WORDS_WEIGHT, MEANING_WEIGHT, ENTRY_WEIGHT = 0.45, 0.4, 0.15
# Where an article has so many of the question's words, words decide and meaning only settles ties: small models of
# meaning push good results down then. Without the words, as in another language, meaning is all there is.
SHARED_WORDS = 0.5
TIE_WEIGHT = 0.1
# For people, who read what is found. Over 62 questions with eight passages each a fifth of the passages were right; of
# those that reach this share of the best score nearly half are, and no question loses its right one.
RELEVANT = 0.7
# The vectors of two texts of any kind are mostly nearer to each other than at right angles.
LEAST_MEANING = 0.2
# How fast a rank loses worth: with 60, the first is worth about twice the fiftieth.
RANK_CONSTANT = 60

_ENDS = re.compile("(?<=[.!?…])[\"'”’»)\\]]*\\s+|(?<=[。！？｡])[」』）】”]*|\n+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


class FoundBy(StrEnum):
    FULL_TEXT = "full text"
    VECTORS = "vectors"
    GRAPH = "graph"


@dataclass(frozen=True)
class Passage:
    """`start` and `end` are characters of the entry's `filtered_content`; `text` is what lies between them."""

    entry_id: int
    feed_id: int
    title: str
    feed_title: str
    url: str
    published_at: datetime
    start: int
    end: int
    text: str
    score: float
    found_by: tuple[FoundBy, ...]


@dataclass(frozen=True)
class Candidate:
    """An entry that may answer. Its `score` compares only with others of the same ranking."""

    entry_id: int
    score: float
    found_by: tuple[FoundBy, ...]


@dataclass(frozen=True)
class Window:
    """Characters `start` to `end` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def overlaps(self, other: "Window") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Excerpt:
    """A window of an entry's text. `entry_score`, `words` and `meaning` are from 0 to 1."""

    entry_id: int
    window: Window
    text: str
    title: str
    entry_score: float
    words: float = 0.0
    meaning: float = 0.0


def fuse_rankings(
    rankings: Mapping[FoundBy, Sequence[int]],
    constant: int = RANK_CONSTANT,
    weights: Mapping[FoundBy, float] | None = None,
) -> list[Candidate]:
    """Join rankings by reciprocal rank fusion: what several searches find comes first, and no scores are compared."""
    weights = weights or {}
    scores: dict[int, float] = {}
    found: dict[int, list[FoundBy]] = {}
    for search, ranking in rankings.items():
        for rank, entry_id in enumerate(dict.fromkeys(ranking), start=1):
            scores[entry_id] = scores.get(entry_id, 0.0) + weights.get(search, 1.0) / (constant + rank)
            found.setdefault(entry_id, []).append(search)
    order = sorted(scores, key=lambda entry_id: (-scores[entry_id], entry_id))
    return [Candidate(entry_id, scores[entry_id], tuple(found[entry_id])) for entry_id in order]


def search_weights(terms: Sequence[str], texts: Sequence[str]) -> dict[FoundBy, float]:
    """What each search is worth, by how much of the question stands in the best texts that its words found."""
    counts = [_TermCounts.of(text) for text in texts]
    share = max((sum(one.count(term) > 0 for term in terms) for one in counts), default=0) / max(1, len(terms))
    return {FoundBy.VECTORS: TIE_WEIGHT} if share >= SHARED_WORDS else {}


def split_into_windows(text: str) -> list[Window]:
    """Split a text into windows that overlap by a sentence, so that neighbouring sentences share a window."""
    longest = LONGEST_UNSPACED if _is_unspaced(text) else LONGEST
    found: list[Window] = []
    held: list[Window] = []
    for sentence in _sentences(text):
        if held and sentence.end - held[0].start > longest:
            found.append(Window(held[0].start, held[-1].end))
            # A long sentence is not repeated.
            held = held[-1:] if len(held) > 1 and _size(held[-1]) < longest // 3 else []
        held.append(sentence)
        if len(found) >= MOST_WINDOWS:
            return found
    if held:
        found.append(Window(held[0].start, held[-1].end))
    return found


def score_excerpts(terms: Sequence[str], excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    scores = lexical_scores(terms, [one.text for one in excerpts], [one.title for one in excerpts])
    return [replace(one, words=score) for one, score in zip(excerpts, scores, strict=True)]


def preselect_excerpts(excerpts: Sequence[Excerpt], limit: int) -> list[Excerpt]:
    """Select the excerpts whose meaning is compared. Of each entry the best and the first are always among them: the
    opening says what it is about, in whatever language the question is.
    """
    by_entry: dict[int, list[Excerpt]] = {}
    for one in excerpts:
        by_entry.setdefault(one.entry_id, []).append(one)
    certain = [
        one
        for ones in by_entry.values()
        for one in dict.fromkeys((ones[0], max(ones, key=lambda each: (each.words, -each.window.start))))
    ]
    rest = sorted((one for one in excerpts if one not in set(certain)), key=lambda one: -(one.words + one.entry_score))
    return [*certain, *rest][: max(limit, len(by_entry))]


def rank_excerpts(
    excerpts: Sequence[Excerpt], question: Sequence[float] | None, vectors: Sequence[Sequence[float]] | None
) -> list[tuple[Excerpt, float]]:
    """Return the excerpts with their scores, best first. Without vectors the words decide."""
    meanings = [0.0] * len(excerpts)
    if question is not None and vectors is not None:
        meanings = [max(0.0, cosine(question, vector)) for vector in vectors]
    best_words = max((one.words for one in excerpts), default=0.0) or 1.0
    meaning_weight = TIE_WEIGHT if best_words >= SHARED_WORDS and any(one.words for one in excerpts) else MEANING_WEIGHT
    best_meaning = max(meanings, default=0.0) or 1.0
    scored = [
        (
            replace(one, meaning=meaning),
            WORDS_WEIGHT * one.words / best_words
            + meaning_weight * meaning / best_meaning
            + ENTRY_WEIGHT * one.entry_score,
        )
        for one, meaning in zip(excerpts, meanings, strict=True)
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].entry_id, pair[0].window.start))


def keep_relevant(ranking: Sequence[tuple[Excerpt, float]]) -> list[tuple[Excerpt, float]]:
    """Keep those nearly as good as the best one, of those that share words or meaning with the question at all."""
    related = [(one, score) for one, score in ranking if one.words or one.meaning >= LEAST_MEANING]
    best = max((score for _, score in related), default=0.0)
    return [(one, score) for one, score in related if score >= RELEVANT * best]


def choose_excerpts(
    ranking: Sequence[tuple[Excerpt, float]], limit: int, per_entry: int
) -> list[tuple[Excerpt, float]]:
    """Choose the best that do not overlap, and of each entry only so many."""
    kept: list[tuple[Excerpt, float]] = []
    counts: Counter[int] = Counter()
    for one, score in ranking:
        if len(kept) == limit:
            break
        same_entry = (other for other, _ in kept if other.entry_id == one.entry_id)
        if counts[one.entry_id] >= per_entry or any(one.window.overlaps(other.window) for other in same_entry):
            continue
        kept.append((one, score))
        counts[one.entry_id] += 1
    return kept


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def lexical_scores(terms: Sequence[str], texts: Sequence[str], titles: Sequence[str]) -> list[float]:
    """Score each text by its terms, from 0 to 1; terms in its title count less.

    Rare terms count most, as in BM25; the texts themselves are the collection.
    """
    counts = [_TermCounts.of(text) for text in texts]
    title_counts = {title: _TermCounts.of(title) for title in set(titles)}
    weights = {term: _rarity(sum(one.count(term) > 0 for one in counts), len(counts)) for term in terms}
    best = sum(weights.values()) or 1.0
    return [
        sum(
            weight * max(_saturate(one.count(term)), _TITLE_WEIGHT * (title_counts[title].count(term) > 0))
            for term, weight in weights.items()
        )
        / best
        for one, title in zip(counts, titles, strict=True)
    ]


def stem(term: str) -> str:
    """Return the beginning that other forms of a word share, or "" for words that are too short."""
    if len(term) < SHORTEST_STEM or not term.isalpha() or _UNSPACED.match(term):
        return ""
    ending = _ENDINGS.search(term)
    return term if ending is None else term[: max(SHORTEST_STEM, ending.start())]


@dataclass(frozen=True)
class _TermCounts:
    """How often a text has each term; sorted, so that those with the same stem are neighbours."""

    terms: Counter[str]
    order: list[str]

    @classmethod
    def of(cls, text: str) -> "_TermCounts":
        terms = Counter(to_index_terms(compose(text)).split())
        return cls(terms, sorted(terms))

    def count(self, term: str) -> float:
        exact, root = self.terms[term], stem(term)
        if not root:
            return exact
        related = 0
        for place in range(bisect_left(self.order, root), len(self.order)):
            other = self.order[place]
            if not other.startswith(root):
                break
            related += self.terms[other] if other != term and len(other) <= len(term) + _LONGER else 0
        return exact + RELATED_WEIGHT * related


def _saturate(count: float) -> float:
    return count * (1 + _SATURATION) / (count + _SATURATION) / (1 + _SATURATION) if count else 0.0


def _rarity(having: int, count: int) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _sentences(text: str) -> Iterator[Window]:
    start = 0
    for end in (*(found.end() for found in _ENDS.finditer(text)), len(text)):
        for begin in range(start, end, LONGEST_SENTENCE):
            piece = text[begin : min(end, begin + LONGEST_SENTENCE)]
            left = begin + len(piece) - len(piece.lstrip())
            right = begin + len(piece.rstrip())
            if left < right:
                yield Window(left, right)
        start = end


def _size(window: Window) -> int:
    return window.end - window.start


def _is_unspaced(text: str) -> bool:
    sample = text[:2_000]
    return len(_UNSPACED.findall(sample)) * 3 > len(sample)
