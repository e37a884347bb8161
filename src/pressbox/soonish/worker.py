"""Builds the activities of soonish, which only a worker needs: pages and commands do not load them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pressbox.core.app import Resources
from pressbox.delivery.adapters.broken_channels import SqlBrokenChannels
from pressbox.delivery.adapters.routing_sender import build_sender
from pressbox.delivery.ports import Sender
from pressbox.delivery.wiring import mailer, vault
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.activities.events import EventActivities
from pressbox.soonish.activities.reminder_dispatch import ReminderDispatcher
from pressbox.soonish.activities.schedules import ScheduleActivities
from pressbox.soonish.activities.shared_reminders import SharedReminders
from pressbox.soonish.activities.sweeps import SweepActivities
from pressbox.soonish.activities.upkeep import UpkeepActivities
from pressbox.soonish.adapters.due_work import SqlDueWork
from pressbox.soonish.adapters.events import SqlEvents
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.unwanted import UnwantedDeliveries
from pressbox.soonish.adapters.wordings import SqlWordings
from pressbox.soonish.ids import QUEUE
from pressbox.soonish.reminder_ports import ReminderSchedules
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.wiring import links, reminder_schedules, workflows


def activities(resources: Resources) -> Mapping[str, Sequence[Callable[..., Any]]]:
    database = resources.database
    sender = build_sender(
        resources.settings,
        database,
        vault(resources.settings).reveal,
        find_unwanted=UnwantedDeliveries(database).find,
    )
    return {QUEUE: activities_on(resources, sender, reminder_schedules(resources))}


def activities_on(resources: Resources, sender: Sender, schedules: ReminderSchedules) -> tuple[Callable[..., Any], ...]:
    """The activities with a sender and schedules of the caller's choice: benchmarks measure them."""
    events, ledger = SqlEvents(resources.database), SqlLedger(resources.database)
    reminders = SqlReminders(resources.database)
    signed = links(resources.settings)
    dispatcher = Dispatcher(ledger, sender, signed, SqlWordings(resources.database, signed))
    reminder_dispatcher = ReminderDispatcher(events, ledger, reminders, dispatcher)
    of_events = EventActivities(events)
    shared = SharedReminders(events, ledger, reminders, dispatcher)
    deliveries = DeliveryActivities(ledger, reminders, dispatcher, reminder_dispatcher, shared)
    most_own = resources.settings.group(SoonishSettings).most_own_reminders
    of_schedules = ScheduleActivities(events, reminders, schedules, most_own=most_own)
    upkeep = UpkeepActivities(events, SqlBrokenChannels(resources.database), sender, mailer(resources.settings))
    outbox = SqlOutbox(resources.database)
    sweeps = SweepActivities(outbox, workflows(resources), reminders, events, SqlDueWork(resources.database))
    return (
        of_events.validate_event_exists,
        of_events.get_event_details,
        of_events.accept_update_notification,
        of_events.complete_event,
        deliveries.send_notification,
        deliveries.measure_notification,
        deliveries.send_reminder_notification,
        deliveries.accept_shared_reminder,
        deliveries.send_reminder_page,
        deliveries.finish_notification,
        deliveries.cancel_notification,
        of_schedules.create_reminder_schedules,
        of_schedules.create_reminder_schedules_for_subscription,
        of_schedules.delete_reminder_schedules,
        of_schedules.remove_fired_schedule,
        sweeps.find_due_work,
        sweeps.sweep_outbox,
        sweeps.sweep_asked_reminders,
        sweeps.sweep_reminders,
        upkeep.tell_owners_of_broken_channels,
        upkeep.purge_deleted_events,
    )
