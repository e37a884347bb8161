"""The left pane: a person's categories, feeds and labels, with counts."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.curator.library.domain.feeds import CrawlOutcome
from pressbox.curator.library.feed_names import feed_name
from pressbox.curator.library.rows import CategoryRow, EntryStateRow, FeedRow, FeedStateRow, SubscriptionRow
from pressbox.curator.reading.domain import CategoryView, FeedT, SourceLine, SourcesView
from pressbox.curator.reading.state_store import load_labels

# A feed is called what the person calls it, else what it calls itself.
TITLE = feed_name(SubscriptionRow.title)


class SqlSidebar:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, user_id: int) -> SourcesView[SourceLine]:
        async with self._database.unit_of_work() as work:
            return await group_feeds(work.session, user_id, await _load_lines(work.session, user_id))


async def group_feeds(session: AsyncSession, user_id: int, feeds: Sequence[FeedT]) -> SourcesView[FeedT]:
    """Put the feeds below their categories, and count."""
    categories = (
        select(CategoryRow.id, CategoryRow.name)
        .where(CategoryRow.user_id == user_id)
        .order_by(CategoryRow.position, func.lower(CategoryRow.name))
    )
    states = select(
        func.count().filter(EntryStateRow.starred_at.is_not(None)),
        func.count().filter(EntryStateRow.preference == 1),
    ).where(
        EntryStateRow.user_id == user_id,
        or_(EntryStateRow.starred_at.is_not(None), EntryStateRow.preference == 1),
    )
    below: dict[int | None, list[FeedT]] = defaultdict(list)
    for feed in feeds:
        below[feed.category_id].append(feed)
    views = tuple(
        CategoryView(number, name, sum(feed.unread for feed in below[number]), tuple(below[number]))
        for number, name in (await session.execute(categories)).tuples()
    )
    labels = await load_labels(session, user_id)
    starred, up = (await session.execute(states)).tuples().one()
    return SourcesView(
        categories=views,
        feeds=(*(feed for category in views for feed in category.feeds), *below[None]),
        labels=tuple(labels),
        unread=sum(feed.unread for feed in feeds),
        starred=starred,
        up=up,
        failing=sum(feed.failing for feed in feeds),
    )


async def _load_lines(session: AsyncSession, user_id: int) -> list[SourceLine]:
    """Load the subscriptions of a person in short, by title."""
    statement = (
        select(
            FeedRow.id,
            TITLE.label("title"),
            SubscriptionRow.category_id,
            SubscriptionRow.unread,
            FeedStateRow.outcome,
            FeedStateRow.reason,
            FeedRow.paused_at,
        )
        .join(SubscriptionRow, SubscriptionRow.feed_id == FeedRow.id)
        .outerjoin(FeedStateRow, FeedStateRow.feed_id == FeedRow.id)
        .where(SubscriptionRow.user_id == user_id)
        .order_by(func.lower(TITLE), FeedRow.id)
    )
    return [
        SourceLine(
            id=row.id,
            title=row.title,
            category_id=row.category_id,
            unread=row.unread,
            outcome=CrawlOutcome(row.outcome) if row.outcome else None,
            reason=row.reason or "",
            paused_at=row.paused_at,
        )
        for row in await session.execute(statement)
    ]
