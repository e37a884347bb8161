"""Stories for the first page: what is new and unread, and which of it matters most."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import Select, Text, and_, bindparam, distinct, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.core.db.parameters import PERSON
from pressbox.curator.library.rows import EntryEmbeddingRow, EntryRow, EntryStateRow, FeedRow, FeedStateRow
from pressbox.curator.library.store import in_feeds
from pressbox.curator.reading.domain import Selection, Sort
from pressbox.curator.reading.selection import AnyScope, Scope, order_from, select_listed

# The newest so many that are unread are compared.
COMPARED = 80
# Several sources tell of what matters; more than these tell no more.
MOST_SOURCES = 4
# What one more source counts against: the same story an hour younger is worth a tenth of it.
HOURS_OF_A_SOURCE = 10.0
# A story right in somebody's taste is worth so many sources.
TASTE_WEIGHT = 3.0


@dataclass(frozen=True)
class Story:
    """An unread entry; `sources` of the person's feeds tell the story. `distance` from their taste, where known."""

    id: int
    title: str
    url: str
    summary: str
    feed: str
    published_at: datetime
    sources: int
    distance: float | None


def rank_stories(stories: Sequence[Story], now: datetime) -> Sequence[Story]:
    """What several sources tell or what is near the person's taste comes first; among equals the newest."""

    def weight(story: Story) -> float:
        taste = TASTE_WEIGHT * (1 - story.distance) if story.distance is not None else 0.0
        age = max(now - story.published_at, timedelta()) / timedelta(hours=1)
        return min(story.sources, MOST_SOURCES) - 1 + taste - age / HOURS_OF_A_SOURCE

    return sorted(stories, key=lambda story: (-weight(story), -story.id))


async def load_stories(session: AsyncSession, user_id: int, scope: Scope, model: str) -> Sequence[Story]:
    """The newest unread stories of these feeds, each once, with how many feeds tell it. One statement."""
    values = {"person": user_id, "model": model, "followed": scope.followed, "searched": scope.feed_ids}
    return [
        Story(
            row.id,
            row.title,
            row.url,
            row.summary,
            scope.titles.get(row.feed_id, ""),
            row.published_at,
            max(1, row.sources),
            row.distance,
        )
        for row in await session.execute(_select_stories(), values)
    ]


@cache
def _select_stories() -> Select[Any]:
    scope, model = AnyScope(), bindparam("model", type_=Text)
    listed = select_listed(PERSON, Selection(unread_only=True), scope).add_columns(
        EntryRow.title, EntryRow.url, EntryRow.summary, EntryRow.feed_id, EntryRow.published_at, EntryRow.story_id
    )
    newest = order_from(listed, Sort.NEWEST, None).limit(COMPARED).subquery()
    copy = aliased(EntryRow)
    sources = (
        select(func.count(distinct(copy.feed_id)))
        .where(copy.story_id == newest.c.story_id, in_feeds(copy.feed_id, scope.followed))
        .scalar_subquery()
    )
    taste = (
        select(type_coerce(func.avg(EntryEmbeddingRow.embedding), Vector()))
        .join(EntryStateRow, EntryStateRow.entry_id == EntryEmbeddingRow.entry_id)
        .where(EntryStateRow.user_id == PERSON, EntryStateRow.preference == 1, EntryEmbeddingRow.model == model)
        .scalar_subquery()
    )
    own = aliased(EntryEmbeddingRow)
    statement = select(newest, sources.label("sources"), own.embedding.cosine_distance(taste).label("distance"))
    return statement.outerjoin(own, and_(own.entry_id == newest.c.id, own.model == model))


async def list_uncrawled(session: AsyncSession, feed_ids: Sequence[int]) -> Sequence[str]:
    """The addresses of feeds that were never read: their first articles are on the way."""
    statement = (
        select(FeedRow.url)
        .outerjoin(FeedStateRow, FeedStateRow.feed_id == FeedRow.id)
        .where(in_feeds(FeedRow.id, feed_ids), FeedStateRow.last_crawl_at.is_(None))
        .order_by(FeedRow.id.desc())
    )
    return list(await session.scalars(statement))
