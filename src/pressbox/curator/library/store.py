"""What the stores of several slices share: who may see which entries, names of feeds, and what follows a change."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    DateTime,
    Dialect,
    and_,
    any_,
    bindparam,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased
from sqlalchemy.types import UserDefinedType

from pressbox.core.audiences.members import AudienceKind
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.notices.follows import forget_subjects
from pressbox.curator.library.audiences import ENTRY_READERS, FEED_READERS
from pressbox.curator.library.rows import (
    BACKLOG,
    EntryBodyRow,
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    FeedRow,
    LabelRow,
    StoryRow,
    SubscriptionRow,
)
from pressbox.curator.library.subjects import FollowedKind

_KEPT = or_(EntryStateRow.starred_at.is_not(None), EntryStateRow.preference == 1, EntryStateRow.note != "")


def kept_by(user_id: int | None) -> ColumnElement[bool]:
    """Whether somebody (None: anybody) starred, marked up, noted or labelled an entry."""
    state = select(EntryStateRow.entry_id).where(EntryStateRow.entry_id == EntryRow.id, _KEPT)
    label = select(LabelRow.id).where(EntryLabelRow.entry_id == EntryRow.id, LabelRow.id == EntryLabelRow.label_id)
    if user_id is not None:
        state, label = state.where(EntryStateRow.user_id == user_id), label.where(LabelRow.user_id == user_id)
    return or_(state.exists(), label.exists())


def subscribed_by(user_id: int) -> ColumnElement[bool]:
    return exists().where(SubscriptionRow.user_id == user_id, SubscriptionRow.feed_id == EntryRow.feed_id)


def visible_to(user_id: int) -> ColumnElement[bool]:
    return or_(subscribed_by(user_id), kept_by(user_id))


def _reads_feed(feed_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(SubscriptionRow.feed_id == feed_id, SubscriptionRow.user_id == user_id)


def _reads_entry(entry_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    """The same as `visible_to`, for the ids of an entry and of a person that stand in a row of something else."""
    of_feed = exists().where(
        EntryRow.id == entry_id, SubscriptionRow.feed_id == EntryRow.feed_id, SubscriptionRow.user_id == user_id
    )
    kept = exists().where(EntryStateRow.entry_id == entry_id, EntryStateRow.user_id == user_id, _KEPT)
    labelled = exists().where(
        EntryLabelRow.entry_id == entry_id, LabelRow.id == EntryLabelRow.label_id, LabelRow.user_id == user_id
    )
    return or_(of_feed, kept, labelled)


AUDIENCES = (AudienceKind(FEED_READERS, _reads_feed), AudienceKind(ENTRY_READERS, _reads_entry))


def in_feeds(column: Any, feed_ids: Sequence[int] | BindParameter[Sequence[int]]) -> ColumnElement[bool]:
    """True for rows of these feeds. All ids are one parameter, so the statement and its plan stay the same."""
    sent = feed_ids if isinstance(feed_ids, BindParameter) else literal(list(feed_ids), _Numbers())
    feeds: ColumnElement[bool] = column == any_(sent)
    return feeds


def feeds_parameter(name: str) -> BindParameter[Sequence[int]]:
    """For `in_feeds` in statements that are built once."""
    return bindparam(name, type_=_Numbers())


class _Numbers(UserDefinedType[Sequence[int]]):
    """A list of numbers as one text, which the database reads faster than the driver can write an array."""

    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: Any) -> str:
        return "BIGINT[]"

    def bind_processor(self, dialect: Dialect) -> Callable[[Sequence[int] | None], str]:
        return lambda numbers: f"{{{','.join(map(str, numbers or ()))}}}"


async def demand_visible(session: AsyncSession, user_id: int, entry_id: int) -> None:
    mine = select(EntryRow.id).where(EntryRow.id == entry_id, visible_to(user_id))
    if await session.scalar(mine) is None:
        raise NotFoundError("There is no such entry, or it is in none of your feeds.", entry_id=entry_id)


# The same host as `urls.site_name` gives. Never the whole address: it may hold what opens the feed.
_HOST = r"^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?(?:www\.)?([^/?#:@]+)"


def feed_name(own_title: Any = None) -> ColumnElement[str]:
    titles = [FeedRow.title] if own_title is None else [own_title, FeedRow.title]
    return func.coalesce(*(func.nullif(title, "") for title in titles), func.substring(FeedRow.url, _HOST), "")


_SEPARATOR = literal("\x1f")


class SqlStore:
    def __init__(self, database: Database) -> None:
        self._database = database


async def refresh_shown_hash(session: AsyncSession, entry_ids: Sequence[int]) -> None:
    """Hash what readers and the search index see of entries, as `shown_hash` does: what differs is indexed again."""
    parts = (EntryRow.title, EntryRow.author, EntryRow.summary, EntryBodyRow.filtered_content)
    shown = EntryBodyRow.feed_content.expression
    for part in reversed(parts):
        shown = part + _SEPARATOR + shown
    await session.execute(
        update(EntryRow)
        .where(EntryRow.id == EntryBodyRow.entry_id, EntryRow.id.in_(entry_ids))
        .values(shown_hash=func.md5(shown))
        .execution_options(synchronize_session=False)
    )


async def inherit_read_state(session: AsyncSession, copies: ColumnElement[bool], user_id: int | None = None) -> None:
    """Mark these entries as read for subscribers (or one of them) who read another copy of the same story."""
    known = aliased(EntryRow, name="known")
    read = (
        select(EntryStateRow.user_id, EntryRow.id, func.max(EntryStateRow.read_at))
        .select_from(EntryRow)
        .join(known, and_(known.story_id == EntryRow.story_id, known.id != EntryRow.id))
        .join(EntryStateRow, EntryStateRow.entry_id == known.id)
        .join(
            SubscriptionRow,
            and_(SubscriptionRow.user_id == EntryStateRow.user_id, SubscriptionRow.feed_id == EntryRow.feed_id),
        )
        .where(copies, EntryStateRow.read_at.is_not(None))
        .group_by(EntryStateRow.user_id, EntryRow.id)
        .order_by(EntryStateRow.user_id, EntryRow.id)
    )
    if user_id is not None:
        read = read.where(EntryStateRow.user_id == user_id)
    statement = insert(EntryStateRow).from_select(["user_id", "entry_id", "read_at"], read)
    await session.execute(statement.on_conflict_do_nothing())


_MARK_BACKLOG = text("""
    INSERT INTO curator.entry_states (user_id, entry_id, read_at)
    SELECT subscription.user_id, entry.id, :backlog
    FROM curator.subscriptions AS subscription
    JOIN (
        SELECT id, feed_id, row_number() OVER (PARTITION BY feed_id ORDER BY published_at DESC, id DESC) AS place
        FROM curator.entries WHERE feed_id = ANY(:feeds)
    ) AS entry ON entry.feed_id = subscription.feed_id
    WHERE entry.place > :unread AND (:user_id = 0 OR subscription.user_id = :user_id)
    ORDER BY subscription.user_id, entry.id
    ON CONFLICT DO NOTHING
""").bindparams(
    bindparam("feeds", type_=ARRAY(BigInteger)), bindparam("backlog", BACKLOG, type_=DateTime(timezone=True))
)


async def mark_backlog_read(
    session: AsyncSession, feed_ids: Sequence[int], unread: int, user_id: int | None = None
) -> None:
    """Take all but the newest entries of feeds for the backlog of their subscribers, or of one who is new to them."""
    await session.execute(_MARK_BACKLOG, {"feeds": list(feed_ids), "unread": unread, "user_id": user_id or 0})


async def abandon_feed(session: AsyncSession, feed_id: int, now: datetime) -> bool:
    """Nobody reads the feed: what nobody kept goes. With something kept the feed stays, paused."""
    unkept = delete(EntryRow).where(EntryRow.feed_id == feed_id, ~kept_by(None)).returning(EntryRow.story_id)
    stories = {story_id for story_id in await session.scalars(unkept) if story_id is not None}
    if stories:
        told = exists().where(EntryRow.story_id == StoryRow.id)
        empty = delete(StoryRow).where(StoryRow.id.in_(stories), ~told).returning(StoryRow.id)
        gone = [FollowedKind.STORY.subject(story_id) for story_id in await session.scalars(empty)]
        await forget_subjects(session, gone)
    if await session.scalar(select(exists().where(EntryRow.feed_id == feed_id))):
        await session.execute(update(FeedRow).where(FeedRow.id == feed_id).values(paused_at=now))
        return False
    await session.execute(delete(FeedRow).where(FeedRow.id == feed_id))
    return True
