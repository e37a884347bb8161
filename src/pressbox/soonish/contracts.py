"""Inputs, results and signals of soonish's workflows and activities. Ids only: no address, Apprise URL or token."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.soonish.domain.delivery import ORDER_PATIENCE, DeliveryCounts
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import ReminderOutcome


class SoonishPolicy(Contract):
    """Every wait, size and limit of the workflows, filled from settings."""

    merge_window: timedelta = timedelta(seconds=60)
    batch_size: int = 500
    concurrent_deliveries: int = 64
    # So many workers at most share one broadcast.
    shards: int = 8
    notifications_per_run: int = 100
    # How long an event waits for the first round of a broadcast before it starts the next. People should get messages
    # in order, but a target that asks us to come back in an hour must not hold up a cancellation.
    order_patience: timedelta = ORDER_PATIENCE
    # How long after its time a reminder schedule may stay silent before the sweep fires it.
    overdue_after: timedelta = timedelta(seconds=30)


class OutboxMessage(Contract):
    """Base of every signal. `outbox_id` lets the workflow recognise a signal that is sent again.

    `kind` is the signal's name. It also tells signals with the same fields apart when the queue is carried over
    continue-as-new: without it a cancellation would come back as an announcement.
    """

    outbox_id: int


class ParticipantAdded(OutboxMessage):
    kind: Literal["participant_added"] = "participant_added"
    subscription_id: int


class ParticipantRemoved(OutboxMessage):
    kind: Literal["participant_removed"] = "participant_removed"
    subscription_id: int


class ParticipantChanged(OutboxMessage):
    kind: Literal["participant_changed"] = "participant_changed"
    subscription_id: int


class EventUpdated(OutboxMessage):
    """The event has this version now; what changed is read from its versions."""

    kind: Literal["event_updated"] = "event_updated"
    version: int


class ManualNotificationSent(OutboxMessage):
    """An announcement was accepted; its text and recipients are in the database."""

    kind: Literal["send_manual_notification"] = "send_manual_notification"
    notification_id: int


class EventCancelled(OutboxMessage):
    kind: Literal["cancel_event"] = "cancel_event"
    notification_id: int


class BroadcastWentRound(Contract):
    """From a broadcast to its event: everybody's turn has come, and what did not get through is tried again."""

    notification_id: int


class MessageResent(OutboxMessage):
    """Failed deliveries of a message were opened again. It starts a broadcast of its own, not a signal."""

    kind: Literal["resend_message"] = "resend_message"
    notification_id: int


EventSignal = (
    ParticipantAdded | ParticipantRemoved | ParticipantChanged | EventUpdated | ManualNotificationSent | EventCancelled
)
OutboxEntry = EventSignal | MessageResent


class EventWorkflowState(Contract):
    """Carried over continue-as-new, so that no signal is lost or handled twice."""

    started: bool = False
    queue: tuple[Annotated[EventSignal, Field(discriminator="kind")], ...] = ()
    heard: tuple[int, ...] = ()
    notifications: int = 0
    # The version that people were last told about; since which version edits are being collected, and until when.
    announced_version: int = 1
    announce_from: int | None = None
    announce_at: datetime | None = None
    # Schedules were still being changed: the next run compares them all again.
    replan: bool = False


class EventWorkflowInput(Contract):
    event_id: int
    policy: SoonishPolicy = SoonishPolicy()
    state: EventWorkflowState = EventWorkflowState()


class EventProgress(Progress):
    """`done` counts broadcasts; `failed` counts those of them that failed. They run; the event itself waits."""

    planned: bool = True
    failed: int = 0

    def count_broadcast(self, *, worked: bool) -> Self:
        return self.model_copy(update={"done": self.done + 1, "failed": self.failed + (not worked)})


class EventWorkflowResult(Contract):
    """`status` is None when there is no such event any more."""

    status: EventStatus | None


class EventReference(Contract):
    event_id: int


class EventDetails(Contract):
    """What the workflow must know of an event to plan: no texts."""

    event_id: int
    status: EventStatus
    start_date: datetime
    ends_at: datetime
    version: int


class ExistsResult(Contract):
    """`created_notification_id` is the message to the organiser; None for a draft."""

    exists: bool
    created_notification_id: int | None = None


class AcceptUpdateInput(Contract):
    event_id: int
    from_version: int


class AcceptedNotification(Contract):
    """`notification_id` is None when nothing changed after all: edits can undo each other."""

    notification_id: int | None
    version: int


class BroadcastWorkflowInput(Contract):
    event_id: int
    notification_id: int
    policy: SoonishPolicy = SoonishPolicy()


class BroadcastProgress(Progress):
    sent: int = 0
    waiting: int = 0
    uncertain: int = 0
    failed: int = 0
    skipped: int = 0


class BroadcastWorkflowResult(Contract):
    counts: DeliveryCounts
    cancelled: bool = False


class SendNotificationInput(Contract):
    """Send to the next recipients after this subscription; with `retries_only`, only what is pending and due.

    With `shared`, whatever is due and nobody else holds, `limit` at the same time: others do the same beside it.
    """

    notification_id: int
    after_subscription_id: int = 0
    limit: int = 500
    concurrency: int = 64
    retries_only: bool = False
    shared: bool = False


class SendNotificationResult(Contract):
    """`last_subscription_id` is None when no recipients are left; `next_try_at` is the earliest pending retry.

    `more` says that a shared page ended because its time was over.
    """

    last_subscription_id: int | None
    recipients_total: int
    counts: DeliveryCounts
    next_try_at: datetime | None = None
    more: bool = False


class NotificationSize(Contract):
    recipients: int


class NotificationReference(Contract):
    notification_id: int


class ReminderWorkflowInput(Contract):
    """One reminder for one person, or for EVERYBODY who chose this offset: only those have a policy.

    `reminder_id` is set for "remind me in X", which has no offset and no schedule.
    """

    event_id: int
    subscription_id: int
    offset_seconds: int
    start_date: datetime
    reminder_id: int | None = None
    fire_at: datetime | None = None
    policy: SoonishPolicy | None = None


class AcceptedReminder(Contract):
    """The message to everybody; without one, `outcome` says why there is none."""

    notification_id: int | None = None
    outcome: ReminderOutcome | None = None


class SendReminderPageInput(Contract):
    reminder: ReminderWorkflowInput
    notification_id: int
    limit: int
    concurrency: int


class ReminderWorkflowResult(Contract):
    outcome: ReminderOutcome


class SendReminderResult(Contract):
    outcome: ReminderOutcome


class ScheduleInput(Contract):
    """Reconcile the schedules of an event, or of one subscription."""

    event_id: int
    subscription_id: int | None = None


class ScheduleChange(Contract):
    """How many schedules were changed, and which offsets were too late, in words."""

    created: int = 0
    moved: int = 0
    deleted: int = 0
    too_late: tuple[str, ...] = ()


class SweepInput(Contract):
    policy: SoonishPolicy = SoonishPolicy()


class SweepResult(Contract):
    """`told` counts signals from the outbox, `started` requested reminders, the next three reminder schedules."""

    told: int = 0
    started: int = 0
    fired: int = 0
    missed: int = 0
    deleted: int = 0
    # Broken channels whose owners were told, and deleted events that were removed for good.
    broken: int = 0
    purged: int = 0


class SweepStep(StrEnum):
    """A part of the sweep, by the name of its activity."""

    OUTBOX = "sweep_outbox"
    ASKED_REMINDERS = "sweep_asked_reminders"
    REMINDERS = "sweep_reminders"
    BROKEN_CHANNELS = "tell_owners_of_broken_channels"
    PURGE = "purge_deleted_events"


class DueWork(Contract):
    steps: tuple[SweepStep, ...]


class ReconcileWorkflowInput(Contract):
    """With `looks_first` only those steps run for which there is something to do."""

    policy: SoonishPolicy = SoonishPolicy()
    looks_first: bool = False


class ReconcileProgress(Progress):
    result: SweepResult = Field(default_factory=SweepResult)
