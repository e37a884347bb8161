"""Every id that soonish uses in Temporal, made from keys that never change."""

from datetime import datetime

from pressbox.soonish.domain.reminders import EVERYBODY

PATH = "/events"
QUEUE = "soonish"
RECONCILE_SCHEDULE = "soonish-reconcile"
RECONCILE = "ReconcileWorkflow"
RECONCILE_WORKFLOW = "soonish-reconcile"

# The registered names of what adapters start: they do not see the workflows themselves.
EVENT_WORKFLOW = "EventWorkflow"
BROADCAST_WORKFLOW = "BroadcastWorkflow"
REMINDER_WORKFLOW = "ReminderWorkflow"


def event_workflow_id(event_id: int) -> str:
    return f"event-{event_id}"


def event_id_of(workflow_id: str) -> int | None:
    """The event of a workflow with this id; None when it is another kind of workflow."""
    number = workflow_id.removeprefix("event-")
    return int(number) if number.isascii() and number.isdigit() else None


def broadcast_workflow_id(event_id: int, notification_id: int) -> str:
    return f"broadcast-{event_id}-{notification_id}"


def resend_workflow_id(event_id: int, notification_id: int, outbox_id: int) -> str:
    """Each request to send a message again has a broadcast of its own."""
    return f"{broadcast_workflow_id(event_id, notification_id)}-resend-{outbox_id}"


def reminder_schedule_id(event_id: int, subscription_id: int, offset_seconds: int) -> str:
    """The schedule of one person, or of everybody who chose this offset in a large event."""
    if subscription_id == EVERYBODY:
        return f"event-{event_id}-reminder-{offset_seconds}s"
    return f"event-{event_id}-sub-{subscription_id}-reminder-{offset_seconds}s"


def late_reminder_id(event_id: int, offset_seconds: int, start: datetime) -> str:
    """What the sweep starts for reminders that are overdue: one at a time for each offset and start."""
    return f"event-{event_id}-reminder-{offset_seconds}s-late-{start:%Y%m%dT%H%M%SZ}"


def adhoc_workflow_id(subscription_id: int, reminder_id: int) -> str:
    return f"adhoc-{subscription_id}-{reminder_id}"
