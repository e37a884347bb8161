"""Subscription rows inside a unit of work: who holds them, what their holders prefer, and how they see them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.transaction import load_time
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.ports import SealedAddress
from pressbox.soonish.adapters import event_rows
from pressbox.soonish.adapters.messages import EVENT_CHANGED
from pressbox.soonish.adapters.outbox import add_signal
from pressbox.soonish.adapters.rows import (
    EventRow,
    ReminderOffsetRow,
    RequestedReminderRow,
    SelectorRow,
    SubscriptionRow,
    TooLateRow,
)
from pressbox.soonish.contracts import ParticipantAdded, ParticipantChanged, ParticipantRemoved
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import Subscriber, SubscriptionState, plan_reminders
from pressbox.soonish.domain.views import Holder, RequestedReminderView, SubscriptionView, Viewer


async def load_open_event(session: AsyncSession, viewer: Viewer, slug: str) -> EventRow:
    """Load an event that can be joined."""
    # Shared: whoever joins while it is being cancelled either is told of it or cannot join.
    event = await event_rows.load_visible(session, viewer, slug, share=True)
    if event.status != EventStatus.ACTIVE:
        raise ConflictError(f"This event is {event.status}, so nobody can join it.")
    return event


async def load_held(session: AsyncSession, holder: Holder) -> tuple[SubscriptionRow, EventRow]:
    """Load and lock a subscription with its event, for its account or for whoever has the private link."""
    statement = (
        select(SubscriptionRow, EventRow)
        .join(EventRow, EventRow.id == SubscriptionRow.event_id)
        .where(SubscriptionRow.id == holder.subscription_id)
        .with_for_update(of=SubscriptionRow)
    )
    found = (await session.execute(statement)).one_or_none()
    if found is None or (holder.user_id is not None and found[0].user_id != holder.user_id):
        raise NotFoundError("There is no such subscription.")
    return found[0], found[1]


async def save_subscription(
    session: AsyncSession,
    event: EventRow,
    state: SubscriptionState,
    *,
    user_id: int | None = None,
    contact_id: int | None = None,
) -> tuple[SubscriptionRow, SubscriptionState | None]:
    """Find or insert the subscription of this person, locked, with its state before; None when it is new."""
    inserted = await session.scalar(
        upsert(SubscriptionRow)
        .values(event_id=event.id, user_id=user_id, contact_id=contact_id, state=state)
        .on_conflict_do_nothing()
        .returning(SubscriptionRow.id)
    )
    own = SubscriptionRow.user_id == user_id if user_id is not None else SubscriptionRow.contact_id == contact_id
    statement = select(SubscriptionRow).where(SubscriptionRow.event_id == event.id, own).with_for_update()
    row = (await session.execute(statement)).scalar_one()
    return row, None if inserted is not None else SubscriptionState(row.state)


def note_reader(row: SubscriptionRow, viewer: Viewer) -> None:
    """Keep how this person reads, for the messages to them."""
    row.language, row.timezone = viewer.language or row.language, viewer.timezone or row.timezone


async def save_contact(session: AsyncSession, address: SealedAddress) -> int:
    """One contact per address, however often it is given. It counts as healthy again, since somebody wants it."""
    if address.older_targets:
        await _adopt_older(session, address)
    statement = upsert(ContactRow).values(
        kind=address.kind,
        encrypted_address=address.encrypted,
        key_id=address.key_id,
        target=address.target,
        shown=address.shown,
    )
    return (
        await session.execute(
            statement.on_conflict_do_update(
                index_elements=[ContactRow.target],
                set_={
                    "encrypted_address": statement.excluded.encrypted_address,
                    "key_id": statement.excluded.key_id,
                    "shown": statement.excluded.shown,
                    "failures": 0,
                    "broken_at": None,
                    "probe_at": None,
                    # It is wanted again: what removes unused addresses leaves it.
                    "created_at": func.now(),
                },
            ).returning(ContactRow.id)
        )
    ).scalar_one()


async def join(
    work: UnitOfWork, event: EventRow, row: SubscriptionRow, offsets: Sequence[timedelta] | None, *, is_new: bool
) -> None:
    """Let a subscription begin, or begin anew, with these reminders."""
    await replace_offsets(work.session, row, offsets)
    await replace_too_late(work.session, event, row, offsets)
    await record_change(work, event, row, ParticipantAdded if is_new else ParticipantChanged)


async def _adopt_older(session: AsyncSession, address: SealedAddress) -> None:
    """Give a contact that an earlier instance key sealed the target of the present key: there is never a second one."""
    if await session.scalar(select(ContactRow.id).where(ContactRow.target == address.target)) is not None:
        return
    older = ContactRow.target.in_(address.older_targets)
    found = await session.scalar(select(ContactRow).where(older).limit(1).with_for_update())
    if found is not None:
        found.encrypted_address, found.key_id, found.target = address.encrypted, address.key_id, address.target
        await session.flush()


async def record_change(
    work: UnitOfWork,
    event: EventRow,
    row: SubscriptionRow,
    kind: type[ParticipantAdded | ParticipantChanged | ParticipantRemoved],
) -> None:
    """Note that a subscription changed, and write the signal for the event's workflow."""
    row.changed_at = await load_time(work.session)
    await add_signal(work.session, event.id, kind, subscription_id=row.id)
    work.changed(EVENT_CHANGED, event.slug)


async def require_choice(
    session: AsyncSession, row: SubscriptionRow, channel_ids: Sequence[int], tags: Sequence[str]
) -> None:
    """Refuse an empty choice of somebody who has channels: they would hear nothing and not know it."""
    if channel_ids or tags or row.user_id is None:
        return
    if await session.scalar(select(ChannelRow.id).where(ChannelRow.user_id == row.user_id).limit(1)) is not None:
        raise InvalidInputError(
            "Choose at least one channel or tag. To hear nothing, mute the event or unsubscribe.", field="channel_ids"
        )


async def replace_selectors(
    session: AsyncSession, row: SubscriptionRow, channel_ids: Sequence[int], tags: Sequence[str]
) -> None:
    """Replace the choice of channels. Nobody can choose a channel of somebody else."""
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


async def replace_offsets(session: AsyncSession, row: SubscriptionRow, offsets: Sequence[timedelta] | None) -> None:
    """Replace the reminders: None is the default, an empty choice is none."""
    row.own_offsets = offsets is not None
    await session.execute(delete(ReminderOffsetRow).where(ReminderOffsetRow.subscription_id == row.id))
    session.add_all(
        ReminderOffsetRow(subscription_id=row.id, offset_seconds=int(offset.total_seconds()))
        for offset in offsets or ()
    )


async def replace_too_late(
    session: AsyncSession, event: EventRow, row: SubscriptionRow, offsets: Sequence[timedelta] | None
) -> None:
    """Note at once which of the chosen reminders are too late."""
    now = await load_time(session)
    subscriber = Subscriber(row.id, SubscriptionState(row.state), None if offsets is None else tuple(offsets))
    too_late = plan_reminders(EventStatus(event.status), event.start_date, [subscriber], now).too_late
    await session.execute(delete(TooLateRow).where(TooLateRow.subscription_id == row.id))
    if too_late:
        rows = [{"subscription_id": row.id, "offset_seconds": int(item.offset.total_seconds())} for item in too_late]
        await session.execute(insert(TooLateRow), rows)


async def load_offsets(session: AsyncSession, row: SubscriptionRow) -> tuple[timedelta, ...] | None:
    if not row.own_offsets:
        return None
    found = await session.scalars(
        select(ReminderOffsetRow.offset_seconds)
        .where(ReminderOffsetRow.subscription_id == row.id)
        .order_by(ReminderOffsetRow.offset_seconds.desc())
    )
    return tuple(timedelta(seconds=seconds) for seconds in found)


async def load_views(session: AsyncSession, rows: Sequence[SubscriptionRow]) -> list[SubscriptionView]:
    """Subscriptions as their holders see them."""
    ids = [row.id for row in rows]
    selectors: dict[int, list[SelectorRow]] = defaultdict(list)
    for selector in await session.scalars(select(SelectorRow).where(SelectorRow.subscription_id.in_(ids))):
        selectors[selector.subscription_id].append(selector)
    offsets: dict[int, list[timedelta]] = defaultdict(list)
    chosen = select(ReminderOffsetRow).where(ReminderOffsetRow.subscription_id.in_(ids))
    for offset in await session.scalars(chosen.order_by(ReminderOffsetRow.offset_seconds.desc())):
        offsets[offset.subscription_id].append(timedelta(seconds=offset.offset_seconds))
    too_late: dict[int, list[timedelta]] = defaultdict(list)
    passed = select(TooLateRow).where(TooLateRow.subscription_id.in_(ids)).order_by(TooLateRow.offset_seconds.desc())
    for late in await session.scalars(passed):
        too_late[late.subscription_id].append(timedelta(seconds=late.offset_seconds))
    reminders: dict[int, list[RequestedReminderView]] = defaultdict(list)
    requested = select(RequestedReminderRow).where(
        RequestedReminderRow.subscription_id.in_(ids), RequestedReminderRow.cancelled_at.is_(None)
    )
    for reminder in await session.scalars(requested.order_by(RequestedReminderRow.fire_at)):
        view = RequestedReminderView(reminder.id, reminder.fire_at, reminder.outcome)
        reminders[reminder.subscription_id].append(view)
    addresses = await _load_addresses(session, rows)
    return [
        SubscriptionView(
            id=row.id,
            event=await event_rows.load_view(session, await session.get_one(EventRow, row.event_id), row.user_id),
            state=SubscriptionState(row.state),
            offsets=tuple(offsets[row.id]) if row.own_offsets else None,
            channel_ids=tuple(sorted(item.channel_id for item in selectors[row.id] if item.channel_id is not None)),
            tags=tuple(sorted(item.tag for item in selectors[row.id] if item.tag is not None)),
            address=addresses.get(row.contact_id or 0, ""),
            too_late=tuple(too_late[row.id]),
            reminders=tuple(reminders[row.id]),
        )
        for row in rows
    ]


async def _load_addresses(session: AsyncSession, rows: Sequence[SubscriptionRow]) -> dict[int, str]:
    contacts = {row.contact_id for row in rows if row.contact_id is not None}
    found = await session.execute(select(ContactRow.id, ContactRow.shown).where(ContactRow.id.in_(contacts)))
    return {contact_id: shown for contact_id, shown in found.tuples()}
