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
    from pressbox.soonish.contracts import (
        EventReference,
        NotificationReference,
        ReminderWorkflowInput,
        ReminderWorkflowResult,
        SendNotificationResult,
        SendReminderPageInput,
        SoonishPolicy,
    )
    from pressbox.soonish.domain.audiences import organiser_of, subscriber_of
    from pressbox.soonish.domain.delivery import DeliveryCounts
    from pressbox.soonish.domain.reminders import EVERYBODY, ReminderOutcome, summarise_outcome
    from pressbox.soonish.workflows.retries import PAUSES
    from pressbox.soonish.workflows.shards import Shards


@workflow.defn
class ReminderWorkflow:
    """Reminds one person of one event, or everybody who chose one offset, if it still stands when the time comes.

    Id `event-{event_id}-sub-{subscription_id}-reminder-{offset}s-…`, started by the schedule of that name; or
    `adhoc-{subscription_id}-{reminder_id}` for "remind me in X", which sleeps until then and can be cancelled. In large
    events everybody who chose one offset has one, `event-{event_id}-reminder-{offset}s-…`, which sends in shards as a
    broadcast does; the sweep starts `…-late-{start}` for reminders that are overdue. Ends with an outcome: sent, or why
    nothing was. A retry sends only what the ledger still calls pending.
    """

    @workflow.init
    def __init__(self, input: ReminderWorkflowInput) -> None:
        is_shared = input.subscription_id == EVERYBODY
        self._input = input
        self._policy = input.policy or SoonishPolicy()
        self._notification_id = 0
        self._counts = DeliveryCounts.from_states({})
        self._progress = Progress(
            title=f"Reminder for {f'event {input.event_id}' if is_shared else f'subscription {input.subscription_id}'}",
            audience=organiser_of(input.event_id) if is_shared else subscriber_of(input.subscription_id),
            total=1,
            planned=input.fire_at is not None,
        )

    @workflow.query
    def get_progress(self) -> Progress:
        return self._progress

    @workflow.run
    async def run(self, input: ReminderWorkflowInput) -> ReminderWorkflowResult:
        if input.fire_at is not None:
            await workflow.sleep(max(input.fire_at - workflow.now(), timedelta(0)))
            self._progress = self._progress.model_copy(update={"planned": False})
        is_shared = input.subscription_id == EVERYBODY
        outcome = await (self._remind_everybody(input) if is_shared else self._remind(input))
        if input.reminder_id is None:
            await call_until_success(ScheduleActivities.remove_fired_schedule, input, pauses=PAUSES)
        problem = f"The reminder was not delivered: {outcome.value}" if outcome.is_failure else ""
        self._progress = self._progress.model_copy(update={"done": 1, "message": outcome.value, "problem": problem})
        report(self._progress)
        return ReminderWorkflowResult(outcome=outcome)

    async def _remind(self, input: ReminderWorkflowInput) -> ReminderOutcome:
        event = await call(EventActivities.get_event_details, EventReference(event_id=input.event_id))
        if event is None:
            return ReminderOutcome.EVENT_GONE
        result = await call_until_success(DeliveryActivities.send_reminder_notification, input, pauses=PAUSES)
        return result.outcome

    async def _remind_everybody(self, input: ReminderWorkflowInput) -> ReminderOutcome:
        accepted = await call_until_success(DeliveryActivities.accept_shared_reminder, input, pauses=PAUSES)
        if accepted.notification_id is None:
            return accepted.outcome or ReminderOutcome.SENT
        self._notification_id = accepted.notification_id
        await Shards(accepted.notification_id, self._policy, self._send_page).run()
        reference = NotificationReference(notification_id=accepted.notification_id)
        await call(DeliveryActivities.finish_notification, reference)
        counts = self._counts
        return summarise_outcome(sent=counts.sent, uncertain=counts.uncertain, failed=counts.failed)

    async def _send_page(self) -> SendNotificationResult:
        page = SendReminderPageInput(
            reminder=self._input,
            notification_id=self._notification_id,
            limit=self._policy.batch_size,
            concurrency=self._policy.concurrent_deliveries,
        )
        result = await call_until_success(DeliveryActivities.send_reminder_page, page, pauses=PAUSES)
        self._counts = result.counts
        return result
