"""Retrieval in two steps: entries by full text, vectors and graph together, then the passages of the best of them."""

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from typing import Protocol

from pressbox.core.errors import ConfigurationError, PressboxError, TransientError
from pressbox.core.logs import get_logger
from pressbox.curator.search.domain.passages import Window, windows
from pressbox.curator.search.domain.questions import LONGEST_QUESTION, content_terms
from pressbox.curator.search.domain.ranking import Excerpt, chosen, lexically_best, lexically_scored, ranked
from pressbox.curator.search.domain.retrieval import Candidate, FoundBy, Passage, fused
from pressbox.curator.search.ports import Embedder, GraphReader
from pressbox.curator.search.retrieval_store import Article, RetrievalArticles

log = get_logger(__name__)

# How many entries each way of finding names, and of how many of all of them the passages are looked at.
ENTRIES_PER_WAY = 50
ENTRIES_READ = 12
# An embedding costs milliseconds: only the passages that may be chosen get one.
EXCERPTS_COMPARED = 40
ALL_WAYS = frozenset(FoundBy)


class WordSearch(Protocol):
    async def any_of(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]: ...


class HybridRetriever:
    """A way of finding that is out of order is left out, with a word in the log: the others still answer.

    When these find nothing, nobody can say that there is nothing, and the trouble is raised.
    """

    def __init__(
        self,
        articles: RetrievalArticles,
        search: WordSearch,
        embedder: Embedder,
        graph: GraphReader | None = None,
    ) -> None:
        self._articles = articles
        self._search = search
        self._embedder = embedder
        self._graph = graph

    async def find(
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8
    ) -> Sequence[Passage]:
        asked = question[:LONGEST_QUESTION]
        troubles: list[PressboxError] = []
        vector = await self._vector(asked, troubles)
        if entry_id is not None:
            await self._articles.demand(user_id, entry_id)
            candidates = [Candidate(entry_id, 1.0, ())]
        else:
            candidates = await self._candidates(user_id, asked, vector, ALL_WAYS, troubles)
        articles = _one_of_each_story(await self._articles.articles(user_id, [one.entry_id for one in candidates]))
        return await self._passages(asked, vector, articles[:ENTRIES_READ], candidates, limit)

    async def entries(self, user_id: int, question: str, ways: Collection[FoundBy] = ALL_WAYS) -> Sequence[Candidate]:
        """Entries alone, by some of the ways: benchmarks compare them."""
        troubles: list[PressboxError] = []
        vector = await self._vector(question, troubles) if FoundBy.VECTORS in ways else None
        return await self._candidates(user_id, question, vector, ways, troubles)

    async def _candidates(
        self,
        user_id: int,
        question: str,
        vector: Sequence[float] | None,
        ways: Collection[FoundBy],
        troubles: list[PressboxError],
    ) -> list[Candidate]:
        feed_ids = await self._articles.feed_ids(user_id)
        looked: dict[FoundBy, Awaitable[Sequence[int]]] = {}
        if FoundBy.FULL_TEXT in ways:
            looked[FoundBy.FULL_TEXT] = self._search.any_of(content_terms(question), feed_ids, ENTRIES_PER_WAY)
        if FoundBy.VECTORS in ways and vector is not None:
            looked[FoundBy.VECTORS] = self._articles.near(vector, self._embedder.model, feed_ids, ENTRIES_PER_WAY)
        if FoundBy.GRAPH in ways and self._graph is not None:
            looked[FoundBy.GRAPH] = self._graph.entries_near(user_id, question, ENTRIES_PER_WAY)
        results = await asyncio.gather(*(_if_it_works(way, found, troubles) for way, found in looked.items()))
        candidates = fused(dict(zip(looked, results, strict=True)))
        if troubles and not candidates:
            raise troubles[0]
        return candidates

    async def _vector(self, text: str, troubles: list[PressboxError]) -> Sequence[float] | None:
        try:
            (vector,) = await self._embedder.embed([text])
        except (TransientError, ConfigurationError) as error:
            log.warning("retrieval_limited", msg="Questions are answered without vectors", reason=error.message)
            troubles.append(error)
            return None
        return vector

    async def _passages(
        self,
        question: str,
        vector: Sequence[float] | None,
        articles: Sequence[Article],
        candidates: Sequence[Candidate],
        limit: int,
    ) -> Sequence[Passage]:
        terms = content_terms(question)
        by_entry = {one.entry_id: one for one in candidates}
        # Windows of long texts are work for a processor.
        excerpts = await asyncio.to_thread(_excerpts, articles, by_entry, terms)
        best = lexically_best(excerpts, EXCERPTS_COMPARED)
        vectors = None if vector is None or not best else await self._embedder.embed([one.text for one in best])
        several = len(articles) > 1
        order = chosen(ranked(best, vector, vectors), limit, per_entry=2 if several else limit)
        known = {article.entry_id: article for article in articles}
        return [_passage(known[one.entry_id], one, score, by_entry) for one, score in order]


async def _if_it_works(way: FoundBy, found: Awaitable[Sequence[int]], troubles: list[PressboxError]) -> Sequence[int]:
    try:
        return await found
    except (TransientError, ConfigurationError) as error:
        log.warning("retrieval_limited", msg=f"Questions are answered without {way.value}", reason=error.message)
        troubles.append(error)
        return ()


def _one_of_each_story(articles: Sequence[Article]) -> list[Article]:
    kept, stories = [], set()
    for article in articles:
        if article.story_id is None or article.story_id not in stories:
            kept.append(article)
            stories.add(article.story_id)
    return kept


def _excerpts(
    articles: Sequence[Article], candidates: Mapping[int, Candidate], terms: Sequence[str]
) -> Sequence[Excerpt]:
    best = max((one.score for one in candidates.values()), default=1.0)
    found = []
    for article in articles:
        standing = candidates[article.entry_id].score / best
        places = windows(article.text)
        if places:
            found += [
                Excerpt(article.entry_id, place, place.of(article.text), article.title, standing) for place in places
            ]
        else:
            # Nothing but a headline, or what the feed said of it.
            text = article.summary or article.title
            found.append(Excerpt(article.entry_id, Window(0, 0), text, article.title, standing))
    return lexically_scored(terms, found)


def _passage(article: Article, excerpt: Excerpt, score: float, candidates: Mapping[int, Candidate]) -> Passage:
    return Passage(
        entry_id=article.entry_id,
        feed_id=article.feed_id,
        title=article.title,
        feed_title=article.feed_title,
        url=article.url,
        published_at=article.published_at,
        start=excerpt.window.start,
        end=excerpt.window.end,
        text=excerpt.text,
        score=round(score, 4),
        found_by=candidates[article.entry_id].found_by,
    )
