"""Subscriptions in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import ConflictError, GoneError, NotFoundError, NotSignedInError
from pressbox.soonish.adapters import access, choices, outbox
from pressbox.soonish.adapters.messages import EVENT_CHANGED
from pressbox.soonish.adapters.rows import AskedReminderRow, ContactRow, EventRow, SubscriptionRow
from pressbox.soonish.contracts import ParticipantAdded, ParticipantChanged, ParticipantRemoved
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import AskedReminderView, SubscriptionView, Viewer
from pressbox.soonish.ports import Holder, Sealed

ACTIVE, MUTED, PENDING, LEFT = (
    SubscriptionState.ACTIVE,
    SubscriptionState.MUTED,
    SubscriptionState.PENDING,
    SubscriptionState.LEFT,
)


class SqlSubscriptionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def subscribe(
        self,
        viewer: Viewer,
        slug: str,
        channel_ids: Sequence[int],
        tags: Sequence[str],
        offsets: Sequence[timedelta] | None,
    ) -> int:
        if viewer.user_id is None:
            raise NotSignedInError("Sign in to use your channels, or subscribe with an address.")
        async with self._database.unit_of_work() as work:
            event = await _open_event(work.session, viewer, slug)
            row, before = await _row(work.session, event, ACTIVE, user_id=viewer.user_id)
            # Who subscribes again has not asked to be unmuted.
            row.state = MUTED if before is MUTED else ACTIVE
            row.organiser_only = False
            await choices.put_selectors(work.session, row, channel_ids, tags)
            await _joined(work, event, row, offsets, new=before in (None, LEFT))
            return row.id

    async def subscribe_contact(
        self, viewer: Viewer, slug: str, address: Sealed, offsets: Sequence[timedelta] | None
    ) -> int:
        async with self._database.unit_of_work() as work:
            event = await _open_event(work.session, viewer, slug)
            contact_id = await _contact(work.session, address)
            row, before = await _row(work.session, event, ACTIVE, contact_id=contact_id)
            row.state = MUTED if before is MUTED else ACTIVE
            await _joined(work, event, row, offsets, new=before in (None, LEFT))
            return row.id

    async def ask_confirmation(
        self, viewer: Viewer, slug: str, address: Sealed, offsets: Sequence[timedelta] | None, until: datetime
    ) -> tuple[int, SubscriptionState, bool]:
        async with self._database.unit_of_work() as work:
            event = await _open_event(work.session, viewer, slug)
            contact_id = await _contact(work.session, address)
            row, before = await _row(work.session, event, PENDING, contact_id=contact_id)
            if before in (ACTIVE, MUTED):
                return row.id, before, False
            now = await _now(work.session)
            waiting = before is PENDING and row.confirm_until is not None and row.confirm_until > now
            row.state = PENDING
            if not waiting:
                row.confirm_until = until
            await choices.put_offsets(work.session, row, offsets)
            return row.id, PENDING, not waiting

    async def forget_confirmation(self, subscription_id: int) -> None:
        row = SubscriptionRow
        statement = update(row).where(row.id == subscription_id, row.state == PENDING).values(confirm_until=None)
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)

    async def confirm(self, subscription_id: int) -> None:
        async with self._database.unit_of_work() as work:
            row, event = await _held(work.session, Holder(subscription_id))
            if row.state in (ACTIVE, MUTED):
                return
            now = await _now(work.session)
            if row.state == LEFT or row.confirm_until is None or row.confirm_until <= now:
                raise GoneError("This link has grown old. Subscribe again to get a new one.")
            await work.session.refresh(event, with_for_update={"read": True})
            if event.status != EventStatus.ACTIVE:
                raise ConflictError(f"This event is {event.status}.")
            row.state, row.confirm_until = ACTIVE, None
            verified = update(ContactRow).where(ContactRow.id == row.contact_id)
            await work.session.execute(verified.values(verified_at=func.coalesce(ContactRow.verified_at, now)))
            await _joined(work, event, row, await choices.offsets_of(work.session, row), new=True)

    async def view(self, holder: Holder) -> SubscriptionView:
        async with self._database.unit_of_work() as work:
            row, _ = await _held(work.session, holder)
            [view] = await choices.views(work.session, [row])
            return view

    async def of_user(self, user_id: int) -> Sequence[SubscriptionView]:
        statement = (
            select(SubscriptionRow)
            .join(EventRow, EventRow.id == SubscriptionRow.event_id)
            .where(
                SubscriptionRow.user_id == user_id,
                SubscriptionRow.organiser_only.is_(False),
                SubscriptionRow.state != LEFT,
                EventRow.deleted_at.is_(None),
            )
            .order_by(EventRow.start_date, SubscriptionRow.id)
        )
        async with self._database.unit_of_work() as work:
            return await choices.views(work.session, (await work.session.scalars(statement)).all())

    async def change(
        self, holder: Holder, channel_ids: Sequence[int], tags: Sequence[str], offsets: Sequence[timedelta] | None
    ) -> None:
        async with self._database.unit_of_work() as work:
            row, event = await _held(work.session, holder)
            _refuse_left(row)
            await choices.put_selectors(work.session, row, channel_ids, tags)
            await choices.put_offsets(work.session, row, offsets)
            if row.state != PENDING:
                await choices.note_too_late(work.session, event, row, offsets)
                await _changed(work, event, row, ParticipantChanged)

    async def set_state(self, holder: Holder, state: SubscriptionState) -> int:
        async with self._database.unit_of_work() as work:
            row, event = await _held(work.session, holder)
            if row.state == state:
                return event.id
            if state is not LEFT:
                _refuse_left(row)
                if row.state == PENDING:
                    raise ConflictError("Confirm the address first, with the link in the mail.")
            told = row.state != PENDING
            row.state, row.confirm_until = state, None
            if state is LEFT:
                await work.session.execute(
                    update(AskedReminderRow)
                    .where(AskedReminderRow.subscription_id == row.id, AskedReminderRow.cancelled_at.is_(None))
                    .values(cancelled_at=func.now())
                )
            if told:
                await _changed(work, event, row, ParticipantRemoved if state is LEFT else ParticipantChanged)
            return event.id

    async def ask_reminder(self, holder: Holder, fire_at: datetime, most: int) -> AskedReminderView:
        async with self._database.unit_of_work() as work:
            row, event = await _held(work.session, holder)
            if row.state != ACTIVE:
                raise ConflictError("Only an active subscription can be reminded.")
            if event.status != EventStatus.ACTIVE or fire_at >= event.start_date:
                raise ConflictError("The event will have started by then. Choose an earlier moment.")
            waiting = await work.session.scalar(
                select(func.count()).where(
                    AskedReminderRow.subscription_id == row.id,
                    AskedReminderRow.cancelled_at.is_(None),
                    AskedReminderRow.outcome == "",
                )
            )
            if waiting is not None and waiting >= most:
                raise ConflictError(f"There are {most} reminders already. Cancel one first.")
            reminder = AskedReminderRow(subscription_id=row.id, fire_at=fire_at, outcome="")
            work.session.add(reminder)
            await work.session.flush()
            return AskedReminderView(reminder.id, reminder.fire_at, "")

    async def cancel_reminder(self, holder: Holder, reminder_id: int) -> None:
        async with self._database.unit_of_work() as work:
            row, _ = await _held(work.session, holder)
            mine = update(AskedReminderRow).where(
                AskedReminderRow.id == reminder_id, AskedReminderRow.subscription_id == row.id
            )
            when = func.coalesce(AskedReminderRow.cancelled_at, func.now())
            if await work.session.scalar(mine.values(cancelled_at=when).returning(AskedReminderRow.id)) is None:
                raise NotFoundError("There is no such reminder.")


async def _open_event(session: AsyncSession, viewer: Viewer, slug: str) -> EventRow:
    # Held: whoever joins while it is being cancelled either hears of it or cannot join.
    event = await access.visible(session, viewer, slug, hold=True)
    if event.status != EventStatus.ACTIVE:
        raise ConflictError(f"This event is {event.status}, so nobody can join it.")
    return event


async def _contact(session: AsyncSession, address: Sealed) -> int:
    """One contact per address, however often it is given. It is healthy again, since somebody wants it."""
    statement = insert(ContactRow).values(
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
                },
            ).returning(ContactRow.id)
        )
    ).scalar_one()


async def _row(
    session: AsyncSession,
    event: EventRow,
    state: SubscriptionState,
    *,
    user_id: int | None = None,
    contact_id: int | None = None,
) -> tuple[SubscriptionRow, SubscriptionState | None]:
    """The subscription of this person, locked, and what it was before; None when it is new."""
    made = await session.scalar(
        insert(SubscriptionRow)
        .values(event_id=event.id, user_id=user_id, contact_id=contact_id, state=state)
        .on_conflict_do_nothing()
        .returning(SubscriptionRow.id)
    )
    mine = SubscriptionRow.user_id == user_id if user_id is not None else SubscriptionRow.contact_id == contact_id
    statement = select(SubscriptionRow).where(SubscriptionRow.event_id == event.id, mine).with_for_update()
    row = (await session.execute(statement)).scalar_one()
    return row, None if made is not None else SubscriptionState(row.state)


async def _held(session: AsyncSession, holder: Holder) -> tuple[SubscriptionRow, EventRow]:
    """The subscription and its event, for its account or for whoever has the private link."""
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


async def _joined(
    work: UnitOfWork, event: EventRow, row: SubscriptionRow, offsets: Sequence[timedelta] | None, *, new: bool
) -> None:
    await choices.put_offsets(work.session, row, offsets)
    await choices.note_too_late(work.session, event, row, offsets)
    await _changed(work, event, row, ParticipantAdded if new else ParticipantChanged)


async def _changed(
    work: UnitOfWork,
    event: EventRow,
    row: SubscriptionRow,
    kind: type[ParticipantAdded | ParticipantChanged | ParticipantRemoved],
) -> None:
    row.changed_at = await _now(work.session)
    await outbox.put(work.session, event.id, kind, subscription_id=row.id)
    work.changed(EVENT_CHANGED, event.slug)


async def _now(session: AsyncSession) -> datetime:
    return (await session.execute(select(func.now()))).scalar_one()


def _refuse_left(row: SubscriptionRow) -> None:
    if row.state == LEFT:
        raise GoneError("You have left this event. Subscribe again to hear of it.")
