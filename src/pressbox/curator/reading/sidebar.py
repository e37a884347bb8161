"""The left pane: a person's categories, feeds and labels, with counts."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.db.parameters import PERSON
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.library.rows import (
    CategoryRow,
    EntryLabelRow,
    EntryStateRow,
    FeedRow,
    FeedStateRow,
    LabelRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import feed_name
from pressbox.curator.reading.domain import CategoryView, CountedLabel, FeedT, SourceLine, SourcesView

# A feed is called what the person calls it, else what it calls itself.
TITLE = feed_name(SubscriptionRow.title)


class SqlSidebar:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, user_id: int) -> SourcesView[SourceLine]:
        _, sources = await self.open(user_id)
        return sources

    async def open(self, user_id: int) -> tuple[int, SourcesView[SourceLine]]:
        """Load it with the change from which a page follows it: read first, so that no later one is missed."""
        async with self._database.unit_of_work() as work:
            beside = await _load_beside(work.session, user_id)
            lines = await _load_lines(work.session, user_id)
        return beside.cursor, _group(lines, beside)


async def group_feeds(session: AsyncSession, user_id: int, feeds: Sequence[FeedT]) -> SourcesView[FeedT]:
    """Put the feeds below their categories, and count."""
    return _group(feeds, await _load_beside(session, user_id))


async def _load_beside(session: AsyncSession, user_id: int) -> Row[Any]:
    """Load all of the pane but the feeds. One statement."""
    return (await session.execute(_select_beside(), {"person": user_id})).one()


@cache
def _select_beside() -> Select[Any]:
    categories = select(
        func.array_agg(
            aggregate_order_by(
                func.json_build_array(CategoryRow.id, CategoryRow.name),
                CategoryRow.position,
                func.lower(CategoryRow.name),
            )
        )
    ).where(CategoryRow.user_id == PERSON)
    entries = select(func.count()).where(EntryLabelRow.label_id == LabelRow.id).scalar_subquery()
    labels = select(
        func.array_agg(
            aggregate_order_by(
                func.json_build_array(LabelRow.id, LabelRow.name, entries), func.lower(LabelRow.name), LabelRow.id
            )
        )
    ).where(LabelRow.user_id == PERSON)
    kept = select(func.count()).where(EntryStateRow.user_id == PERSON)
    return select(
        select(func.coalesce(func.max(ChangeRow.id), 0)).scalar_subquery().label("cursor"),
        categories.scalar_subquery().label("categories"),
        labels.scalar_subquery().label("labels"),
        kept.where(EntryStateRow.starred_at.is_not(None)).scalar_subquery().label("starred"),
        kept.where(EntryStateRow.preference == 1).scalar_subquery().label("up"),
    )


def _group(feeds: Sequence[FeedT], beside: Row[Any]) -> SourcesView[FeedT]:
    below: dict[int | None, list[FeedT]] = defaultdict(list)
    for feed in feeds:
        below[feed.category_id].append(feed)
    views = tuple(
        CategoryView(number, name, sum(feed.unread for feed in below[number]), tuple(below[number]))
        for number, name in beside.categories or ()
    )
    return SourcesView(
        categories=views,
        feeds=(*(feed for category in views for feed in category.feeds), *below[None]),
        labels=tuple(CountedLabel(*label) for label in beside.labels or ()),
        unread=sum(feed.unread for feed in feeds),
        starred=beside.starred,
        up=beside.up,
        failing=sum(feed.failing for feed in feeds),
    )


async def _load_lines(session: AsyncSession, user_id: int) -> list[SourceLine]:
    """Load the subscriptions of a person in short, by title."""
    rows = (await session.execute(_select_lines(), {"person": user_id})).tuples()
    return [
        SourceLine(number, title, category, unread, CrawlOutcome(outcome) if outcome else None, reason or "", paused)
        for number, title, category, unread, outcome, reason, paused in rows
    ]


@cache
def _select_lines() -> Select[Any]:
    return (
        select(
            FeedRow.id,
            TITLE,
            SubscriptionRow.category_id,
            SubscriptionRow.unread,
            FeedStateRow.outcome,
            FeedStateRow.reason,
            FeedRow.paused_at,
        )
        .join(SubscriptionRow, SubscriptionRow.feed_id == FeedRow.id)
        .outerjoin(FeedStateRow, FeedStateRow.feed_id == FeedRow.id)
        .where(SubscriptionRow.user_id == PERSON)
        .order_by(func.lower(TITLE), FeedRow.id)
    )
