"""How much people without an account may set off, so that nobody is flooded and no schedules pile up."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.limits import Limit, RateLimits, address_subject
from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.soonish.adapters.rows import EventRow, SubscriptionRow
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.settings import SoonishSettings

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ATTEMPTS_PER_CLIENT = Limit("soonish-subscribe-address", 30, timedelta(minutes=10))

_REMINDERS = text("""
    SELECT coalesce(sum(CASE WHEN person.own_offsets
            THEN (SELECT count(*) FROM soonish.reminder_offsets AS chosen WHERE chosen.subscription_id = person.id)
            ELSE 2 END), 0)
        + coalesce(sum((SELECT count(*) FROM soonish.asked_reminders AS asked WHERE asked.subscription_id = person.id
            AND asked.cancelled_at IS NULL AND asked.outcome = '')), 0)
    FROM soonish.subscriptions AS person JOIN soonish.events AS event ON event.id = person.event_id
    WHERE person.contact_id = :contact_id AND person.state IN ('active', 'muted') AND event.status = 'active'
""")


@dataclass(frozen=True)
class GuestLimits:
    """Checks the limits of people without an account: `settings` says how many, PostgreSQL counts."""

    rates: RateLimits
    settings: SoonishSettings

    async def count_attempt(self, client: str, slug: str) -> None:
        """Somebody at this address of the network asks to subscribe to this event."""
        subject = address_subject(client)
        await self.rates.count(ATTEMPTS_PER_CLIENT, subject)
        per_client = Limit("soonish-guest-client", self.settings.guest_confirmations_per_client, DAY)
        await self.rates.count(per_client, subject)
        per_event = Limit("soonish-guest-event", self.settings.guest_confirmations_per_event, DAY)
        await self.rates.count(per_event, slug)

    async def count_message(self, place: str, host: str) -> None:
        """A message that nobody has confirmed yet is sent to this place, on this server of somebody's own if any."""
        per_target = Limit("soonish-guest-target", self.settings.guest_confirmations_per_target, DAY)
        await self.rates.count(per_target, place)
        if host:
            per_host = Limit("soonish-guest-host", self.settings.guest_confirmations_per_host, HOUR)
            await self.rates.count(per_host, host)

    async def count_change(self, subscription_id: int) -> None:
        """Whoever has the private link of a subscription changes it: each change moves schedules."""
        per_link = Limit("soonish-guest-changes", self.settings.guest_changes_per_subscription, DAY)
        await self.rates.count(per_link, str(subscription_id))

    def check_offsets(self, offsets: tuple[timedelta, ...] | None) -> None:
        most = self.settings.guest_reminders_per_subscription
        if offsets is not None and len(offsets) > most:
            raise InvalidInputError(f"At most {most} reminders for one event without an account.", field="offsets")

    async def check_contact(self, session: AsyncSession, contact_id: int) -> None:
        """Check what this address has now; called before the commit of whatever adds to it."""
        following = await session.scalar(
            select(func.count())
            .select_from(SubscriptionRow)
            .join(EventRow, EventRow.id == SubscriptionRow.event_id)
            .where(
                SubscriptionRow.contact_id == contact_id,
                SubscriptionRow.state.in_((SubscriptionState.ACTIVE, SubscriptionState.MUTED)),
                EventRow.status == EventStatus.ACTIVE,
            )
        )
        most = self.settings.guest_subscriptions_per_target
        if (following or 0) > most:
            raise ConflictError(f"This address already follows {most} events. Leave one of them first.")
        most = self.settings.guest_reminders_per_target
        if (await session.scalar(_REMINDERS, {"contact_id": contact_id}) or 0) > most:
            raise ConflictError(f"This address already has {most} reminders. Take some of them back first.")
