"""ReminderWorkflow: sends one reminder to one person."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.contracts import Progress
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, call_until_success
    from pressbox.soonish.activities.deliveries import DeliveryActivities
    from pressbox.soonish.activities.events import EventActivities
    from pressbox.soonish.activities.schedules import ScheduleActivities
    from pressbox.soonish.contracts import EventReference, ReminderWorkflowInput, ReminderWorkflowResult
    from pressbox.soonish.domain.audiences import subscriber_of
    from pressbox.soonish.domain.reminders import ReminderOutcome
    from pressbox.soonish.workflows.retries import PAUSES


@workflow.defn
class ReminderWorkflow:
    """Reminds one person of one event, if it still stands when the time comes.

    Id `event-{event_id}-sub-{subscription_id}-reminder-{offset}s-…`, started by the schedule of that name; or
    `adhoc-{subscription_id}-{reminder_id}` for "remind me in X", which sleeps until then and can be cancelled. Ends
    with an outcome: sent, or why nothing was. A retry sends only what the ledger still calls pending.
    """

    @workflow.init
    def __init__(self, input: ReminderWorkflowInput) -> None:
        self._progress = Progress(
            title=f"Reminder for subscription {input.subscription_id}",
            audience=subscriber_of(input.subscription_id),
            total=1,
        )

    @workflow.query
    def get_progress(self) -> Progress:
        return self._progress

    @workflow.run
    async def run(self, input: ReminderWorkflowInput) -> ReminderWorkflowResult:
        if input.fire_at is not None:
            await workflow.sleep(max(input.fire_at - workflow.now(), timedelta(0)))
        outcome = await self._remind(input)
        if input.reminder_id is None:
            await call_until_success(ScheduleActivities.remove_fired_schedule, input, pauses=PAUSES)
        self._progress = self._progress.model_copy(update={"done": 1, "message": outcome.value})
        report(self._progress)
        return ReminderWorkflowResult(outcome=outcome)

    async def _remind(self, input: ReminderWorkflowInput) -> ReminderOutcome:
        event = await call(EventActivities.get_event_details, EventReference(event_id=input.event_id))
        if event is None:
            return ReminderOutcome.EVENT_GONE
        result = await call_until_success(DeliveryActivities.send_reminder_notification, input, pauses=PAUSES)
        return result.outcome
