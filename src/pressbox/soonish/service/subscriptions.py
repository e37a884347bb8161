"""Subscriptions: join, choose, mute, leave, be reminded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pressbox.core.accounts.limits import Limit, RateLimits, address_subject
from pressbox.core.accounts.people import normalise_email
from pressbox.core.errors import ConflictError, NotFoundError, PressboxError, RateLimitedError
from pressbox.core.logs import get_logger
from pressbox.soonish.domain.links import Purpose, SignedLinks
from pressbox.soonish.domain.reminders import SubscriptionState, checked_offsets
from pressbox.soonish.domain.views import AskedReminderView, EventView, SubscriptionView, Viewer
from pressbox.soonish.ports import Holder, Mailer
from pressbox.soonish.service.events import utc_now
from pressbox.soonish.service.inputs import Choice, checked_delay, clean_url
from pressbox.soonish.service.stores import AddressCheck, EventStore, SubscriptionStore, Vault
from pressbox.soonish.service.telling import Teller

log = get_logger(__name__)

CONFIRMATION_LIFE = timedelta(days=2)
MOST_REMINDERS = 20
SUBSCRIBE_BY_ADDRESS = Limit("soonish-subscribe-address", 30, timedelta(minutes=10))
MAIL_TO_ADDRESS = Limit("soonish-mail-address", 5, timedelta(hours=1))
MAIL_AGAIN = Limit("soonish-mail-again", 1, timedelta(hours=1))


@dataclass(frozen=True)
class Joined:
    """A new subscription without an account, and the private link to it."""

    subscription: SubscriptionView
    manage_url: str


class SubscriptionService:
    def __init__(
        self,
        events: EventStore,
        subscriptions: SubscriptionStore,
        vault: Vault,
        addresses: AddressCheck,
        mailer: Mailer | None,
        links: SignedLinks,
        limits: RateLimits,
        teller: Teller,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._events = events
        self._subscriptions = subscriptions
        self._vault = vault
        self._addresses = addresses
        self._mailer = mailer
        self._links = links
        self._limits = limits
        self._teller = teller
        self._now = now

    async def subscribe(self, viewer: Viewer, slug: str, choice: Choice) -> SubscriptionView:
        """With an account. Subscribing again replaces the choice; `too_late` says which reminders cannot come."""
        chosen = choice.checked()
        subscription_id = await self._subscriptions.subscribe(
            viewer, slug, chosen.channel_ids, chosen.tags, chosen.offsets
        )
        return await self._told(Holder(subscription_id, viewer.user_id))

    async def subscribe_by_url(
        self, viewer: Viewer, slug: str, url: str, offsets: tuple[timedelta, ...] | None, client: str
    ) -> Joined:
        """Without an account, with an Apprise address: whoever knows it may use it."""
        await self._limits.count(SUBSCRIBE_BY_ADDRESS, address_subject(client))
        cleaned = clean_url(url)
        kind, shown = self._addresses.kind(cleaned)
        sealed = self._vault.seal(cleaned, kind, shown)
        subscription_id = await self._subscriptions.subscribe_contact(viewer, slug, sealed, checked_offsets(offsets))
        subscription = await self._told(Holder(subscription_id))
        return Joined(subscription, self._links.manage(subscription_id))

    async def subscribe_by_email(
        self, viewer: Viewer, slug: str, email: str, offsets: tuple[timedelta, ...] | None, client: str
    ) -> None:
        """Without an account, by e-mail: one mail with a link, and nothing else until it was confirmed.

        The answer is the same whether the address is known here or not.
        """
        await self._limits.count(SUBSCRIBE_BY_ADDRESS, address_subject(client))
        address = normalise_email(email)
        checked = checked_offsets(offsets)
        event = await self._events.find(viewer, slug)
        if self._mailer is None:
            raise ConflictError("This Pressbox sends no e-mail. Subscribe with an Apprise address or an account.")
        await self._limits.count(MAIL_TO_ADDRESS, address)
        sealed = self._vault.seal(address, "email", masked(address))
        subscription_id, state, mail = await self._subscriptions.ask_confirmation(
            viewer, slug, sealed, checked, self._now() + CONFIRMATION_LIFE
        )
        if state in (SubscriptionState.ACTIVE, SubscriptionState.MUTED):
            await self._remind_of_link(self._mailer, address, event, subscription_id)
        elif mail:
            await self._ask(self._mailer, address, event, subscription_id)

    async def pending(self, token: str) -> SubscriptionView:
        """What a confirmation link is about; changes nothing, since programs look at links too."""
        return await self._subscriptions.view(Holder(self._read(Purpose.CONFIRM, token)))

    async def confirm(self, token: str) -> Joined:
        """Confirm an address. Twice is fine."""
        subscription_id = self._read(Purpose.CONFIRM, token)
        await self._subscriptions.confirm(subscription_id)
        log.info("address_confirmed", msg="An address was confirmed", subscription_id=subscription_id)
        return Joined(await self._told(Holder(subscription_id)), self._links.manage(subscription_id))

    def holder(self, token: str) -> Holder:
        """Who has the private link to a subscription. A link to unsubscribe opens no more than that."""
        return Holder(self._read(Purpose.MANAGE, token))

    async def view(self, holder: Holder) -> SubscriptionView:
        return await self._subscriptions.view(holder)

    async def of_user(self, user_id: int) -> Sequence[SubscriptionView]:
        return await self._subscriptions.of_user(user_id)

    def manage_url(self, subscription_id: int) -> str:
        return self._links.manage(subscription_id)

    async def change(self, holder: Holder, choice: Choice) -> SubscriptionView:
        chosen = choice.checked()
        await self._subscriptions.change(holder, chosen.channel_ids, chosen.tags, chosen.offsets)
        return await self._told(holder)

    async def mute(self, holder: Holder) -> SubscriptionView:
        await self._subscriptions.set_state(holder, SubscriptionState.MUTED)
        return await self._told(holder)

    async def unmute(self, holder: Holder) -> SubscriptionView:
        await self._subscriptions.set_state(holder, SubscriptionState.ACTIVE)
        return await self._told(holder)

    async def leave(self, holder: Holder) -> None:
        event_id = await self._subscriptions.set_state(holder, SubscriptionState.LEFT)
        log.info("left", msg="Somebody left an event", subscription_id=holder.subscription_id)
        await self._teller.tell(event_id)

    async def to_unsubscribe(self, token: str) -> SubscriptionView:
        """What a link to unsubscribe is about; changes nothing."""
        return await self._subscriptions.view(Holder(self._read(Purpose.UNSUBSCRIBE, token)))

    async def unsubscribe(self, token: str) -> None:
        """One click, as mail programs do it. Twice is fine."""
        await self.leave(Holder(self._read(Purpose.UNSUBSCRIBE, token)))

    async def remind_in(self, holder: Holder, delay: timedelta) -> AskedReminderView:
        """Once, after this time."""
        fire_at = self._now() + checked_delay(delay)
        reminder = await self._subscriptions.ask_reminder(holder, fire_at, MOST_REMINDERS)
        event_id = (await self._subscriptions.view(holder)).event.id
        await self._teller.start_reminder(reminder.id, event_id)
        return reminder

    async def cancel_reminder(self, holder: Holder, reminder_id: int) -> None:
        """First in Temporal, then here: nothing is called cancelled that would still come."""
        view = await self._subscriptions.view(holder)
        if reminder_id not in {reminder.id for reminder in view.reminders}:
            raise NotFoundError("There is no such reminder.")
        await self._teller.cancel_reminder(holder.subscription_id, reminder_id)
        await self._subscriptions.cancel_reminder(holder, reminder_id)

    async def _told(self, holder: Holder) -> SubscriptionView:
        view = await self._subscriptions.view(holder)
        await self._teller.tell(view.event.id)
        return view

    async def _ask(self, mailer: Mailer, address: str, event: EventView, subscription_id: int) -> None:
        body = (
            f"Somebody, most likely you, wants to hear of {event.name}.\n\nConfirm it here:\n"
            f"{self._links.confirm(subscription_id)}\n\n"
            "If it was not you, do nothing: no other mail will come."
        )
        try:
            await mailer.send(address, f"Confirm: {event.name}", body, {})
        except PressboxError:
            await self._subscriptions.forget_confirmation(subscription_id)
            raise

    async def _remind_of_link(self, mailer: Mailer, address: str, event: EventView, subscription_id: int) -> None:
        try:
            await self._limits.count(MAIL_AGAIN, f"{subscription_id}")
        except RateLimitedError:
            # Said aloud, it would tell a stranger that this address is subscribed.
            return
        body = f"You hear of {event.name} already.\n\nChange or leave:\n{self._links.manage(subscription_id)}"
        headers = {
            "List-Unsubscribe": f"<{self._links.unsubscribe(subscription_id)}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
        await mailer.send(address, f"Your subscription: {event.name}", body, headers)

    def _read(self, purpose: Purpose, token: str) -> int:
        number = self._links.read(purpose, token)
        if number is None:
            raise NotFoundError("This link is not valid. Copy it whole from the message.")
        return number


def masked(email: str) -> str:
    """`a***@example.org`: enough for an organiser to recognise somebody, not enough to write to them."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}"
