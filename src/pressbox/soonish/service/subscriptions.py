"""Subscriptions: join, set preferences, mute, leave, ask for a reminder."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import (
    ConflictError,
    GoneError,
    NotFoundError,
    NotSignedInError,
)
from pressbox.core.logs import get_logger
from pressbox.core.quotas.store import demand
from pressbox.soonish.adapters import subscription_rows
from pressbox.soonish.adapters.inbox_notices import drop_unwanted
from pressbox.soonish.adapters.rows import EventRow, RequestedReminderRow, SubscriptionRow
from pressbox.soonish.adapters.subscription_rows import load_held, load_open_event, record_change
from pressbox.soonish.contracts import ParticipantChanged, ParticipantRemoved
from pressbox.soonish.domain.agenda import sort_agenda
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import Holder, RequestedReminderView, SubscriptionView, Viewer
from pressbox.soonish.reminder_ports import RequestedReminder
from pressbox.soonish.service.guest_limits import GuestLimits
from pressbox.soonish.service.inputs import Preferences, validate_delay
from pressbox.soonish.service.quotas import REMINDERS, REMINDERS_SET, SUBSCRIPTIONS
from pressbox.soonish.service.relay import WorkflowRelay

log = get_logger(__name__)

MAX_REMINDERS = 20
# Two reminders so close to each other are one: somebody clicked twice.
SAME_REMINDER = timedelta(seconds=30)

ACTIVE, MUTED, PENDING, LEFT = (
    SubscriptionState.ACTIVE,
    SubscriptionState.MUTED,
    SubscriptionState.PENDING,
    SubscriptionState.LEFT,
)
Offsets = tuple[timedelta, ...] | None
# In these states nothing leaves any more, also nothing that waits to go to a browser.


class SubscriptionService:
    def __init__(
        self,
        database: Database,
        guest_limits: GuestLimits,
        relay: WorkflowRelay,
        now: Clock = utc_now,
    ) -> None:
        self._database = database
        self._guest_limits = guest_limits
        self._relay = relay
        self._now = now

    async def subscribe(self, viewer: Viewer, slug: str, stated: Preferences) -> SubscriptionView:
        """Subscribe with an account. Subscribing again replaces the preferences."""
        preferences = stated.validate()
        if viewer.user_id is None:
            raise NotSignedInError("Sign in to use your channels, or subscribe with an address.")
        async with self._database.unit_of_work() as work:
            event = await load_open_event(work.session, viewer, slug)
            row, before = await subscription_rows.save_subscription(work.session, event, ACTIVE, user_id=viewer.user_id)
            # Whoever subscribes again has not asked to be unmuted.
            row.state = MUTED if before is MUTED else ACTIVE
            row.organiser_only = False
            # They want it whatever they follow.
            row.by_follow = row.own_choice = False
            subscription_rows.note_reader(row, viewer)
            await subscription_rows.replace_selectors(work.session, row, preferences.channel_ids, preferences.tags)
            await subscription_rows.join(work, event, row, preferences.offsets, is_new=before in (None, LEFT))
            if before in (None, LEFT):
                await demand(work.session, SUBSCRIPTIONS, viewer.user_id)
        return await self._signal(Holder(row.id, viewer.user_id))

    async def get(self, holder: Holder) -> SubscriptionView:
        async with self._database.unit_of_work() as work:
            row, _ = await load_held(work.session, holder)
            [view] = await subscription_rows.load_views(work.session, [row])
            return view

    async def list(self, user_id: int) -> Sequence[SubscriptionView]:
        statement = (
            select(SubscriptionRow)
            .join(EventRow, EventRow.id == SubscriptionRow.event_id)
            .where(
                SubscriptionRow.user_id == user_id,
                SubscriptionRow.organiser_only.is_(False),
                SubscriptionRow.state != LEFT,
                EventRow.deleted_at.is_(None),
            )
            .order_by(SubscriptionRow.id)
        )
        async with self._database.unit_of_work() as work:
            found = await subscription_rows.load_views(work.session, (await work.session.scalars(statement)).all())
        order = {event.id: place for place, event in enumerate(sort_agenda([v.event for v in found], self._now()))}
        return sorted(found, key=lambda view: order[view.event.id])

    async def change(self, holder: Holder, stated: Preferences) -> SubscriptionView:
        stated.validate()
        return await self.change_some(holder, lambda _: stated)

    async def change_some(self, holder: Holder, apply: Callable[[SubscriptionView], Preferences]) -> SubscriptionView:
        """Change some preferences. `apply` gets the present ones once nobody else can change them."""
        await self._count_change(holder)
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            _refuse_left(row)
            [present] = await subscription_rows.load_views(work.session, [row])
            preferences = apply(present).validate()
            if row.contact_id is not None:
                self._guest_limits.check_offsets(preferences.offsets)
            await subscription_rows.require_choice(work.session, row, preferences.channel_ids, preferences.tags)
            row.own_choice = row.by_follow
            await subscription_rows.replace_selectors(work.session, row, preferences.channel_ids, preferences.tags)
            await subscription_rows.replace_offsets(work.session, row, preferences.offsets)
            if row.state != PENDING:
                await subscription_rows.replace_too_late(work.session, event, row, preferences.offsets)
                await record_change(work, event, row, ParticipantChanged)
            await self._check_contact(work, row)
        return await self._signal(holder)

    async def mute(self, holder: Holder) -> SubscriptionView:
        await self._count_change(holder)
        await self._set_state(holder, MUTED)
        return await self._signal(holder)

    async def unmute(self, holder: Holder) -> SubscriptionView:
        await self._count_change(holder)
        await self._set_state(holder, ACTIVE)
        return await self._signal(holder)

    async def leave(self, holder: Holder) -> None:
        """Leave an event. Doing it twice is fine."""
        event_id = await self._set_state(holder, LEFT)
        log.info("left", msg="Somebody left an event", subscription_id=holder.subscription_id)
        await self._relay.send_signals(event_id)

    async def remind_in(self, holder: Holder, delay: timedelta) -> RequestedReminderView:
        """Ask for one reminder after this time."""
        fire_at = self._now() + validate_delay(delay)
        await self._count_change(holder)
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            if row.state != ACTIVE:
                raise ConflictError("Only an active subscription can be reminded.")
            if event.status != EventStatus.ACTIVE or fire_at >= event.start_date:
                raise ConflictError("The event will have started by then. Choose an earlier time.")
            waiting = await _load_waiting(work.session, row)
            for reminder in waiting:
                if abs(reminder.fire_at - fire_at) < SAME_REMINDER:
                    return RequestedReminderView(reminder.id, reminder.fire_at, "")
            is_guest = row.contact_id is not None
            most = self._guest_limits.settings.guest_reminders_per_subscription if is_guest else MAX_REMINDERS
            if len(waiting) >= most:
                raise ConflictError(f"You already have {most} reminders. Cancel one first.")
            reminder = RequestedReminderRow(subscription_id=row.id, fire_at=fire_at, outcome="")
            work.session.add(reminder)
            await self._check_contact(work, row)
            if row.user_id is not None:
                await demand(work.session, REMINDERS, row.user_id)
                await demand(work.session, REMINDERS_SET, row.user_id)
        await self._relay.start_reminder(RequestedReminder(event.id, row.id, reminder.id, fire_at))
        return RequestedReminderView(reminder.id, fire_at, "")

    async def cancel_reminder(self, holder: Holder, reminder_id: int) -> None:
        """Its workflow asks here before it sends anything, so it works without Temporal too."""
        view = await self.get(holder)
        if reminder_id not in {reminder.id for reminder in view.reminders}:
            raise NotFoundError("There is no such reminder.")
        row = RequestedReminderRow
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(row).where(row.id == reminder_id, row.cancelled_at.is_(None)).values(cancelled_at=func.now())
            )
        await self._relay.cancel_reminder(view.event.id, holder.subscription_id, reminder_id)

    async def _signal(self, holder: Holder) -> SubscriptionView:
        view = await self.get(holder)
        await self._relay.send_signals(view.event.id)
        return view

    async def _count_change(self, holder: Holder) -> None:
        """Whoever has only a private link may change things so often a day; an account has quotas of its own."""
        if holder.user_id is None:
            await self._guest_limits.count_change(holder.subscription_id)

    async def _check_contact(self, work: UnitOfWork, row: SubscriptionRow) -> None:
        await work.session.flush()
        if row.contact_id is not None:
            await self._guest_limits.check_contact(work.session, row.contact_id)

    async def _set_state(self, holder: Holder, state: SubscriptionState) -> int:
        """Mute, unmute or leave; returns the event's id."""
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            if row.state == state:
                return event.id
            if state is not LEFT:
                _refuse_left(row)
                if row.state == PENDING:
                    raise ConflictError("Confirm the address first, with the link in the mail.")
            was_pending = row.state == PENDING
            row.state, row.confirm_until, row.own_choice = state, None, row.by_follow
            if state is LEFT:
                await work.session.execute(
                    update(RequestedReminderRow)
                    .where(RequestedReminderRow.subscription_id == row.id, RequestedReminderRow.cancelled_at.is_(None))
                    .values(cancelled_at=func.now())
                )
            await drop_unwanted(work, row)
            if not was_pending:
                await record_change(work, event, row, ParticipantRemoved if state is LEFT else ParticipantChanged)
        return event.id


async def _load_waiting(session: AsyncSession, row: SubscriptionRow) -> Sequence[RequestedReminderRow]:
    own = RequestedReminderRow.subscription_id == row.id
    waits = RequestedReminderRow.cancelled_at.is_(None) & (RequestedReminderRow.outcome == "")
    return (await session.scalars(select(RequestedReminderRow).where(own, waits))).all()


def _refuse_left(row: SubscriptionRow) -> None:
    if row.state == LEFT:
        raise GoneError("You have left this event. Subscribe again to be told about it.")
