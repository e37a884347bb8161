"""From a text to the passages that may answer a question: windows of whole sentences, with exact places. Pure."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pressbox.curator.text.words import compose, to_index_terms

# About a paragraph. Scripts without spaces say in one character what others say in a syllable or two.
LONGEST, LONGEST_UNSPACED = 700, 280
# What runs on without an end is cut.
LONGEST_SENTENCE = 1_500
# A text of a whole book is not looked through to its end.
MOST_WINDOWS = 600
# Words that begin alike count as the same: plurals, cases, and most of what a stem would join.
SHORTEST_STEM = 4
# Endings of the languages that most feeds are written in, the longest first.
_ENDINGS = re.compile("(?:ungen|ment|ions|ing|ern|ies|aux|ed|en|er|em|es|os|as|e|s|n)$")
# A longer word that begins so is mostly another one.
_LONGER = 4
NEAR = 0.5
_TITLE_COUNTS = 0.4
# How many times a word is said matters less and less.
_SATURATION = 1.2

_ENDS = re.compile("(?<=[.!?…])[\"'”’»)\\]]*\\s+|(?<=[。！？｡])[」』）】”]*|\n+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class Window:
    """Characters `start` to `end` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def overlaps(self, other: "Window") -> bool:
        return self.start < other.end and other.start < self.end


def windows(text: str) -> list[Window]:
    """The whole text in windows that overlap by a sentence, so that what belongs together is together in one."""
    longest = LONGEST_UNSPACED if _is_unspaced(text) else LONGEST
    found: list[Window] = []
    held: list[Window] = []
    for sentence in _sentences(text):
        if held and sentence.end - held[0].start > longest:
            found.append(Window(held[0].start, held[-1].end))
            # A long sentence is not said twice.
            held = held[-1:] if len(held) > 1 and _size(held[-1]) < longest // 3 else []
        held.append(sentence)
        if len(found) >= MOST_WINDOWS:
            return found
    if held:
        found.append(Window(held[0].start, held[-1].end))
    return found


def lexical_scores(terms: Sequence[str], texts: Sequence[str], titles: Sequence[str]) -> list[float]:
    """How well each text answers to the terms, from 0 to 1; what its title says counts for less.

    A term that few of the texts have tells most, as in BM25; the texts are each other's collection.
    """
    counted = [_Counted.of(text) for text in texts]
    headed = {title: _Counted.of(title) for title in set(titles)}
    weights = {term: _rarity(sum(one.times(term) > 0 for one in counted), len(counted)) for term in terms}
    best = sum(weights.values()) or 1.0
    return [
        sum(
            weight * max(_worth(one.times(term)), _TITLE_COUNTS * (headed[title].times(term) > 0))
            for term, weight in weights.items()
        )
        / best
        for one, title in zip(counted, titles, strict=True)
    ]


def stem_of(term: str) -> str:
    """The beginning that other forms of a word share; "" for words that are too short to have one."""
    if len(term) < SHORTEST_STEM or not term.isalpha() or _UNSPACED.match(term):
        return ""
    ending = _ENDINGS.search(term)
    return term if ending is None else term[: max(SHORTEST_STEM, ending.start())]


@dataclass(frozen=True)
class _Counted:
    """How often a text says which term; in order, so that those with one beginning are side by side."""

    terms: Counter[str]
    order: list[str]

    @classmethod
    def of(cls, text: str) -> "_Counted":
        terms = Counter(to_index_terms(compose(text)).split())
        return cls(terms, sorted(terms))

    def times(self, term: str) -> float:
        exact, stem = self.terms[term], stem_of(term)
        if not stem:
            return exact
        near = 0
        for place in range(bisect_left(self.order, stem), len(self.order)):
            other = self.order[place]
            if not other.startswith(stem):
                break
            near += self.terms[other] if other != term and len(other) <= len(term) + _LONGER else 0
        return exact + NEAR * near


def _worth(times: float) -> float:
    return times * (1 + _SATURATION) / (times + _SATURATION) / (1 + _SATURATION) if times else 0.0


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
