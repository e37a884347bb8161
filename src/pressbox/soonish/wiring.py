"""From the process's resources to the activities and use cases of soonish."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pressbox.core.accounts.limits import RateLimits
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.logs import redact
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.activities.events import EventActivities
from pressbox.soonish.activities.post import Post
from pressbox.soonish.activities.reminder_post import ReminderPost
from pressbox.soonish.activities.schedules import ScheduleActivities
from pressbox.soonish.activities.sweeps import SweepActivities
from pressbox.soonish.activities.upkeep import UpkeepActivities
from pressbox.soonish.adapters.board_store import SqlBoardStore
from pressbox.soonish.adapters.broken_channels import SqlBrokenChannels
from pressbox.soonish.adapters.channel_store import SqlChannelStore, rotate
from pressbox.soonish.adapters.event_store import SqlEventStore
from pressbox.soonish.adapters.events import SqlEvents
from pressbox.soonish.adapters.invitation_store import SqlInvitationStore
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.mail_sender import Mailer
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.schedules import TemporalReminderSchedules
from pressbox.soonish.adapters.secrets import AddressVault
from pressbox.soonish.adapters.sender import apprise_sender, routing_sender
from pressbox.soonish.adapters.starter import TemporalWorkflows
from pressbox.soonish.adapters.subscription_store import SqlSubscriptionStore
from pressbox.soonish.contracts import SoonishPolicy
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.ids import QUEUE
from pressbox.soonish.ports import ReminderSchedules, Sender
from pressbox.soonish.service.board import BoardService
from pressbox.soonish.service.channels import ChannelService
from pressbox.soonish.service.events import EventService
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.service.subscriptions import SubscriptionService
from pressbox.soonish.service.telling import Teller
from pressbox.soonish.settings import SoonishSettings


def activities(resources: Resources) -> Mapping[str, Sequence[Callable[..., Any]]]:
    database = resources.database
    sender = routing_sender(resources.settings, database, vault(resources.settings).reveal, in_worker=True)
    return {QUEUE: activities_on(resources, sender, reminder_schedules(resources))}


def activities_on(resources: Resources, sender: Sender, schedules: ReminderSchedules) -> tuple[Callable[..., Any], ...]:
    """The activities, with what they do to the outside world in the caller's hands: benchmarks measure it."""
    events, ledger = SqlEvents(resources.database), SqlLedger(resources.database)
    reminders = SqlReminders(resources.database)
    post = Post(ledger, sender, links(resources.settings))
    reminder_post = ReminderPost(events, ledger, reminders, post)
    of_events = EventActivities(events)
    deliveries = DeliveryActivities(ledger, reminders, post, reminder_post)
    of_schedules = ScheduleActivities(events, reminders, schedules)
    mailer = Mailer(resources.settings.group(SoonishSettings))
    upkeep = UpkeepActivities(
        events, SqlBrokenChannels(resources.database), sender, mailer if mailer.configured else None
    )
    sweeps = SweepActivities(SqlOutbox(resources.database), workflows(resources), reminders, schedules, reminder_post)
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
    """All use cases, as pages, REST and commands get them."""
    settings, database = resources.settings, resources.database
    events, subscriptions = SqlEventStore(database), SqlSubscriptionStore(database)
    teller = Teller(SqlOutbox(database), SqlReminders(database), workflows(resources))
    signed, sealing, limits = links(settings), vault(settings), RateLimits(database)
    addresses, mailer = apprise_sender(settings), Mailer(settings.group(SoonishSettings))
    return Soonish(
        events=EventService(events, SqlInvitationStore(database), signed, teller),
        channels=ChannelService(
            SqlChannelStore(database), sealing, addresses, routing_sender(settings, database, sealing.reveal), limits
        ),
        subscriptions=SubscriptionService(
            events, subscriptions, sealing, addresses, mailer if mailer.configured else None, signed, limits, teller
        ),
        board=BoardService(events, SqlBoardStore(database), subscriptions, signed, teller, SqlLedger(database)),
    )


async def rotate_keys(resources: Resources) -> int:
    """Seal every address with the present instance key; gives how many were sealed with an older one."""
    return await rotate(resources.database, vault(resources.settings))


def workflows(resources: Resources) -> TemporalWorkflows:
    return TemporalWorkflows(resources.temporal, QUEUE, policy(resources.settings))


def reminder_schedules(resources: Resources) -> TemporalReminderSchedules:
    return TemporalReminderSchedules(resources.temporal, QUEUE)


def policy(settings: Settings) -> SoonishPolicy:
    soonish = settings.group(SoonishSettings)
    return SoonishPolicy(
        merge_window=timedelta(seconds=soonish.merge_window_seconds),
        batch_size=soonish.batch_size,
        concurrent_deliveries=soonish.concurrent_deliveries,
    )


def vault(settings: Settings) -> AddressVault:
    return AddressVault(secret_keys(settings))


def links(settings: Settings) -> SignedLinks:
    web = settings.web
    return SignedLinks(web.public_url or f"http://{web.host}:{web.port}", secret_keys(settings))


def secret_keys(settings: Settings) -> tuple[str, ...]:
    """The instance key first, then those that it replaced."""
    replaced = settings.group(SoonishSettings).old_secret_keys
    old = replaced.get_secret_value() if replaced else ""
    present = settings.secret_key.get_secret_value() if settings.secret_key else ""
    keys = tuple(filter(None, (present, *(key.strip() for key in old.split(",")))))
    # Logs know the setting as one secret; each key in it is one.
    redact.add(*keys)
    return keys
