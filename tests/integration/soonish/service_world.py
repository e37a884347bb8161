"""The use cases of soonish on a real database; Temporal, mail and targets are stand-ins that remember."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from pressbox.core.accounts.limits import RateLimits
from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.channels import ChannelInput, ChannelView
from pressbox.delivery.domain.targets import Audience, normalise_target
from pressbox.delivery.ports import AddressFacts, Attempt, OutgoingMessage, SendNow
from pressbox.delivery.service.channels import ChannelService
from pressbox.soonish.adapters.calendar_links import CalendarLinks
from pressbox.soonish.adapters.calendar_reader import CalendarReader
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.contracts import OutboxEntry
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.links import Purpose, SignedLinks
from pressbox.soonish.domain.reminders import WantedReminder
from pressbox.soonish.domain.views import EventView, Holder, Viewer
from pressbox.soonish.reminder_ports import RequestedReminder
from pressbox.soonish.service.board import BoardService
from pressbox.soonish.service.events import EventService
from pressbox.soonish.service.guest_limits import GuestLimits
from pressbox.soonish.service.guests import GuestService, NewSubscription
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.service.invitations import InvitationService
from pressbox.soonish.service.organisers import OrganiserService
from pressbox.soonish.service.relay import WorkflowRelay
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.service.subscriptions import SubscriptionService
from pressbox.soonish.settings import SoonishSettings

KEY = "an instance key for tests"
BASE = "https://events.example.org"


@dataclass
class Temporal:
    """Signals that workflows got; `away` as when the server is down."""

    signals: list[tuple[int, str]] = field(default_factory=list)
    reminders: list[int] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    away: bool = False

    async def signal_event(self, event_id: int, signals: Sequence[OutboxEntry]) -> None:
        self._answer()
        self.signals += [(event_id, signal.kind) for signal in signals]

    async def find_failed_events(self) -> Sequence[int]:
        return ()

    async def start_event(self, event_id: int) -> None:
        self._answer()

    async def start_late_reminder(self, event_id: int, reminder: WantedReminder) -> None:
        self._answer()

    async def start_reminder(self, reminder: RequestedReminder) -> None:
        self._answer()
        self.reminders.append(reminder.reminder_id)

    async def cancel_reminder(self, subscription_id: int, reminder_id: int) -> None:
        self._answer()
        self.cancelled.append(reminder_id)

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        self._answer()
        self.cancelled.append(notification_id)
        return True

    def _answer(self) -> None:
        if self.away:
            raise TransientError("Temporal does not answer.")


@dataclass
class Mailbox:
    sent: list[tuple[str, str, str]] = field(default_factory=list)
    away: bool = False

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> None:
        if self.away:
            raise TransientError("The mail server does not answer.")
        self.sent.append((to, subject, body))

    def link(self, purpose: str) -> str:
        """The token of the last link of this purpose."""
        return self.sent[-1][2].split(f"{BASE}/events/{purpose}/")[1].split()[0]


class Schemes:
    async def describe(self, url: str, audience: Audience) -> AddressFacts:
        scheme, separator, rest = url.partition("://")
        if not separator:
            raise InvalidInputError("This is not an Apprise address.", field="url")
        return AddressFacts(scheme, scheme, rest.partition("/")[0], normalise_target(url))


@dataclass
class Target:
    sent: list[tuple[str, OutgoingMessage]] = field(default_factory=list)
    result: AttemptResult = AttemptResult.ACCEPTED

    def link(self, purpose: str) -> str:
        """The token of the last link of this purpose."""
        return self.sent[-1][1].body.split(f"{BASE}/events/{purpose}/")[1].split()[0]

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        yield partial(self.send, channel_key)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        self.sent.append((channel_key, message))
        return Attempt(self.result)


@dataclass
class House:
    database: Database
    temporal: Temporal = field(default_factory=Temporal)
    mailbox: Mailbox = field(default_factory=Mailbox)
    target: Target = field(default_factory=Target)
    settings: SoonishSettings = field(default_factory=SoonishSettings)
    links: SignedLinks = field(default_factory=lambda: SignedLinks(BASE, [KEY]))

    def __post_init__(self) -> None:
        database, vault, limits = self.database, AddressVault([KEY]), RateLimits(self.database)
        guest_limits = GuestLimits(limits, self.settings)
        relay = WorkflowRelay(SqlOutbox(database), SqlReminders(database), self.temporal)
        self.service = Soonish(
            events=EventService(database, relay),
            invitations=InvitationService(database),
            channels=ChannelService(database, vault, Schemes(), self.target, limits),
            subscriptions=SubscriptionService(database, guest_limits, relay),
            guests=GuestService(database, vault, Schemes(), self.target, self.mailbox, self.links, guest_limits, relay),
            board=BoardService(database, relay),
            organisers=OrganiserService(database),
            links=self.links,
            calendars=CalendarLinks(database, self.links),
            calendar_reader=CalendarReader(),
        )
        self.ledger = SqlLedger(database)
        self.outbox = SqlOutbox(database)

    def holder(self, purpose: Purpose, token: str) -> Holder:
        """Whoever has this private link."""
        return Holder(self.links.read_token(purpose, token))

    async def person(self, name: str = "") -> int:
        async with self.database.unit_of_work() as work:
            row = UserRow(
                email=f"{secrets.token_hex(4)}@example.org", name=name, password_hash="unusable", role="member"
            )
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def event(
        self, organiser_id: int, *, visibility: Visibility = Visibility.PUBLIC, draft: bool = False
    ) -> EventView:
        return await self.service.events.create(organiser_id, stated(visibility=visibility, draft=draft))

    async def guest(
        self, slug: str, url: str, offsets: tuple[timedelta, ...] | None = None, client: str = "192.0.2.7"
    ) -> NewSubscription:
        """Somebody without an account who has followed the link in the message to this address."""
        await self.service.guests.subscribe_by_url(Viewer(), slug, url, offsets, client)
        return await self.service.guests.confirm(self.holder(Purpose.CONFIRM, self.target.link("confirm")))

    async def channel(self, user_id: int, *tags: str, url: str = "ntfy://example.org/secret-topic") -> ChannelView:
        return await self.service.channels.add(user_id, ChannelInput("Phone", url, tags))


def soon(days: float = 10) -> datetime:
    return (datetime.now(UTC) + timedelta(days=days)).replace(microsecond=0)


def stated(
    *,
    name: str = "Summer fair",
    start: datetime | None = None,
    location: str = "Town hall",
    visibility: Visibility = Visibility.PUBLIC,
    draft: bool = False,
) -> EventInput:
    return EventInput(
        name=name,
        start_date=start or START,
        timezone="Europe/Berlin",
        location=location,
        visibility=visibility,
        draft=draft,
    )


START = soon()
