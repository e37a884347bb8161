"""What crosses Temporal for soonish. Ids only: never an address, an Apprise URL or a token."""

from datetime import datetime, timedelta

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import ReminderOutcome


class SoonishPolicy(Contract):
    """Every wait, size and limit of the workflows. The service fills it from settings; the demo divides the times."""

    merge_window: timedelta = timedelta(seconds=60)
    batch_size: int = 500
    concurrent_deliveries: int = 64
    notifications_per_run: int = 100


class Told(Contract):
    """Base of every signal: the outbox number, so that a repeated signal is recognised."""

    outbox_id: int


class ParticipantAdded(Told):
    subscription_id: int


class ParticipantRemoved(Told):
    subscription_id: int


class ParticipantChanged(Told):
    subscription_id: int


class EventUpdated(Told):
    """The event has this version now; what changed is read from its versions."""

    version: int


class ManualNotificationSent(Told):
    """An announcement was accepted; its text and recipients are in the database."""

    notification_id: int


class EventCancelled(Told):
    notification_id: int


Message = (
    ParticipantAdded | ParticipantRemoved | ParticipantChanged | EventUpdated | ManualNotificationSent | EventCancelled
)


class EventWorkflowState(Contract):
    """Carried over continue-as-new: nothing that was heard is lost, nothing is done twice."""

    started: bool = False
    queue: tuple[Message, ...] = ()
    heard: tuple[int, ...] = ()
    notifications: int = 0
    # The version that people last heard of, and until when edits are still collected.
    announced_version: int = 1
    announce_at: datetime | None = None


class EventWorkflowInput(Contract):
    event_id: int
    created_notification_id: int | None = None
    policy: SoonishPolicy = SoonishPolicy()
    state: EventWorkflowState = EventWorkflowState()


class EventWorkflowResult(Contract):
    status: EventStatus


class EventReference(Contract):
    event_id: int


class EventDetails(Contract):
    """What the workflow must know to plan: no texts."""

    event_id: int
    status: EventStatus
    start_date: datetime
    ends_at: datetime
    version: int


class ExistsResult(Contract):
    exists: bool


class AcceptUpdateInput(Contract):
    event_id: int
    from_version: int


class AcceptedNotification(Contract):
    """None when nothing changed after all: edits that undo each other are no news."""

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


class DeliveryCounts(Contract):
    sent: int = 0
    pending: int = 0
    uncertain: int = 0
    failed: int = 0
    skipped: int = 0


class BroadcastWorkflowResult(Contract):
    counts: DeliveryCounts
    cancelled: bool = False


class SendNotificationInput(Contract):
    """The next recipients after this subscription; or, with `retries_only`, what is still pending and due."""

    notification_id: int
    after_subscription_id: int = 0
    limit: int = 500
    concurrency: int = 64
    retries_only: bool = False


class SendNotificationResult(Contract):
    """`last_subscription_id` None: no recipients are left. `next_try_at` is the earliest pending retry."""

    last_subscription_id: int | None
    recipients_total: int
    counts: DeliveryCounts
    next_try_at: datetime | None = None


class NotificationReference(Contract):
    notification_id: int


class ReminderWorkflowInput(Contract):
    """One reminder for one person. `reminder_id` is set for "remind me in X", which has no offset and no schedule."""

    event_id: int
    subscription_id: int
    offset_seconds: int
    start_date: datetime
    reminder_id: int | None = None
    fire_at: datetime | None = None


class ReminderWorkflowResult(Contract):
    outcome: ReminderOutcome


class SendReminderResult(Contract):
    outcome: ReminderOutcome


class ScheduleInput(Contract):
    """Reconcile the schedules of an event, or of one subscription."""

    event_id: int
    subscription_id: int | None = None


class ScheduleChange(Contract):
    """How many calls were made, and which offsets were too late, in words."""

    created: int = 0
    moved: int = 0
    deleted: int = 0
    too_late: tuple[str, ...] = ()


class ReconcileCursor(Contract):
    done: int = 0


class SweepInput(Contract):
    policy: SoonishPolicy = SoonishPolicy()


class SweepResult(Contract):
    told: int = 0
    started: int = 0
    missed: int = 0
    deleted: int = 0


class ReconcileWorkflowInput(Contract):
    policy: SoonishPolicy = SoonishPolicy()


class ReconcileProgress(Progress):
    result: SweepResult = Field(default_factory=SweepResult)
