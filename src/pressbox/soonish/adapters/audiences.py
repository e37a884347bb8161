"""Who belongs to the audiences of soonish: of events and messages the organiser, of a subscription who holds it."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, exists, select

from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import AudienceKind
from pressbox.core.db.database import UnitOfWork
from pressbox.soonish.adapters.rows import EventRow, NotificationRow, SubscriptionRow
from pressbox.soonish.domain.audiences import ORGANISER, SENDER, SUBSCRIBER, organiser_of


def _organises(event_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(EventRow.id == event_id, EventRow.organiser_id == user_id)


def _sends(notification_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(
        NotificationRow.id == notification_id,
        EventRow.id == NotificationRow.event_id,
        EventRow.organiser_id == user_id,
    )


def _subscribes(subscription_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(SubscriptionRow.id == subscription_id, SubscriptionRow.user_id == user_id)


AUDIENCES = (
    AudienceKind(ORGANISER, _organises),
    AudienceKind(SENDER, _sends),
    AudienceKind(SUBSCRIBER, _subscribes),
)


async def find_organisers(work: UnitOfWork, slugs: Collection[str]) -> Mapping[str, Audience]:
    """The audiences of events that are followed by their slugs."""
    rows = await work.session.execute(select(EventRow.slug, EventRow.id).where(EventRow.slug.in_(slugs)))
    return {slug: organiser_of(event_id) for slug, event_id in rows.tuples()}
