"""Which entries people may see: those of their feeds, and those that they kept."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Dialect, any_, exists, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import UserDefinedType

from pressbox.core.audiences.members import AudienceKind
from pressbox.core.errors import NotFoundError
from pressbox.curator.library.domain.audiences import ENTRY_READERS, FEED_READERS
from pressbox.curator.library.rows import EntryLabelRow, EntryRow, EntryStateRow, LabelRow, SubscriptionRow

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


def in_feeds(column: Any, feed_ids: Sequence[int]) -> ColumnElement[bool]:
    """True for rows of these feeds. All ids are one parameter, so the statement and its plan stay the same."""
    feeds: ColumnElement[bool] = column == any_(literal(list(feed_ids), _Numbers()))
    return feeds


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
