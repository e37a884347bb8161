"""The evaluator that needs no model: it estimates by shared words and by vectors, and its metrics say so."""

import asyncio
from collections.abc import Sequence
from typing import Any

from pressbox.curator.evaluate.domain import (
    MIN_OVERLAP,
    MIN_SIMILARITY,
    MOST_PASSAGES,
    Judged,
    Measure,
    Metric,
    best_overlap,
    clamp,
    content_words,
    statements,
    strip_markup,
)
from pressbox.curator.search.ports import Embedder

NAME = "offline"


class OfflineEvaluator:
    """`support_estimate`: the share of sentences that one place of the contexts says too, in words or in meaning.
    `relevance_estimate`: how near the whole text is to the question.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return NAME

    async def judge(self, judged: Judged) -> Sequence[Measure]:
        sentences = statements(judged.text)
        places = [place for context in judged.contexts for place in statements(context, MOST_PASSAGES)][:MOST_PASSAGES]
        if not sentences or not places:
            return ()
        question, whole = await self._embedder.embed((judged.question, strip_markup(judged.text)))
        (near,) = nearest([question], [whole])
        supported = await self._count_supported(sentences, places, judged.language)
        return (
            Measure(Metric.SUPPORT_ESTIMATE, supported / len(sentences)),
            Measure(Metric.RELEVANCE_ESTIMATE, clamp(near)),
        )

    async def _count_supported(self, sentences: Sequence[str], places: Sequence[str], language: str) -> int:
        """Count supported sentences. Vectors take most of the time, so they only decide what words leave in doubt."""
        # Thousands of comparisons: beside the event loop, not on it.
        by_words = await asyncio.to_thread(_overlaps, sentences, places, language)
        doubtful = [sentence for sentence, score in zip(sentences, by_words, strict=True) if score < MIN_OVERLAP]
        if not doubtful:
            return len(sentences)
        vectors = await self._embedder.embed([*doubtful, *places])
        by_meaning = await asyncio.to_thread(nearest, vectors[: len(doubtful)], vectors[len(doubtful) :])
        return len(sentences) - sum(score < MIN_SIMILARITY for score in by_meaning)


def _overlaps(sentences: Sequence[str], places: Sequence[str], language: str) -> list[float]:
    there = [content_words(place, language) for place in places]
    return [best_overlap(content_words(sentence, language), there) for sentence in sentences]


def nearest(vectors: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> list[float]:
    """For each vector the largest cosine with one of the others."""
    # Comes with the embedders: nothing is loaded here that is not there already.
    import numpy

    one, other = (_normalise(numpy.asarray(given, dtype=numpy.float32)) for given in (vectors, others))
    return [float(value) for value in (one @ other.T).max(axis=1)]


def _normalise(vectors: Any) -> Any:
    """Scale to length 1; the zero vector stays as it is, and is near to none."""
    lengths = (vectors**2).sum(axis=1, keepdims=True) ** 0.5
    return vectors / lengths.clip(min=1e-12)
