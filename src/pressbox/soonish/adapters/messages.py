"""Writes messages and fixes their recipients, inside a unit of work."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, any_, insert, literal, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.adapters.rows import NotificationRow, RecipientRow, SubscriptionRow
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState

NOTIFICATION_CHANGED = "soonish.notification"
EVENT_CHANGED = "soonish.event"

NOTHING: Mapping[str, Any] = MappingProxyType({})
# Unconfirmed addresses and people who left get nothing. For muted ones the ledger records that they were skipped.
RECIPIENT_STATES = (SubscriptionState.ACTIVE, SubscriptionState.MUTED)


async def accept_message(
    session: AsyncSession,
    event_id: int,
    cause: Cause,
    version: str,
    level: Level,
    text: MessageText,
    recipients: ColumnElement[bool],
    *,
    changes: Sequence[dict[str, Any]] = (),
    occasion: Mapping[str, Any] = NOTHING,
    created_by: int | None = None,
) -> int:
    """Write a message and fix its recipients. The same (event, cause, version) again gives the same id."""
    written = await session.scalar(
        upsert(NotificationRow)
        .values(
            event_id=event_id,
            cause=cause,
            version=version,
            level=level,
            title=text.title,
            body=text.body,
            changes=list(changes),
            occasion=dict(occasion),
            created_by=created_by,
        )
        .on_conflict_do_nothing()
        .returning(NotificationRow.id)
    )
    if written is None:
        return await _find(session, event_id, cause, version)
    chosen = select(literal(written), SubscriptionRow.id).where(
        SubscriptionRow.event_id == event_id, SubscriptionRow.state.in_(RECIPIENT_STATES), recipients
    )
    await session.execute(insert(RecipientRow).from_select(["notification_id", "subscription_id"], chosen))
    return written


def everybody() -> ColumnElement[bool]:
    """All subscribers; the organiser only if they subscribed themselves."""
    return SubscriptionRow.organiser_only.is_(False)


def only(subscription_ids: Sequence[int]) -> ColumnElement[bool]:
    """These subscriptions and no others: an empty choice reaches nobody."""
    return SubscriptionRow.id == any_(literal(list(subscription_ids), ARRAY(BigInteger)))


async def _find(session: AsyncSession, event_id: int, cause: Cause, version: str) -> int:
    statement = select(NotificationRow.id).where(
        NotificationRow.event_id == event_id, NotificationRow.cause == cause, NotificationRow.version == version
    )
    return (await session.execute(statement)).scalar_one()
