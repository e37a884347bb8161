"""Passages of articles that may answer a question, and how several ways of finding become one order. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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


# How fast a place in a ranking loses worth: with 60 the first is worth about twice the fiftieth.
RANK_CONSTANT = 60


@dataclass(frozen=True)
class Candidate:
    """An entry that may answer. `score` is of no use outside its own ranking."""

    entry_id: int
    score: float
    found_by: tuple[FoundBy, ...]


def fused(rankings: Mapping[FoundBy, Sequence[int]], constant: int = RANK_CONSTANT) -> list[Candidate]:
    """One ranking of several by reciprocal rank fusion: what several find comes first, and no scale needs another."""
    scores: dict[int, float] = {}
    found: dict[int, list[FoundBy]] = {}
    for way, ranking in rankings.items():
        for place, entry_id in enumerate(dict.fromkeys(ranking), start=1):
            scores[entry_id] = scores.get(entry_id, 0.0) + 1 / (constant + place)
            found.setdefault(entry_id, []).append(way)
    order = sorted(scores, key=lambda entry_id: (-scores[entry_id], entry_id))
    return [Candidate(entry_id, scores[entry_id], tuple(found[entry_id])) for entry_id in order]
