"""Hybrid retrieval: finds entries by full text, vectors and the graph, then the best passages of the best entries."""

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import and_, func, select
from sqlalchemy.orm import aliased

from pressbox.core.errors import ConfigurationError, PressboxError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import find_told
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, FeedRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore, demand_visible, feed_name, visible_to
from pressbox.curator.search.domain.passages import (
    Candidate,
    Excerpt,
    FoundBy,
    Passage,
    Window,
    choose_excerpts,
    fuse_rankings,
    keep_relevant,
    preselect_excerpts,
    rank_excerpts,
    score_excerpts,
    search_weights,
    split_into_windows,
)
from pressbox.curator.search.domain.query import LONGEST_QUESTION, content_terms
from pressbox.curator.search.ports import Embedder, GraphReader
from pressbox.curator.search.similarity import find_nearest

log = get_logger(__name__)

# How many entries each search returns, and how many of the best are read for passages.
ENTRIES_PER_SEARCH = 50
ENTRIES_READ = 12
# How many of the best by words tell whether words are enough, and how much of each is looked at.
ENTRIES_WEIGHED = 3
WEIGHED_TEXT = 20_000
# An embedding takes milliseconds: only passages that may be chosen get one.
EXCERPTS_COMPARED = 40
# Of a book only the beginning is read.
LONGEST_TEXT = 200_000
ALL_SEARCHES = frozenset(FoundBy)


class TermSearch(Protocol):
    async def search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]: ...


class HybridRetriever:
    """Vectors or a graph that fail are left out with a warning in the log; the others still answer.

    When these find nothing, the error is raised: nobody can say then that there is nothing to find. Without an index
    of words nobody is answered at all: an answer that lacks what everybody can read in the articles is worse than none.
    """

    def __init__(
        self,
        articles: "SqlArticles",
        terms: TermSearch,
        embedder: Embedder,
        graph: GraphReader | None = None,
    ) -> None:
        self._articles = articles
        self._terms = terms
        self._embedder = embedder
        self._graph = graph

    async def find(
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8, relevant_only: bool = False
    ) -> Sequence[Passage]:
        question = question[:LONGEST_QUESTION]
        errors: list[PressboxError] = []
        vector = await self._embed(question, errors)
        if entry_id is not None:
            await self._articles.demand_visible(user_id, entry_id)
            candidates = [Candidate(entry_id, 1.0, ())]
        else:
            candidates = await self._find_candidates(user_id, question, vector, ALL_SEARCHES, errors)
        loaded = await self._articles.load(user_id, [one.entry_id for one in candidates])
        if entry_id is None:
            # Whoever asks about one article has opened it. In what is looked up for them no hidden score is quoted.
            loaded = await self._articles.leave_out_told(user_id, loaded)
        articles = _one_per_story(loaded)
        ranking, by_entry = await self._rank_passages(question, vector, articles[:ENTRIES_READ], candidates)
        if relevant_only:
            ranking = keep_relevant(ranking)
        chosen = choose_excerpts(ranking, limit, per_entry=2 if len(articles) > 1 else limit)
        by_id = {article.entry_id: article for article in articles}
        return [_passage(by_id[one.entry_id], one, score, by_entry) for one, score in chosen]

    async def find_entries(
        self, user_id: int, question: str, searches: Collection[FoundBy] = ALL_SEARCHES
    ) -> Sequence[Candidate]:
        """Return entries alone, by some of the searches: benchmarks compare them."""
        errors: list[PressboxError] = []
        vector = await self._embed(question, errors) if FoundBy.VECTORS in searches else None
        return await self._find_candidates(user_id, question, vector, searches, errors)

    async def _find_candidates(
        self,
        user_id: int,
        question: str,
        vector: Sequence[float] | None,
        searches: Collection[FoundBy],
        errors: list[PressboxError],
    ) -> list[Candidate]:
        feed_ids = await self._articles.feed_ids(user_id)
        running: dict[FoundBy, Awaitable[Sequence[int]]] = {}
        if FoundBy.FULL_TEXT in searches:
            running[FoundBy.FULL_TEXT] = self._terms.search_any(content_terms(question), feed_ids, ENTRIES_PER_SEARCH)
        if FoundBy.VECTORS in searches and vector is not None:
            running[FoundBy.VECTORS] = self._articles.find_nearest(
                vector, self._embedder.model, feed_ids, ENTRIES_PER_SEARCH
            )
        if FoundBy.GRAPH in searches and self._graph is not None:
            running[FoundBy.GRAPH] = self._graph.entries_near(user_id, question, ENTRIES_PER_SEARCH)
        results = await asyncio.gather(*(_search(name, search, errors) for name, search in running.items()))
        rankings = dict(zip(running, results, strict=True))
        best = await self._articles.load(user_id, rankings.get(FoundBy.FULL_TEXT, ())[:ENTRIES_WEIGHED])
        texts = [f"{one.title}\n{one.summary}\n{one.text[:WEIGHED_TEXT]}" for one in best]
        candidates = fuse_rankings(rankings, weights=search_weights(content_terms(question), texts))
        if errors and not candidates:
            raise errors[0]
        return candidates

    async def _embed(self, text: str, errors: list[PressboxError]) -> Sequence[float] | None:
        try:
            (vector,) = await self._embedder.embed([text])
        except (TransientError, ConfigurationError) as error:
            log.warning("retrieval_limited", msg="Questions are answered without vectors", reason=error.message)
            errors.append(error)
            return None
        return vector

    async def _rank_passages(
        self,
        question: str,
        vector: Sequence[float] | None,
        articles: Sequence["Article"],
        candidates: Sequence[Candidate],
    ) -> tuple[list[tuple[Excerpt, float]], Mapping[int, Candidate]]:
        terms = content_terms(question)
        by_entry = {one.entry_id: one for one in candidates}
        # Splitting long texts is work for a processor.
        excerpts = await asyncio.to_thread(_excerpts, articles, by_entry, terms)
        best = preselect_excerpts(excerpts, EXCERPTS_COMPARED)
        vectors = None if vector is None or not best else await self._embedder.embed([one.text for one in best])
        return rank_excerpts(best, vector, vectors), by_entry


@dataclass(frozen=True)
class Article:
    """`text` is the filtered content, so that positions in it are positions there; "" when there is none."""

    entry_id: int
    feed_id: int
    story_id: int | None
    title: str
    feed_title: str
    url: str
    published_at: datetime
    summary: str
    text: str


class SqlArticles(SqlStore):
    """What retrieval reads from PostgreSQL."""

    async def feed_ids(self, user_id: int) -> Sequence[int]:
        statement = select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement))

    async def find_nearest(
        self, vector: Sequence[float], model: str, feed_ids: Sequence[int], limit: int
    ) -> Sequence[int]:
        if not feed_ids:
            return ()
        async with self._database.unit_of_work() as work:
            return list(await find_nearest(work.session, vector, model, feed_ids, limit))

    async def demand_visible(self, user_id: int, entry_id: int) -> None:
        async with self._database.unit_of_work() as work:
            await demand_visible(work.session, user_id, entry_id)

    async def leave_out_told(self, user_id: int, articles: Sequence[Article]) -> Sequence[Article]:
        """Those that do not tell the score of a match that the person does not want to know yet."""
        async with self._database.unit_of_work() as work:
            guarded = await load_guarded(work.session, user_id)
        return [one for one in articles if not find_told(f"{one.title}\n{one.summary}\n{one.text}", guarded)]

    async def load(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[Article]:
        """Return those of these entries that the person may see, in the order given."""
        if not entry_ids:
            return ()
        own = aliased(SubscriptionRow)
        feed_title = feed_name(own.title)
        statement = (
            select(
                EntryRow.id,
                EntryRow.feed_id,
                EntryRow.story_id,
                EntryRow.title,
                feed_title,
                EntryRow.url,
                EntryRow.published_at,
                EntryRow.summary,
                func.coalesce(func.left(EntryBodyRow.filtered_content, LONGEST_TEXT), ""),
            )
            .join(FeedRow, FeedRow.id == EntryRow.feed_id)
            .outerjoin(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .outerjoin(own, and_(own.feed_id == EntryRow.feed_id, own.user_id == user_id))
            .where(EntryRow.id.in_(entry_ids), visible_to(user_id))
        )
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples().all()
        found = {row[0]: Article(*row) for row in rows}
        return [found[entry_id] for entry_id in entry_ids if entry_id in found]


async def _search(name: FoundBy, search: Awaitable[Sequence[int]], errors: list[PressboxError]) -> Sequence[int]:
    try:
        return await search
    except (TransientError, ConfigurationError) as error:
        if name is FoundBy.FULL_TEXT:
            raise
        log.warning("retrieval_limited", msg=f"Questions are answered without {name.value}", reason=error.message)
        errors.append(error)
        return ()


def _one_per_story(articles: Sequence[Article]) -> list[Article]:
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
        entry_score = candidates[article.entry_id].score / best
        windows = split_into_windows(article.text)
        if windows:
            found += [
                Excerpt(article.entry_id, window, window.of(article.text), article.title, entry_score)
                for window in windows
            ]
        else:
            # There is only a headline, or the summary of the feed.
            text = article.summary or article.title
            found.append(Excerpt(article.entry_id, Window(0, 0), text, article.title, entry_score))
    return score_excerpts(terms, found)


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
