"""Which new articles are what a search asks for that somebody follows."""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.notices.rows import FollowRow
from pressbox.curator.following.telling import find_news
from pressbox.curator.library.subjects import SEARCH
from pressbox.curator.search.documents import load_documents
from pressbox.curator.search.domain.matching import SplitText
from pressbox.curator.search.domain.query import SearchQuery, parse_query
from pressbox.curator.search.ports import IndexDocument


async def match_searches(session: AsyncSession, entry_ids: Collection[int]) -> Sequence[tuple[int, str]]:
    """Pairs of an entry and the subject of a search. Each search is tried once, however many follow it."""
    queries = await _load_queries(session)
    news = await find_news(session, entry_ids) if queries else ()
    documents = await load_documents(session, news) if news else ()
    return await asyncio.to_thread(_match, documents, queries) if documents else ()


async def _load_queries(session: AsyncSession) -> Mapping[str, SearchQuery]:
    """A search is called by its words; who mutes it wants silence about what it finds, so it is tried too."""
    own = FollowRow.subject.startswith(SEARCH, autoescape=True)
    named = select(FollowRow.subject, func.min(FollowRow.name)).where(own).group_by(FollowRow.subject)
    return {subject: parse_query(words) for subject, words in (await session.execute(named)).tuples()}


def _match(documents: Sequence[IndexDocument], queries: Mapping[str, SearchQuery]) -> Sequence[tuple[int, str]]:
    texts = ((document.entry_id, SplitText(document)) for document in documents)
    return [(number, subject) for number, split in texts for subject, query in queries.items() if split.matches(query)]
