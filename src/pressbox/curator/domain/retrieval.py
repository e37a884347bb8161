"""Passages of articles that may answer a question. Pure."""

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
    score: float = 0.0
    found_by: tuple[FoundBy, ...] = ()
