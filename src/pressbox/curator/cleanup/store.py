"""Deletes old entries that everybody has read, or could have for long, and nobody kept.

Old answers that were somebody's own go too.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.core.accounts.rows import UserRow
from pressbox.core.clock import utc_now
from pressbox.core.db.database import UnitOfWork
from pressbox.core.logs import get_logger
from pressbox.core.notices.follows import forget_subjects
from pressbox.core.spending.ledger import forget_answers
from pressbox.curator.cleanup.contracts import CleanupResult
from pressbox.curator.library.domain import FEED_CHANGED, PERSON_CHANGED
from pressbox.curator.library.rows import (
    BACKLOG,
    EntryRow,
    EntryStateRow,
    FeedRow,
    SeenGuidRow,
    StoryRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import SqlStore, abandon_feed, kept_by
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.models.domain import KEEP_PRIVATE, PRIVATE

log = get_logger(__name__)


class SqlCleanupStore(SqlStore):
    async def clean_up(
        self, before: datetime, dry_run: bool, limit: int, *, unread_before: datetime | None = None
    ) -> CleanupResult:
        disposable = _is_disposable(before, unread_before)
        async with self._database.unit_of_work() as work:
            session = work.session
            if dry_run:
                number = await session.scalar(select(func.count()).select_from(EntryRow).where(disposable))
                return CleanupResult(deleted=number or 0)
            chosen = select(EntryRow.id).where(disposable).order_by(EntryRow.id).limit(limit)
            ids = list(await session.scalars(chosen.with_for_update(skip_locked=True)))
            free = await _skip_busy(session, ids)
            gone = await session.execute(
                delete(EntryRow)
                .where(EntryRow.id.in_(free), disposable)
                .returning(EntryRow.id, EntryRow.feed_id, EntryRow.guid, EntryRow.story_id)
                .execution_options(synchronize_session=False)
            )
            removed = gone.tuples().all()
            if removed:
                await _remember_guids(session, [(feed_id, guid) for _, feed_id, guid, _ in removed])
                await _delete_empty_stories(session, {story_id for *_, story_id in removed if story_id is not None})
                log.info("entries_cleaned_up", msg=f"{len(removed)} old entries removed", number=len(removed))
            for feed_id in {feed_id for _, feed_id, _, _ in removed}:
                work.changed(FEED_CHANGED, str(feed_id))
            await _leave_moved_feeds(work, utc_now())
            await forget_answers(session, PRIVATE, utc_now() - KEEP_PRIVATE)
        return CleanupResult(
            deleted=len(removed), more=len(ids) == limit, removed=tuple(entry_id for entry_id, *_ in removed)
        )


def _is_disposable(before: datetime, unread_before: datetime | None) -> ColumnElement[bool]:
    """Whether an entry is old, read by every subscriber, and kept by nobody, subscribed or not.

    Accounts that are disabled hold nothing, and what arrived before `unread_before` counts as read.
    """
    # An alias of the same table lets the database join three tables instead of asking for each entry.
    same = aliased(EntryRow)
    read = and_(
        EntryStateRow.entry_id == same.id,
        EntryStateRow.user_id == SubscriptionRow.user_id,
        EntryStateRow.read_at > BACKLOG,
        # So did earlier releases mark the backlog.
        EntryStateRow.read_at != SubscriptionRow.created_at,
    )
    unread = (
        select(same.id)
        .join(SubscriptionRow, SubscriptionRow.feed_id == same.feed_id)
        .join(UserRow, and_(UserRow.id == SubscriptionRow.user_id, UserRow.disabled_at.is_(None)))
        .outerjoin(EntryStateRow, read)
        .where(same.id == EntryRow.id, same.published_at < before, EntryStateRow.entry_id.is_(None))
    )
    if unread_before is not None:
        # The archive of a feed is old when it arrives, and nobody had a chance to read it.
        unread = unread.where(func.greatest(same.published_at, same.first_seen_at) >= unread_before)
    return and_(EntryRow.published_at < before, ~unread.exists(), ~kept_by(None))


async def _skip_busy(session: AsyncSession, entry_ids: list[int]) -> list[int]:
    """Keep and lock entries whose states nobody is changing; the others wait for the next run."""
    states = select(EntryStateRow.user_id, EntryStateRow.entry_id).where(EntryStateRow.entry_id.in_(entry_ids))
    held = set((await session.execute(states.with_for_update(skip_locked=True))).tuples())
    busy = {
        entry_id for user_id, entry_id in (await session.execute(states)).tuples() if (user_id, entry_id) not in held
    }
    return [entry_id for entry_id in entry_ids if entry_id not in busy]


async def _leave_moved_feeds(work: UnitOfWork, now: datetime) -> None:
    """End subscriptions of feeds that moved away, once everything in them is read."""
    moved = select(FeedRow.id).where(FeedRow.moved_to_id.is_not(None), FeedRow.paused_at.is_not(None))
    locked = list(await work.session.scalars(moved.order_by(FeedRow.id).with_for_update(skip_locked=True)))
    finished = delete(SubscriptionRow).where(SubscriptionRow.feed_id.in_(locked), SubscriptionRow.unread == 0)
    ended = await work.session.execute(finished.returning(SubscriptionRow.feed_id, SubscriptionRow.user_id))
    pairs = ended.tuples().all()
    for user_id in {user_id for _, user_id in pairs}:
        work.changed(PERSON_CHANGED, str(user_id))
    for feed_id in {feed_id for feed_id, _ in pairs}:
        if not await work.session.scalar(select(exists().where(SubscriptionRow.feed_id == feed_id))):
            await abandon_feed(work.session, feed_id, now)


async def _remember_guids(session: AsyncSession, guids: list[tuple[int, str]]) -> None:
    """Remember the entries, so that the next crawl does not bring them back unread."""
    values = [{"feed_id": feed_id, "guid": guid} for feed_id, guid in guids]
    await session.execute(insert(SeenGuidRow).on_conflict_do_nothing(), values)


async def _delete_empty_stories(session: AsyncSession, story_ids: set[int]) -> None:
    has_entries = exists().where(EntryRow.story_id == StoryRow.id)
    empty = delete(StoryRow).where(StoryRow.id.in_(story_ids), ~has_entries).returning(StoryRow.id)
    gone = await session.scalars(empty.execution_options(synchronize_session=False))
    await forget_subjects(session, [FollowedKind.STORY.subject(story_id) for story_id in gone])
