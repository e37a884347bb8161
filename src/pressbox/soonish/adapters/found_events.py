"""Events by the beginnings of their words, and the next ones of somebody. From indexes alone."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, Select, exists, func, or_, select, union
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.parameters import MOST, NOW, PERSON
from pressbox.core.db.words import TYPED, has_words, words_of, words_query
from pressbox.delivery.adapters.rows import ChannelRow
from pressbox.soonish.adapters.rows import EventRow, SubscriptionRow
from pressbox.soonish.domain.events import DEFAULT_LENGTH, OPEN_VISIBILITIES, EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState


async def find_visible(
    session: AsyncSession, user_id: int, typed: str, now: datetime, limit: int
) -> Sequence[EventRow]:
    """Events with these words that somebody organises or follows, or that are open to all and to come.

    What is to come stands before what is over, the nearest first.
    """
    values = {"person": user_id, "typed": words_query(typed), "now": now, "most": limit}
    return list(await session.scalars(_select_visible(), values))


@cache
def _select_visible() -> Select[tuple[EventRow]]:
    published = EventRow.status != EventStatus.DRAFT
    is_open = EventRow.visibility.in_(OPEN_VISIBILITIES) & (EventRow.status == EventStatus.ACTIVE) & ~_is_over()
    followed = EventRow.id.in_(_followed()) & published
    distance = func.abs(func.extract("epoch", EventRow.start_date - NOW))
    return (
        select(EventRow)
        .where(
            has_words(words_of(EventRow.name, EventRow.location, EventRow.description), TYPED),
            EventRow.deleted_at.is_(None),
            or_(EventRow.organiser_id == PERSON, followed, is_open),
        )
        .order_by(_is_over(), distance, EventRow.id)
        .limit(MOST)
    )


async def load_coming(session: AsyncSession, user_id: int, now: datetime, limit: int) -> Sequence[EventRow]:
    """What somebody organises or follows and is not over, the nearest first.

    What is kept for something else, such as a match, stands where that stands, and not a second time.
    """
    return list(await session.scalars(_select_coming(), {"person": user_id, "now": now, "most": limit}))


@cache
def _select_coming() -> Select[tuple[EventRow]]:
    fitting = (EventRow.status == EventStatus.ACTIVE, EventRow.deleted_at.is_(None), ~_is_over())
    organised = select(EventRow.id).where(EventRow.organiser_id == PERSON, *fitting)
    followed = select(EventRow.id).where(EventRow.id.in_(_followed()), EventRow.subject.is_(None), *fitting)
    ids = union(_nearest(organised), _nearest(followed)).subquery()
    statement = select(EventRow).where(EventRow.id.in_(select(ids.c.id)))
    return statement.order_by(EventRow.start_date, EventRow.id).limit(MOST)


async def has_any(session: AsyncSession, user_id: int) -> bool:
    """Whether somebody has ever organised or followed an event that is still kept. Who follows a team has not yet."""
    organised = exists().where(EventRow.organiser_id == PERSON, EventRow.deleted_at.is_(None))
    followed = exists().where(EventRow.id.in_(_followed()), EventRow.subject.is_(None))
    return bool(await session.scalar(select(or_(organised, followed)), {"person": user_id}))


async def list_broken(session: AsyncSession, user_id: int) -> Sequence[str]:
    """The names of channels of this person that do not work."""
    return list(await session.scalars(_select_broken(), {"person": user_id}))


@cache
def _select_broken() -> Select[tuple[str]]:
    broken = (ChannelRow.user_id == PERSON, ChannelRow.broken_at.is_not(None), ChannelRow.is_active)
    return select(ChannelRow.name).where(*broken).order_by(ChannelRow.name)


def _followed() -> Select[tuple[int]]:
    return select(SubscriptionRow.event_id).where(
        SubscriptionRow.user_id == PERSON,
        SubscriptionRow.state.in_((SubscriptionState.ACTIVE, SubscriptionState.MUTED)),
    )


def _nearest(statement: Select[tuple[int]]) -> Select[tuple[int]]:
    inner = statement.order_by(EventRow.start_date, EventRow.id).limit(MOST).subquery()
    return select(inner.c.id)


def _is_over() -> ColumnElement[bool]:
    """Written with the bare columns, so that indexes on them count."""
    ended: ColumnElement[bool] = func.coalesce(EventRow.end_date <= NOW, EventRow.start_date <= NOW - DEFAULT_LENGTH)
    return ended
