"""What is judged, by which measures, and the estimate that needs no model. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.curator.text.sentences import terms

# As much as a model gets of an article when it summarises it: nobody is judged by what he did not see.
LONGEST_CONTEXT = 16_000
LONGEST_TEXT = 8_000
MOST_SENTENCES = 40
MOST_PASSAGES = 400
# Of the words of a sentence that carry meaning, so many are in one place of what it stands on.
SAID_THERE = 0.75
# So near in meaning are sentences that say the same, as the bundled vectors measure it: between the 0.68 of the
# farthest paraphrase and the 0.62 of the nearest other sentence in the sixteen pairs of test_evaluation_pairs.py.
MEANT_THERE = 0.66
_CITATION = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_MARKUP = re.compile(r"^\s*(?:[#>*-]+|\d+\.)\s+|[*_`]{1,3}", re.MULTILINE)
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


class SubjectKind(StrEnum):
    ANSWER = "answer"
    RESEARCH = "research"
    SUMMARY = "summary"


class Metric(StrEnum):
    """Estimates have names of their own: they never pass for what a model judged."""

    FAITHFULNESS = "faithfulness"
    ANSWER_RELEVANCY = "answer_relevancy"
    SUPPORT_ESTIMATE = "support_estimate"
    RELEVANCE_ESTIMATE = "relevance_estimate"


@dataclass(frozen=True)
class Judged:
    """A text that somebody wrote to a question, standing on `contexts`; `model` and `prompt_version` are his."""

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


def plain(text: str) -> str:
    """Without the marks of citations and of Markdown: they say nothing that could be true or false."""
    return _MARKUP.sub("", _CITATION.sub("", text)).strip()


def statements(text: str, most: int = MOST_SENTENCES) -> list[str]:
    """The sentences of a text, roughly: an estimate needs no better ends."""
    found = (" ".join(part.split()) for part in _ENDS.split(plain(text)))
    return [part for part in found if any(character.isalnum() for character in part)][:most]


def bounded(contexts: Sequence[str], longest: int = LONGEST_CONTEXT) -> tuple[str, ...]:
    """The first contexts, together not longer than that."""
    kept, left = [], longest
    for context in contexts:
        if left <= 0:
            break
        kept.append(context[:left])
        left -= len(context)
    return tuple(one for one in kept if one.strip())


def telling_words(text: str, language: str) -> frozenset[str]:
    return frozenset(terms(text, language))


def said(words: frozenset[str], places: Sequence[frozenset[str]]) -> float:
    """The largest share of a statement's telling words that one place has. Without any, words prove nothing."""
    return max((len(words & place) / len(words) for place in places), default=0.0) if words else 0.0


def within(score: float) -> float:
    """Between 0 and 1: a cosine may be below, and rounding above."""
    return min(1.0, max(0.0, score))


def averages(measured: Sequence[Sequence[Measure]]) -> tuple[Measure, ...]:
    """By metric, over those that have it."""
    scores: dict[Metric, list[float]] = {}
    for measures in measured:
        for measure in measures:
            scores.setdefault(measure.metric, []).append(measure.score)
    return tuple(Measure(metric, sum(values) / len(values)) for metric, values in scores.items())
