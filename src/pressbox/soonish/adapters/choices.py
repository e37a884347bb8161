"""What a subscriber chose: channels, tags and offsets. Statements inside a unit of work."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.adapters import access
from pressbox.soonish.adapters.rows import (
    AskedReminderRow,
    ChannelRow,
    ContactRow,
    EventRow,
    ReminderOffsetRow,
    SelectorRow,
    SubscriptionRow,
    TooLateRow,
)
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import Subscriber, SubscriptionState, TooLate, plan
from pressbox.soonish.domain.views import AskedReminderView, SubscriptionView


async def put_selectors(
    session: AsyncSession, row: SubscriptionRow, channel_ids: Sequence[int], tags: Sequence[str]
) -> None:
    """Replace the choice of channels. Nobody can name a channel of somebody else."""
    own = await session.scalars(
        select(ChannelRow.id).where(ChannelRow.id.in_(channel_ids), ChannelRow.user_id == row.user_id)
    )
    if set(channel_ids) - set(own):
        raise InvalidInputError("You have no such channel.", field="channel_ids")
    if row.contact_id is not None and tags:
        raise InvalidInputError("Only an account has channels with tags.", field="tags")
    await session.execute(delete(SelectorRow).where(SelectorRow.subscription_id == row.id))
    session.add_all(SelectorRow(subscription_id=row.id, channel_id=channel_id) for channel_id in channel_ids)
    session.add_all(SelectorRow(subscription_id=row.id, tag=tag) for tag in tags)


async def put_offsets(session: AsyncSession, row: SubscriptionRow, offsets: Sequence[timedelta] | None) -> None:
    """Replace the reminders: None is the default, an empty choice is none."""
    row.own_offsets = offsets is not None
    await session.execute(delete(ReminderOffsetRow).where(ReminderOffsetRow.subscription_id == row.id))
    session.add_all(
        ReminderOffsetRow(subscription_id=row.id, offset_seconds=int(offset.total_seconds()))
        for offset in offsets or ()
    )


async def note_too_late(
    session: AsyncSession, event: EventRow, row: SubscriptionRow, offsets: Sequence[timedelta] | None
) -> None:
    """Say at once which of the chosen reminders cannot come any more."""
    now: datetime = (await session.execute(select(func.now()))).scalar_one()
    subscriber = Subscriber(row.id, SubscriptionState(row.state), None if offsets is None else tuple(offsets))
    passed = plan(EventStatus(event.status), event.start_date, [subscriber], now).too_late
    await session.execute(delete(TooLateRow).where(TooLateRow.subscription_id == row.id))
    if passed:
        rows = [{"subscription_id": row.id, "offset_seconds": int(item.offset.total_seconds())} for item in passed]
        await session.execute(insert(TooLateRow), rows)


async def offsets_of(session: AsyncSession, row: SubscriptionRow) -> tuple[timedelta, ...] | None:
    if not row.own_offsets:
        return None
    found = await session.scalars(
        select(ReminderOffsetRow.offset_seconds)
        .where(ReminderOffsetRow.subscription_id == row.id)
        .order_by(ReminderOffsetRow.offset_seconds.desc())
    )
    return tuple(timedelta(seconds=seconds) for seconds in found)


async def views(session: AsyncSession, rows: Sequence[SubscriptionRow]) -> list[SubscriptionView]:
    """Subscriptions as their holders see them."""
    ids = [row.id for row in rows]
    selectors: dict[int, list[SelectorRow]] = defaultdict(list)
    for selector in await session.scalars(select(SelectorRow).where(SelectorRow.subscription_id.in_(ids))):
        selectors[selector.subscription_id].append(selector)
    offsets: dict[int, list[timedelta]] = defaultdict(list)
    chosen = select(ReminderOffsetRow).where(ReminderOffsetRow.subscription_id.in_(ids))
    for offset in await session.scalars(chosen.order_by(ReminderOffsetRow.offset_seconds.desc())):
        offsets[offset.subscription_id].append(timedelta(seconds=offset.offset_seconds))
    too_late: dict[int, list[str]] = defaultdict(list)
    passed = select(TooLateRow).where(TooLateRow.subscription_id.in_(ids)).order_by(TooLateRow.offset_seconds.desc())
    for late in await session.scalars(passed):
        words = str(TooLate(late.subscription_id, timedelta(seconds=late.offset_seconds)))
        too_late[late.subscription_id].append(words)
    reminders: dict[int, list[AskedReminderView]] = defaultdict(list)
    asked = select(AskedReminderRow).where(
        AskedReminderRow.subscription_id.in_(ids), AskedReminderRow.cancelled_at.is_(None)
    )
    for reminder in await session.scalars(asked.order_by(AskedReminderRow.fire_at)):
        reminders[reminder.subscription_id].append(AskedReminderView(reminder.id, reminder.fire_at, reminder.outcome))
    shown = await _addresses(session, rows)
    return [
        SubscriptionView(
            id=row.id,
            event=await access.view(session, await session.get_one(EventRow, row.event_id), row.user_id),
            state=SubscriptionState(row.state),
            offsets=tuple(offsets[row.id]) if row.own_offsets else None,
            channel_ids=tuple(sorted(item.channel_id for item in selectors[row.id] if item.channel_id is not None)),
            tags=tuple(sorted(item.tag for item in selectors[row.id] if item.tag is not None)),
            address=shown.get(row.contact_id or 0, ""),
            too_late=tuple(too_late[row.id]),
            reminders=tuple(reminders[row.id]),
        )
        for row in rows
    ]


async def _addresses(session: AsyncSession, rows: Sequence[SubscriptionRow]) -> dict[int, str]:
    contacts = {row.contact_id for row in rows if row.contact_id is not None}
    found = await session.execute(select(ContactRow.id, ContactRow.shown).where(ContactRow.id.in_(contacts)))
    return {contact_id: shown for contact_id, shown in found.tuples()}
