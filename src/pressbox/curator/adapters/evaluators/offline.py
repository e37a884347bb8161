"""The evaluator that needs no model: an estimate by shared words and by vectors, and named as one."""

import asyncio
from collections.abc import Sequence

from pressbox.curator.domain.evaluating import (
    MOST_PASSAGES,
    Judged,
    Measure,
    Metric,
    cosine,
    is_supported,
    plain,
    said,
    share,
    statements,
    within,
)
from pressbox.curator.ports.outside import Embedder

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
        texts = [judged.question, plain(judged.text), *sentences, *places]
        question, whole, *vectors = await self._embedder.embed(texts)
        meant, there = vectors[: len(sentences)], vectors[len(sentences) :]
        # Thousands of comparisons: beside the event loop, not on it.
        supported = await asyncio.to_thread(_supported, judged, sentences, places, meant, there)
        return (
            Measure(Metric.SUPPORT_ESTIMATE, share(supported)),
            Measure(Metric.RELEVANCE_ESTIMATE, within(cosine(question, whole))),
        )


def _supported(
    judged: Judged,
    sentences: Sequence[str],
    places: Sequence[str],
    meant: Sequence[Sequence[float]],
    there: Sequence[Sequence[float]],
) -> list[bool]:
    return [
        is_supported(said(sentence, places, judged.language), max(cosine(vector, place) for place in there))
        for sentence, vector in zip(sentences, meant, strict=True)
    ]
