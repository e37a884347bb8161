"""From rows to feeds as a subscriber sees them: one statement for any number of them."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, case, func, literal, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.curator.library.domain import CrawlOutcome, load_rules
from pressbox.curator.library.rows import CategoryRow, FeedErrorRow, FeedRow, FeedStateRow, SubscriptionRow
from pressbox.curator.library.urls import site_name
from pressbox.curator.reading.sidebar import TITLE
from pressbox.curator.sources.domain import FeedHealth, FeedView

_OTHERS = aliased(SubscriptionRow)
_NO_RULES = literal([], JSONB)


async def feed_views(session: AsyncSession, *conditions: ColumnElement[bool]) -> list[FeedView]:
    """Subscriptions that fit the conditions, by title."""
    return [_view(row) for row in await session.execute(_statement().where(*conditions))]


async def all_feeds(session: AsyncSession) -> list[FeedView]:
    """Every feed of the instance, in nobody's name."""
    bare = _columns(outer=True).outerjoin(SubscriptionRow, SubscriptionRow.id.is_(None))
    return [_view(row) for row in await session.execute(bare.order_by(func.lower(FeedRow.title), FeedRow.id))]


def _statement() -> Select[Any]:
    return (
        _columns()
        .join(SubscriptionRow, SubscriptionRow.feed_id == FeedRow.id)
        .outerjoin(CategoryRow, CategoryRow.id == SubscriptionRow.category_id)
        .add_columns(CategoryRow.name.label("category"))
        .order_by(func.lower(TITLE), FeedRow.id)
    )


def _columns(outer: bool = False) -> Select[Any]:
    subscribers = select(func.count()).where(_OTHERS.feed_id == FeedRow.id).scalar_subquery()
    failing_since = (
        select(func.min(FeedErrorRow.at))
        .where(
            FeedErrorRow.feed_id == FeedRow.id,
            FeedErrorRow.at > func.coalesce(FeedStateRow.last_success_at, FeedRow.created_at),
        )
        .scalar_subquery()
    )
    return (
        select(
            FeedRow.id,
            FeedRow.url,
            FeedRow.title,
            FeedRow.site_url,
            FeedRow.description,
            FeedRow.language,
            FeedRow.icon_url,
            FeedRow.paused_at,
            FeedRow.full_text,
            # Most feeds have none, and then there is nothing to decode.
            func.nullif(FeedRow.extraction_rules, _NO_RULES, type_=JSONB).label("extraction_rules"),
            FeedRow.interval_seconds,
            FeedRow.entry_limit,
            FeedRow.created_at.label("since") if outer else SubscriptionRow.created_at.label("since"),
            SubscriptionRow.title.label("own_title"),
            SubscriptionRow.category_id,
            SubscriptionRow.unread,
            FeedStateRow.outcome,
            FeedStateRow.reason,
            FeedStateRow.status,
            FeedStateRow.failures,
            FeedStateRow.last_crawl_at,
            FeedStateRow.last_success_at,
            FeedStateRow.last_new_at,
            FeedStateRow.next_crawl_at,
            FeedStateRow.interval_seconds.label("present_interval"),
            subscribers.label("subscribers"),
            case((FeedStateRow.failures > 0, failing_since)).label("failing_since"),
        )
        .select_from(FeedRow)
        .outerjoin(FeedStateRow, FeedStateRow.feed_id == FeedRow.id)
    )


def _view(row: Row[Any]) -> FeedView:
    own = row.own_title or ""
    return FeedView(
        id=row.id,
        title=own or row.title or site_name(row.url),
        own_title=own,
        url=row.url,
        site_url=row.site_url,
        description=row.description,
        language=row.language,
        icon_url=row.icon_url,
        category_id=row.category_id,
        category=getattr(row, "category", None) or "",
        unread=row.unread or 0,
        subscribers=row.subscribers,
        shared=row.subscribers > 1,
        paused_at=row.paused_at,
        full_text=row.full_text,
        rules=load_rules(row.extraction_rules or ()),
        interval=_seconds(row.interval_seconds),
        interval_seconds=row.interval_seconds,
        entry_limit=row.entry_limit,
        health=_health(row),
        subscribed_at=row.since,
    )


def _health(row: Row[Any]) -> FeedHealth:
    outcome = CrawlOutcome(row.outcome) if row.outcome else None
    return FeedHealth(
        outcome=outcome,
        failing=outcome is not None and outcome.failed,
        reason=row.reason or "",
        status=row.status,
        failures=row.failures or 0,
        failing_since=row.failing_since,
        last_crawl_at=row.last_crawl_at,
        last_success_at=row.last_success_at,
        last_new_at=row.last_new_at,
        next_crawl_at=None if row.paused_at else row.next_crawl_at,
        interval=timedelta(seconds=row.present_interval or 0),
    )


def _seconds(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
