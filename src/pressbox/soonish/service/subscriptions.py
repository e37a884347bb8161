"""Subscriptions: join, set preferences, mute, leave, ask for a reminder."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select, update

from pressbox.core.accounts.limits import Limit, RateLimits, address_subject
from pressbox.core.accounts.people import normalise_email
from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import (
    ConflictError,
    GoneError,
    NotFoundError,
    NotSignedInError,
    PressboxError,
    RateLimitedError,
)
from pressbox.core.logs import get_logger
from pressbox.soonish.adapters import subscription_rows
from pressbox.soonish.adapters.address_vault import AddressVault
from pressbox.soonish.adapters.event_rows import load_visible
from pressbox.soonish.adapters.mailer import unsubscribe_headers
from pressbox.soonish.adapters.rows import ContactRow, EventRow, RequestedReminderRow, SubscriptionRow
from pressbox.soonish.adapters.subscription_rows import load_held, load_open_event, record_change
from pressbox.soonish.adapters.transaction import load_time
from pressbox.soonish.contracts import ParticipantAdded, ParticipantChanged, ParticipantRemoved
from pressbox.soonish.domain.channels import clean_url
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.reminders import SubscriptionState, validate_offsets
from pressbox.soonish.domain.targets import Audience
from pressbox.soonish.domain.views import Holder, RequestedReminderView, SubscriptionView, Viewer
from pressbox.soonish.ports import AddressCheck, Mailer, RequestedReminder, SealedAddress, Workflows
from pressbox.soonish.service.inputs import Preferences, validate_delay
from pressbox.soonish.service.relay import WorkflowRelay

log = get_logger(__name__)

CONFIRMATION_LIFETIME = timedelta(days=2)
MAX_REMINDERS = 20
SUBSCRIBE_PER_CLIENT = Limit("soonish-subscribe-address", 30, timedelta(minutes=10))
MAIL_PER_ADDRESS = Limit("soonish-mail-address", 5, timedelta(hours=1))
LINK_PER_SUBSCRIPTION = Limit("soonish-mail-again", 1, timedelta(hours=1))

ACTIVE, MUTED, PENDING, LEFT = (
    SubscriptionState.ACTIVE,
    SubscriptionState.MUTED,
    SubscriptionState.PENDING,
    SubscriptionState.LEFT,
)
Offsets = tuple[timedelta, ...] | None


@dataclass(frozen=True)
class NewSubscription:
    """A new subscription without an account, and the private link to it."""

    subscription: SubscriptionView
    manage_url: str


class SubscriptionService:
    def __init__(
        self,
        database: Database,
        vault: AddressVault,
        addresses: AddressCheck,
        mailer: Mailer | None,
        links: SignedLinks,
        limits: RateLimits,
        relay: WorkflowRelay,
        workflows: Workflows,
        now: Clock = utc_now,
    ) -> None:
        self._database = database
        self._vault = vault
        self._addresses = addresses
        self._mailer = mailer
        self._links = links
        self._limits = limits
        self._relay = relay
        self._workflows = workflows
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
            await subscription_rows.replace_selectors(work.session, row, preferences.channel_ids, preferences.tags)
            await _join(work, event, row, preferences.offsets, is_new=before in (None, LEFT))
        return await self._signal(Holder(row.id, viewer.user_id))

    async def subscribe_by_url(
        self, viewer: Viewer, slug: str, url: str, offsets: Offsets, client: str
    ) -> NewSubscription:
        """Subscribe an Apprise address without an account: whoever knows the address may use it."""
        await self._limits.count(SUBSCRIBE_PER_CLIENT, address_subject(client))
        cleaned, checked = clean_url(url), validate_offsets(offsets)
        facts = await self._addresses.describe(cleaned, Audience.ANYBODY)
        address = self._vault.seal(cleaned, facts.scheme, facts.service)
        async with self._database.unit_of_work() as work:
            event = await load_open_event(work.session, viewer, slug)
            contact_id = await subscription_rows.save_contact(work.session, address)
            row, before = await subscription_rows.save_subscription(work.session, event, ACTIVE, contact_id=contact_id)
            row.state = MUTED if before is MUTED else ACTIVE
            await _join(work, event, row, checked, is_new=before in (None, LEFT))
        return NewSubscription(await self._signal(Holder(row.id)), self._links.manage_url(row.id))

    async def subscribe_by_email(self, viewer: Viewer, slug: str, email: str, offsets: Offsets, client: str) -> None:
        """Subscribe an e-mail address without an account: it gets one mail with a link, and nothing else before.

        The answer is the same whether the address is known here or not.
        """
        await self._limits.count(SUBSCRIBE_PER_CLIENT, address_subject(client))
        address, checked = normalise_email(email), validate_offsets(offsets)
        async with self._database.unit_of_work() as work:
            event_name = (await load_visible(work.session, viewer, slug)).name
        if self._mailer is None:
            raise ConflictError("This Pressbox sends no e-mail. Subscribe with an Apprise address or an account.")
        await self._limits.count(MAIL_PER_ADDRESS, address)
        sealed = self._vault.seal(address, "email", mask_email(address))
        subscription_id, state, needs_mail = await self._request_confirmation(viewer, slug, sealed, checked)
        if state in (ACTIVE, MUTED):
            await self._send_link(self._mailer, address, event_name, subscription_id)
        elif needs_mail:
            await self._send_confirmation(self._mailer, address, event_name, subscription_id)

    async def confirm(self, holder: Holder) -> NewSubscription:
        """Confirm an address. Doing it twice is fine."""
        if await self._confirm(holder):
            log.info("address_confirmed", msg="An address was confirmed", subscription_id=holder.subscription_id)
        return NewSubscription(await self._signal(holder), self._links.manage_url(holder.subscription_id))

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
            .order_by(EventRow.start_date, SubscriptionRow.id)
        )
        async with self._database.unit_of_work() as work:
            return await subscription_rows.load_views(work.session, (await work.session.scalars(statement)).all())

    async def change(self, holder: Holder, stated: Preferences) -> SubscriptionView:
        preferences = stated.validate()
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            _refuse_left(row)
            await subscription_rows.replace_selectors(work.session, row, preferences.channel_ids, preferences.tags)
            await subscription_rows.replace_offsets(work.session, row, preferences.offsets)
            if row.state != PENDING:
                await subscription_rows.replace_too_late(work.session, event, row, preferences.offsets)
                await record_change(work, event, row, ParticipantChanged)
        return await self._signal(holder)

    async def mute(self, holder: Holder) -> SubscriptionView:
        await self._set_state(holder, MUTED)
        return await self._signal(holder)

    async def unmute(self, holder: Holder) -> SubscriptionView:
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
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            if row.state != ACTIVE:
                raise ConflictError("Only an active subscription can be reminded.")
            if event.status != EventStatus.ACTIVE or fire_at >= event.start_date:
                raise ConflictError("The event will have started by then. Choose an earlier time.")
            waiting = await work.session.scalar(
                select(func.count()).where(
                    RequestedReminderRow.subscription_id == row.id,
                    RequestedReminderRow.cancelled_at.is_(None),
                    RequestedReminderRow.outcome == "",
                )
            )
            if waiting is not None and waiting >= MAX_REMINDERS:
                raise ConflictError(f"You already have {MAX_REMINDERS} reminders. Cancel one first.")
            reminder = RequestedReminderRow(subscription_id=row.id, fire_at=fire_at, outcome="")
            work.session.add(reminder)
            await work.session.flush()
        await self._relay.start_reminder(RequestedReminder(event.id, row.id, reminder.id, fire_at))
        return RequestedReminderView(reminder.id, fire_at, "")

    async def cancel_reminder(self, holder: Holder, reminder_id: int) -> None:
        """Cancel it in Temporal first, then here: no reminder is called cancelled that could still be sent."""
        view = await self.get(holder)
        if reminder_id not in {reminder.id for reminder in view.reminders}:
            raise NotFoundError("There is no such reminder.")
        await self._workflows.cancel_reminder(holder.subscription_id, reminder_id)
        row = RequestedReminderRow
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(row).where(row.id == reminder_id, row.cancelled_at.is_(None)).values(cancelled_at=func.now())
            )

    async def _signal(self, holder: Holder) -> SubscriptionView:
        view = await self.get(holder)
        await self._relay.send_signals(view.event.id)
        return view

    async def _request_confirmation(
        self, viewer: Viewer, slug: str, address: SealedAddress, offsets: Offsets
    ) -> tuple[int, SubscriptionState, bool]:
        """The subscription, its state, and whether a confirmation mail must be sent."""
        async with self._database.unit_of_work() as work:
            event = await load_open_event(work.session, viewer, slug)
            contact_id = await subscription_rows.save_contact(work.session, address)
            row, before = await subscription_rows.save_subscription(work.session, event, PENDING, contact_id=contact_id)
            if before in (ACTIVE, MUTED):
                return row.id, before, False
            now = await load_time(work.session)
            is_waiting = before is PENDING and row.confirm_until is not None and row.confirm_until > now
            row.state = PENDING
            if not is_waiting:
                row.confirm_until = self._now() + CONFIRMATION_LIFETIME
            await subscription_rows.replace_offsets(work.session, row, offsets)
            return row.id, PENDING, not is_waiting

    async def _confirm(self, holder: Holder) -> bool:
        """Confirm a pending subscription; False when it is already confirmed."""
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            if row.state in (ACTIVE, MUTED):
                return False
            now = await load_time(work.session)
            if row.state == LEFT or row.confirm_until is None or row.confirm_until <= now:
                raise GoneError("This link has expired. Subscribe again to get a new one.")
            await work.session.refresh(event, with_for_update={"read": True})
            if event.status != EventStatus.ACTIVE:
                raise ConflictError(f"This event is {event.status}.")
            row.state, row.confirm_until = ACTIVE, None
            contact = update(ContactRow).where(ContactRow.id == row.contact_id)
            await work.session.execute(contact.values(verified_at=func.coalesce(ContactRow.verified_at, now)))
            await _join(work, event, row, await subscription_rows.load_offsets(work.session, row), is_new=True)
        return True

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
            row.state, row.confirm_until = state, None
            if state is LEFT:
                await work.session.execute(
                    update(RequestedReminderRow)
                    .where(RequestedReminderRow.subscription_id == row.id, RequestedReminderRow.cancelled_at.is_(None))
                    .values(cancelled_at=func.now())
                )
            if not was_pending:
                await record_change(work, event, row, ParticipantRemoved if state is LEFT else ParticipantChanged)
        return event.id

    async def _send_confirmation(self, mailer: Mailer, address: str, event_name: str, subscription_id: int) -> None:
        body = (
            f"Somebody, most likely you, wants to be told about {event_name}.\n\nConfirm it here:\n"
            f"{self._links.confirm_url(subscription_id)}\n\n"
            "If it was not you, do nothing: you will get no other mail."
        )
        try:
            await mailer.send(address, f"Confirm: {event_name}", body, {})
        except PressboxError:
            # Asking again may then send another mail.
            row = SubscriptionRow
            async with self._database.unit_of_work() as work:
                await work.session.execute(
                    update(row).where(row.id == subscription_id, row.state == PENDING).values(confirm_until=None)
                )
            raise

    async def _send_link(self, mailer: Mailer, address: str, event_name: str, subscription_id: int) -> None:
        """Send the private link again to an address that is already subscribed."""
        try:
            await self._limits.count(LINK_PER_SUBSCRIPTION, f"{subscription_id}")
        except RateLimitedError:
            # An error would tell a stranger that this address is subscribed.
            return
        url = self._links.manage_url(subscription_id)
        body = f"You are already subscribed to {event_name}.\n\nChange your subscription or leave:\n{url}"
        headers = unsubscribe_headers(self._links.unsubscribe_url(subscription_id))
        await mailer.send(address, f"Your subscription: {event_name}", body, headers)


async def _join(work: UnitOfWork, event: EventRow, row: SubscriptionRow, offsets: Offsets, *, is_new: bool) -> None:
    await subscription_rows.replace_offsets(work.session, row, offsets)
    await subscription_rows.replace_too_late(work.session, event, row, offsets)
    await record_change(work, event, row, ParticipantAdded if is_new else ParticipantChanged)


def _refuse_left(row: SubscriptionRow) -> None:
    if row.state == LEFT:
        raise GoneError("You have left this event. Subscribe again to be told about it.")


def mask_email(email: str) -> str:
    """`a***@example.org`: enough for an organiser to recognise somebody, not enough to write to them."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}"
