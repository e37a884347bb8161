"""People without an account subscribe with an address; it confirms itself by a link before it gets anything else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import func, update

from pressbox.core.accounts.limits import Limit
from pressbox.core.accounts.people import normalise_email
from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database
from pressbox.core.db.transaction import load_time
from pressbox.core.errors import (
    ConflictError,
    GoneError,
    InvalidInputError,
    PressboxError,
    RateLimitedError,
    TransientError,
)
from pressbox.core.logs import get_logger
from pressbox.delivery.adapters.address_book import EMAIL
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.mailer import NO_HEADERS, unsubscribe_headers
from pressbox.delivery.adapters.rows import ContactRow
from pressbox.delivery.domain.attempts import AttemptResult, Level
from pressbox.delivery.domain.channels import clean_url
from pressbox.delivery.domain.targets import Audience, normalise_mailbox
from pressbox.delivery.ports import AddressCheck, Mailer, OutgoingMessage, SealedAddress, Sender
from pressbox.soonish.adapters import subscription_rows
from pressbox.soonish.adapters.event_rows import load_visible
from pressbox.soonish.adapters.rows import SubscriptionRow
from pressbox.soonish.adapters.subscription_rows import load_held, load_open_event
from pressbox.soonish.adapters.wordings import write_confirmation, write_manage_link
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState, validate_offsets
from pressbox.soonish.domain.views import Holder, SubscriptionView, Viewer
from pressbox.soonish.service.guest_limits import HOUR, GuestLimits
from pressbox.soonish.service.relay import WorkflowRelay

log = get_logger(__name__)

CONFIRMATION_LIFETIME = timedelta(days=2)
LINK_PER_SUBSCRIPTION = Limit("soonish-mail-again", 1, HOUR)

ACTIVE, MUTED, PENDING, LEFT = (
    SubscriptionState.ACTIVE,
    SubscriptionState.MUTED,
    SubscriptionState.PENDING,
    SubscriptionState.LEFT,
)
Offsets = tuple[timedelta, ...] | None


@dataclass(frozen=True)
class NewSubscription:
    """A confirmed subscription without an account, and the private link to it."""

    subscription: SubscriptionView
    manage_url: str


@dataclass(frozen=True)
class _Guest:
    """An address that somebody gave. `place` and `host` are what is counted."""

    sealed: SealedAddress
    place: str = field(repr=False)
    host: str = field(default="", repr=False)
    email: str = field(default="", repr=False)


@dataclass(frozen=True)
class _Request:
    """What asking led to. `needs_message`: no link to confirm is on its way yet."""

    subscription_id: int
    contact_id: int
    state: SubscriptionState
    needs_message: bool


class GuestService:
    """The answer is the same whether an address is known here or not."""

    def __init__(
        self,
        database: Database,
        vault: AddressVault,
        addresses: AddressCheck,
        sender: Sender,
        mailer: Mailer | None,
        links: SignedLinks,
        limits: GuestLimits,
        relay: WorkflowRelay,
        now: Clock = utc_now,
    ) -> None:
        self._database = database
        self._vault = vault
        self._addresses = addresses
        self._sender = sender
        self._mailer = mailer
        self._links = links
        self._limits = limits
        self._relay = relay
        self._now = now

    @property
    def takes_email(self) -> bool:
        return self._mailer is not None

    async def subscribe_by_url(self, viewer: Viewer, slug: str, url: str, offsets: Offsets, client: str) -> None:
        """Subscribe an Apprise address: it gets one message with a link, and nothing else before."""
        await self._limits.count_attempt(client, slug)
        cleaned, checked = clean_url(url), self._check_offsets(offsets)
        event_name = await self._load_name(viewer, slug)
        facts = await self._addresses.describe(cleaned, Audience.ANYBODY)
        sealed = self._vault.seal(cleaned, facts.scheme, facts.service)
        await self._ask(viewer, slug, event_name, _Guest(sealed, facts.place, facts.host), checked)

    async def subscribe_by_email(self, viewer: Viewer, slug: str, email: str, offsets: Offsets, client: str) -> None:
        """Subscribe an e-mail address: it gets one mail with a link, and nothing else before."""
        await self._limits.count_attempt(client, slug)
        address, checked = normalise_email(email), self._check_offsets(offsets)
        event_name = await self._load_name(viewer, slug)
        if self._mailer is None:
            raise ConflictError("This Pressbox sends no e-mail. Subscribe with an Apprise address or an account.")
        sealed = self._vault.seal(address, EMAIL, mask_email(address))
        guest = _Guest(sealed, normalise_mailbox(address), email=address)
        await self._ask(viewer, slug, event_name, guest, checked)

    async def confirm(self, holder: Holder) -> NewSubscription:
        """Confirm an address. Doing it twice is fine."""
        if await self._confirm(holder):
            log.info("address_confirmed", msg="An address was confirmed", subscription_id=holder.subscription_id)
        async with self._database.unit_of_work() as work:
            row, event = await load_held(work.session, holder)
            [view] = await subscription_rows.load_views(work.session, [row])
        await self._relay.send_signals(event.id)
        return NewSubscription(view, self._links.manage_url(holder.subscription_id))

    def _check_offsets(self, offsets: Offsets) -> Offsets:
        checked = validate_offsets(offsets)
        self._limits.check_offsets(checked)
        return checked

    async def _load_name(self, viewer: Viewer, slug: str) -> str:
        async with self._database.unit_of_work() as work:
            return (await load_visible(work.session, viewer, slug)).name

    async def _ask(self, viewer: Viewer, slug: str, event_name: str, guest: _Guest, offsets: Offsets) -> None:
        request = await self._request_confirmation(viewer, slug, guest.sealed, offsets)
        if request.state in (ACTIVE, MUTED):
            await self._send_link(viewer.language, request, guest, event_name)
        elif request.needs_message:
            text = write_confirmation(viewer.language, event_name, self._links.confirm_url(request.subscription_id))
            try:
                await self._limits.count_message(guest.place, guest.host)
                await self._send(request.contact_id, guest, text)
            except PressboxError:
                await self._forget_message(request.subscription_id)
                raise

    async def _request_confirmation(
        self, viewer: Viewer, slug: str, address: SealedAddress, offsets: Offsets
    ) -> _Request:
        async with self._database.unit_of_work() as work:
            event = await load_open_event(work.session, viewer, slug)
            contact_id = await subscription_rows.save_contact(work.session, address)
            row, before = await subscription_rows.save_subscription(work.session, event, PENDING, contact_id=contact_id)
            if before in (ACTIVE, MUTED):
                return _Request(row.id, contact_id, before, needs_message=False)
            now = await load_time(work.session)
            is_waiting = before is PENDING and row.confirm_until is not None and row.confirm_until > now
            row.state = PENDING
            subscription_rows.note_reader(row, viewer)
            if not is_waiting:
                row.confirm_until = self._now() + CONFIRMATION_LIFETIME
            await subscription_rows.replace_offsets(work.session, row, offsets)
            return _Request(row.id, contact_id, PENDING, needs_message=not is_waiting)

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
            assert row.contact_id is not None, "only an address is confirmed"
            row.state, row.confirm_until = ACTIVE, None
            contact = update(ContactRow).where(ContactRow.id == row.contact_id)
            await work.session.execute(contact.values(verified_at=func.coalesce(ContactRow.verified_at, now)))
            offsets = await subscription_rows.load_offsets(work.session, row)
            await subscription_rows.join(work, event, row, offsets, is_new=True)
            await work.session.flush()
            await self._limits.check_contact(work.session, row.contact_id)
        return True

    async def _send_link(self, language: str, request: _Request, guest: _Guest, event_name: str) -> None:
        """Send the private link again to an address that is already subscribed."""
        try:
            await self._limits.rates.count(LINK_PER_SUBSCRIPTION, f"{request.subscription_id}")
            await self._limits.count_message(guest.place, guest.host)
        except RateLimitedError:
            # An error would tell a stranger that this address is subscribed.
            return
        text = write_manage_link(language, event_name, self._links.manage_url(request.subscription_id))
        headers = unsubscribe_headers(self._links.unsubscribe_url(request.subscription_id))
        await self._send(request.contact_id, guest, text, headers)

    async def _send(
        self, contact_id: int, guest: _Guest, text: MessageText, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        if guest.email and self._mailer is not None:
            await self._mailer.send(guest.email, text.title, text.body, headers)
            return
        message = OutgoingMessage(text.title, text.body, Level.INFO, why_url="", unsubscribe_url="")
        attempt = await self._sender.send(f"contact:{contact_id}", message)
        # What the other side answered stays here: nobody learns through us what listens where.
        if attempt.result is AttemptResult.REFUSED:
            raise InvalidInputError("The message with the link was refused there. Check the address.", field="url")
        if attempt.result is AttemptResult.UNAVAILABLE:
            raise TransientError("The message with the link cannot be delivered at the moment. Try again later.")

    async def _forget_message(self, subscription_id: int) -> None:
        """Asking again may then send another one."""
        row = SubscriptionRow
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(row).where(row.id == subscription_id, row.state == PENDING).values(confirm_until=None)
            )


def mask_email(email: str) -> str:
    """`a***@example.org`: enough for an organiser to recognise somebody, not enough to write to them."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}"
