"""What is judged, by which measures, and the estimate that needs no model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.curator.text.sentences import extract_terms

# As much as a model gets of an article when it summarises it: it is not judged by what it did not see.
LONGEST_CONTEXT = 16_000
LONGEST_TEXT = 8_000
MOST_SENTENCES = 40
MOST_PASSAGES = 400
# A sentence counts as supported when one place has this share of its words that carry meaning.
MIN_OVERLAP = 0.75
# Sentences this close say the same, measured with the bundled vectors: the farthest paraphrase has 0.68, the nearest
# other sentence 0.62 in the sixteen pairs of test_evaluation_pairs.py.
MIN_SIMILARITY = 0.66
_CITATION = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_MARKUP = re.compile(r"^\s*(?:[#>*-]+|\d+\.)\s+|[*_`]{1,3}", re.MULTILINE)
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


class SubjectKind(StrEnum):
    ANSWER = "answer"
    RESEARCH = "research"
    SUMMARY = "summary"


class Metric(StrEnum):
    """Estimates have names of their own, so that nobody takes them for a model's judgement."""

    FAITHFULNESS = "faithfulness"
    ANSWER_RELEVANCY = "answer_relevancy"
    SUPPORT_ESTIMATE = "support_estimate"
    RELEVANCE_ESTIMATE = "relevance_estimate"


@dataclass(frozen=True)
class Judged:
    """A text that a model wrote to a question, based on `contexts`. `model` and `prompt_version` say who wrote it."""

    kind: SubjectKind
    subject_id: int
    question: str
    text: str
    contexts: tuple[str, ...]
    model: str
    prompt_version: str
    language: str = ""
    entry_id: int | None = None

    @property
    def can_be_judged(self) -> bool:
        return bool(self.question.strip() and self.text.strip() and any(one.strip() for one in self.contexts))


@dataclass(frozen=True)
class Measure:
    """`score` is between 0 and 1, the more the better."""

    metric: Metric
    score: float


def strip_markup(text: str) -> str:
    """Remove citations and Markdown: they say nothing that could be true or false."""
    return _MARKUP.sub("", _CITATION.sub("", text)).strip()


def statements(text: str, most: int = MOST_SENTENCES) -> list[str]:
    """The sentences of a text, roughly: an estimate needs no better ends."""
    found = (" ".join(part.split()) for part in _ENDS.split(strip_markup(text)))
    return [part for part in found if any(character.isalnum() for character in part)][:most]


def limit_contexts(contexts: Sequence[str], longest: int = LONGEST_CONTEXT) -> tuple[str, ...]:
    """The first contexts, together not longer than `longest`."""
    kept, left = [], longest
    for context in contexts:
        if left <= 0:
            break
        kept.append(context[:left])
        left -= len(context)
    return tuple(one for one in kept if one.strip())


def content_words(text: str, language: str) -> frozenset[str]:
    return frozenset(extract_terms(text, language))


def best_overlap(words: frozenset[str], places: Sequence[frozenset[str]]) -> float:
    """The largest share of a statement's words that one place has; 0 for a statement without such words."""
    return max((len(words & place) / len(words) for place in places), default=0.0) if words else 0.0


def clamp(score: float) -> float:
    """Between 0 and 1: a cosine may be below, and rounding above."""
    return min(1.0, max(0.0, score))


def averages(measured: Sequence[Sequence[Measure]]) -> tuple[Measure, ...]:
    """By metric, over those that have it."""
    scores: dict[Metric, list[float]] = {}
    for measures in measured:
        for measure in measures:
            scores.setdefault(measure.metric, []).append(measure.score)
    return tuple(Measure(metric, sum(values) / len(values)) for metric, values in scores.items())
