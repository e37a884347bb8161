"""Builds the use cases of soonish from the resources of the process; `worker.py` builds the activities."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pressbox.core.accounts.limits import RateLimits
from pressbox.core.app import CredentialKind, Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.delivery.adapters.routing_sender import build_apprise_sender, build_sender
from pressbox.delivery.adapters.send_lanes import SendLanes, SqlLaneStore
from pressbox.delivery.service.channels import ChannelService
from pressbox.delivery.wiring import mailer, public_url, secret_keys, vault
from pressbox.soonish.adapters.calendar_links import CALENDAR, CalendarLinks
from pressbox.soonish.adapters.calendar_reader import CalendarReader
from pressbox.soonish.adapters.key_rotation import seal_again
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminder_schedules import TemporalReminderSchedules
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.workflows import TemporalWorkflows
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.ids import QUEUE
from pressbox.soonish.policy import policy
from pressbox.soonish.service.board import BoardService
from pressbox.soonish.service.events import EventService
from pressbox.soonish.service.guest_limits import GuestLimits
from pressbox.soonish.service.guests import GuestService
from pressbox.soonish.service.invitations import InvitationService
from pressbox.soonish.service.kept_events import KeptEvents
from pressbox.soonish.service.organisers import OrganiserService
from pressbox.soonish.service.relay import WorkflowRelay
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.service.subscriptions import SubscriptionService
from pressbox.soonish.settings import SoonishSettings

_READERS: WeakKeyDictionary[Database, CalendarReader] = WeakKeyDictionary()


def service(resources: Resources) -> Soonish:
    """All use cases, as pages, API and commands get them."""
    settings, database = resources.settings, resources.database
    relay = WorkflowRelay(SqlOutbox(database), SqlReminders(database), workflows(resources))
    lanes, limits = SendLanes(SqlLaneStore(database)), RateLimits(database)
    addresses = build_apprise_sender(settings, lanes)
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
        organisers=OrganiserService(database),
        links=signed,
        calendars=CalendarLinks(database, signed),
        calendar_reader=_calendar_reader(resources),
    )


def _calendar_reader(resources: Resources) -> CalendarReader:
    """The one reader of these resources: it starts no more than one child process."""
    if resources.database not in _READERS:
        reader = _READERS[resources.database] = CalendarReader()
        resources.exits.push_async_callback(reader.close)
    return _READERS[resources.database]


def kept_events(resources: Resources) -> KeptEvents:
    """For what stands above this application and keeps events of its own."""
    database = resources.database
    relay = WorkflowRelay(SqlOutbox(database), SqlReminders(database), workflows(resources))
    return KeptEvents(database, relay)


def credentials() -> Sequence[CredentialKind]:
    return (CALENDAR,)


async def rotate_keys(resources: Resources) -> int:
    """Encrypt every address with the present instance key; return how many had an older one."""
    return await seal_again(resources.database, vault(resources.settings))


def workflows(resources: Resources) -> TemporalWorkflows:
    return TemporalWorkflows(resources.temporal, QUEUE, policy(resources.settings))


def reminder_schedules(resources: Resources) -> TemporalReminderSchedules:
    return TemporalReminderSchedules(resources.temporal, QUEUE, policy(resources.settings))


def links(settings: Settings) -> SignedLinks:
    return SignedLinks(public_url(settings), secret_keys(settings))
