"""Which passages to stand on: by words and by meaning, of several entries rather than five of one. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pressbox.curator.search.domain.passages import Window, lexical_scores

# What each is worth: the passage's own words, its meaning, and how well its entry was found.
WORDS, MEANING, STANDING = 0.45, 0.4, 0.15


@dataclass(frozen=True)
class Excerpt:
    """A window of an entry's text. `standing` is how well the entry was found, from 0 to 1."""

    entry_id: int
    window: Window
    text: str
    title: str
    standing: float
    words: float = 0.0


def lexically_scored(terms: Sequence[str], excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    scores = lexical_scores(terms, [one.text for one in excerpts], [one.title for one in excerpts])
    return [replace(one, words=score) for one, score in zip(excerpts, scores, strict=True)]


def lexically_best(excerpts: Sequence[Excerpt], limit: int) -> list[Excerpt]:
    """Those whose meaning is worth a look. Of each entry the best and the first: an opening says what it is about,
    in whatever language the question was asked.
    """
    by_entry: dict[int, list[Excerpt]] = {}
    for one in excerpts:
        by_entry.setdefault(one.entry_id, []).append(one)
    sure = [
        one
        for ones in by_entry.values()
        for one in dict.fromkeys((ones[0], max(ones, key=lambda each: (each.words, -each.window.start))))
    ]
    rest = sorted((one for one in excerpts if one not in set(sure)), key=lambda one: -(one.words + one.standing))
    return [*sure, *rest][: max(limit, len(by_entry))]


def ranked(
    excerpts: Sequence[Excerpt], question: Sequence[float] | None, vectors: Sequence[Sequence[float]] | None
) -> list[tuple[Excerpt, float]]:
    """Best first, with scores. Without vectors the words decide."""
    meanings = [0.0] * len(excerpts)
    if question is not None and vectors is not None:
        meanings = [max(0.0, cosine(question, vector)) for vector in vectors]
    best_words = max((one.words for one in excerpts), default=0.0) or 1.0
    best_meaning = max(meanings, default=0.0) or 1.0
    scored = [
        (one, WORDS * one.words / best_words + MEANING * meaning / best_meaning + STANDING * one.standing)
        for one, meaning in zip(excerpts, meanings, strict=True)
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].entry_id, pair[0].window.start))


def chosen(order: Sequence[tuple[Excerpt, float]], limit: int, per_entry: int) -> list[tuple[Excerpt, float]]:
    """The best, none over another of its entry, and of each entry only so many."""
    kept: list[tuple[Excerpt, float]] = []
    counted: Counter[int] = Counter()
    for one, score in order:
        if len(kept) == limit:
            break
        taken = (other for other, _ in kept if other.entry_id == one.entry_id)
        if counted[one.entry_id] >= per_entry or any(one.window.overlaps(other.window) for other in taken):
            continue
        kept.append((one, score))
        counted[one.entry_id] += 1
    return kept


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
