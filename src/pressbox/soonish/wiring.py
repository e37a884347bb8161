"""Builds the activities and use cases of soonish from the resources of the process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pressbox.core.accounts.limits import RateLimits
from pressbox.core.app import CredentialKind, Resources
from pressbox.core.config import Settings
from pressbox.core.logs import redact
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.activities.events import EventActivities
from pressbox.soonish.activities.reminder_dispatch import ReminderDispatcher
from pressbox.soonish.activities.schedules import ScheduleActivities
from pressbox.soonish.activities.sweeps import SweepActivities
from pressbox.soonish.activities.upkeep import UpkeepActivities
from pressbox.soonish.adapters.address_vault import AddressVault
from pressbox.soonish.adapters.broken_channels import SqlBrokenChannels
from pressbox.soonish.adapters.calendar_links import CALENDAR, CalendarLinks
from pressbox.soonish.adapters.events import SqlEvents
from pressbox.soonish.adapters.key_rotation import seal_again
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.mailer import SmtpMailer
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminder_schedules import TemporalReminderSchedules
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.routing_sender import build_apprise_sender, build_sender
from pressbox.soonish.adapters.wordings import SqlWordings
from pressbox.soonish.adapters.workflows import TemporalWorkflows
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.ids import QUEUE
from pressbox.soonish.policy import policy
from pressbox.soonish.ports import Mailer, ReminderSchedules, Sender
from pressbox.soonish.service.board import BoardService
from pressbox.soonish.service.channels import ChannelService
from pressbox.soonish.service.events import EventService
from pressbox.soonish.service.guest_limits import GuestLimits
from pressbox.soonish.service.guests import GuestService
from pressbox.soonish.service.invitations import InvitationService
from pressbox.soonish.service.relay import WorkflowRelay
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.service.subscriptions import SubscriptionService
from pressbox.soonish.settings import SoonishSettings


def activities(resources: Resources) -> Mapping[str, Sequence[Callable[..., Any]]]:
    database = resources.database
    sender = build_sender(resources.settings, database, vault(resources.settings).reveal)
    return {QUEUE: activities_on(resources, sender, reminder_schedules(resources))}


def activities_on(resources: Resources, sender: Sender, schedules: ReminderSchedules) -> tuple[Callable[..., Any], ...]:
    """The activities with a sender and schedules of the caller's choice: benchmarks measure them."""
    events, ledger = SqlEvents(resources.database), SqlLedger(resources.database)
    reminders = SqlReminders(resources.database)
    signed = links(resources.settings)
    dispatcher = Dispatcher(ledger, sender, signed, SqlWordings(resources.database, signed))
    reminder_dispatcher = ReminderDispatcher(events, ledger, reminders, dispatcher)
    of_events = EventActivities(events)
    deliveries = DeliveryActivities(ledger, reminders, dispatcher, reminder_dispatcher)
    of_schedules = ScheduleActivities(events, reminders, schedules)
    upkeep = UpkeepActivities(events, SqlBrokenChannels(resources.database), sender, mailer(resources.settings))
    outbox = SqlOutbox(resources.database)
    sweeps = SweepActivities(outbox, workflows(resources), reminders, schedules, reminder_dispatcher, of_schedules)
    return (
        of_events.validate_event_exists,
        of_events.get_event_details,
        of_events.accept_update_notification,
        of_events.complete_event,
        deliveries.send_notification,
        deliveries.send_reminder_notification,
        deliveries.finish_notification,
        deliveries.cancel_notification,
        of_schedules.create_reminder_schedules,
        of_schedules.create_reminder_schedules_for_subscription,
        of_schedules.delete_reminder_schedules,
        of_schedules.remove_fired_schedule,
        sweeps.sweep_outbox,
        sweeps.sweep_asked_reminders,
        sweeps.sweep_reminders,
        upkeep.tell_owners_of_broken_channels,
        upkeep.purge_deleted_events,
    )


def service(resources: Resources) -> Soonish:
    """All use cases, as pages, API and commands get them."""
    settings, database = resources.settings, resources.database
    relay = WorkflowRelay(SqlOutbox(database), SqlReminders(database), workflows(resources))
    addresses, limits = build_apprise_sender(settings), RateLimits(database)
    signed, sealing = links(settings), vault(settings)
    sender = build_sender(settings, database, sealing.reveal, addresses)
    guest_limits = GuestLimits(limits, settings.group(SoonishSettings))
    return Soonish(
        events=EventService(database, relay),
        invitations=InvitationService(database),
        channels=ChannelService(database, sealing, addresses, sender, limits, sends_mail=mailer(settings) is not None),
        subscriptions=SubscriptionService(database, guest_limits, relay),
        guests=GuestService(database, sealing, addresses, sender, mailer(settings), signed, guest_limits, relay),
        board=BoardService(database, relay),
        links=signed,
        calendars=CalendarLinks(database, signed),
    )


def credentials() -> Sequence[CredentialKind]:
    return (CALENDAR,)


async def rotate_keys(resources: Resources) -> int:
    """Encrypt every address with the present instance key; return how many had an older one."""
    return await seal_again(resources.database, vault(resources.settings))


def workflows(resources: Resources) -> TemporalWorkflows:
    return TemporalWorkflows(resources.temporal, QUEUE, policy(resources.settings))


def reminder_schedules(resources: Resources) -> TemporalReminderSchedules:
    return TemporalReminderSchedules(resources.temporal, QUEUE)


def mailer(settings: Settings) -> Mailer | None:
    """None when no mail server is configured."""
    found = SmtpMailer(settings.group(SoonishSettings))
    return found if found.is_configured else None


def vault(settings: Settings) -> AddressVault:
    return AddressVault(secret_keys(settings))


def links(settings: Settings) -> SignedLinks:
    web = settings.web
    return SignedLinks(web.public_url or f"http://{web.host}:{web.port}", secret_keys(settings))


def secret_keys(settings: Settings) -> tuple[str, ...]:
    """The instance key first, then older ones."""
    older = settings.group(SoonishSettings).old_secret_keys
    old = older.get_secret_value() if older else ""
    keys = (*settings.secret_keys, *(key.strip() for key in old.split(",") if key.strip()))
    # Logs redact the setting as a whole; here each key in it is redacted too.
    redact.add(*keys)
    return keys
