"""Every id that soonish uses in Temporal, made from keys that never change."""

PATH = "/events"
QUEUE = "soonish"
RECONCILE_SCHEDULE = "soonish-reconcile"
RECONCILE = "ReconcileWorkflow"
RECONCILE_WORKFLOW = "soonish-reconcile"

# The registered names of what adapters start: they do not see the workflows themselves.
EVENT_WORKFLOW = "EventWorkflow"
REMINDER_WORKFLOW = "ReminderWorkflow"


def event_workflow_id(event_id: int) -> str:
    return f"event-{event_id}"


def broadcast_workflow_id(event_id: int, notification_id: int) -> str:
    return f"broadcast-{event_id}-{notification_id}"


def reminder_schedule_id(event_id: int, subscription_id: int, offset_seconds: int) -> str:
    return f"event-{event_id}-sub-{subscription_id}-reminder-{offset_seconds}s"


def adhoc_workflow_id(subscription_id: int, reminder_id: int) -> str:
    return f"adhoc-{subscription_id}-{reminder_id}"
