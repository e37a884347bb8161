"""EventWorkflow: one event from its creation to its end."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.soonish.activities.events import EventActivities
    from pressbox.soonish.contracts import (
        AcceptUpdateInput,
        BroadcastWentRound,
        EventCancelled,
        EventDetails,
        EventProgress,
        EventReference,
        EventSignal,
        EventUpdated,
        EventWorkflowInput,
        EventWorkflowResult,
        ManualNotificationSent,
        ParticipantAdded,
        ParticipantChanged,
        ParticipantRemoved,
    )
    from pressbox.soonish.domain.audiences import organiser_of
    from pressbox.soonish.domain.lifecycle import PendingUpdate, next_wake_time
    from pressbox.soonish.workflows.children import cancel_unsent, run_broadcast
    from pressbox.soonish.workflows.housekeeping import DELETE, PLAN_ALL, PLAN_ONE, Housekeeping, ScheduleActivity
    from pressbox.soonish.workflows.mailbox import Mailbox

# Runs that began before it change schedules in the middle of their messages, as their histories say.
PEOPLE_FIRST = "people-first"


@workflow.defn
class EventWorkflow:
    """Sends the messages of one event in order, and keeps its reminder schedules in step with its dates.

    Id `event-{event_id}`; started by the service after its commit, or by the sweep, always together with a signal.
    Signals are only queued; one loop handles them. Schedules are changed beside it: no message waits for them, and
    those of a cancelled event are deleted after its people were told. Ends when the event is cancelled, over or gone,
    with its schedules deleted; a signal after that starts a short run of its own. Continues as new between two
    messages, with queue and state. A broadcast that fails is counted and never fails the event.
    """

    @workflow.init
    def __init__(self, input: EventWorkflowInput) -> None:
        self._input = input
        self._reference = EventReference(event_id=input.event_id)
        self._mailbox = Mailbox(input.state)
        self._progress = EventProgress(
            title=f"Event {input.event_id}", audience=organiser_of(input.event_id), done=input.state.notifications
        )
        self._event: EventDetails | None = None
        self._over = False
        self._house = Housekeeping(input.event_id)
        self._people_first = False
        self._gone_round: set[int] = set()

    @workflow.signal
    def participant_added(self, signal: ParticipantAdded) -> None:
        self._mailbox.put(signal)

    @workflow.signal
    def participant_removed(self, signal: ParticipantRemoved) -> None:
        self._mailbox.put(signal)

    @workflow.signal
    def participant_changed(self, signal: ParticipantChanged) -> None:
        self._mailbox.put(signal)

    @workflow.signal
    def event_updated(self, signal: EventUpdated) -> None:
        self._mailbox.put(signal)

    @workflow.signal
    def send_manual_notification(self, signal: ManualNotificationSent) -> None:
        self._mailbox.put(signal)

    @workflow.signal
    def cancel_event(self, signal: EventCancelled) -> None:
        self._mailbox.put(signal)

    @workflow.signal
    def broadcast_went_round(self, signal: BroadcastWentRound) -> None:
        self._gone_round.add(signal.notification_id)

    @workflow.query
    def get_progress(self) -> EventProgress:
        return self._progress

    @workflow.run
    async def run(self, input: EventWorkflowInput) -> EventWorkflowResult:
        self._people_first = workflow.patched(PEOPLE_FIRST)
        await self._begin()
        await self._work_until_over()
        while self._mailbox:  # It was reopened while its last schedules were deleted.
            await self._work_until_over()
        return EventWorkflowResult(status=self._event.status if self._event else None)

    async def _work_until_over(self) -> None:
        while self._mailbox or not self._over:
            await self._wait_for_work()
            pending = self._mailbox.pending
            if self._mailbox:
                await self._handle(self._mailbox.take())
            elif pending is not None and workflow.now() >= pending.at:
                await self._announce(pending)
            else:
                await self._complete_when_ended()
            if self._run_is_long():
                state = self._mailbox.state(started=True, notifications=self._progress.done, replan=self._house.is_busy)
                workflow.continue_as_new(self._input.model_copy(update={"state": state}))
        await self._house.finish()

    async def _begin(self) -> None:
        found = await call(EventActivities.validate_event_exists, self._reference)
        await self._read()
        created = found.created_notification_id
        if self._over:
            if created is not None:
                await cancel_unsent(created)
            await self._schedule(DELETE)
            return
        is_new = not self._input.state.started
        if is_new and created is not None:
            await self._broadcast(created)
        if is_new or self._input.state.replan:
            await self._schedule(PLAN_ALL)

    async def _wait_for_work(self) -> None:
        """Wait for a signal or for the next time at which something is to be done."""
        if self._mailbox or self._over or self._event is None:
            return
        pause = next_wake_time(self._event.ends_at, self._mailbox.pending) - workflow.now()
        try:
            await workflow.wait_condition(lambda: bool(self._mailbox), timeout=max(pause, timedelta(0)))
        except TimeoutError:
            return

    async def _handle(self, signal: EventSignal) -> None:
        match signal:
            case ParticipantAdded() | ParticipantChanged():
                await self._schedule(PLAN_ONE, signal.subscription_id)
            case ParticipantRemoved():
                await self._schedule(DELETE, signal.subscription_id)
            case EventUpdated():
                await self._read()
                await self._schedule(PLAN_ALL)
                self._mailbox.note_edit(signal.version, workflow.now(), self._input.policy.merge_window)
            case ManualNotificationSent():
                await self._broadcast(signal.notification_id)
            case EventCancelled():
                self._mailbox.pending = None
                if not self._people_first:
                    await self._schedule(DELETE)
                await self._broadcast(signal.notification_id)
                await self._read()
                if self._people_first and self._over:
                    await self._schedule(DELETE)

    async def _announce(self, pending: PendingUpdate) -> None:
        accepted = await call(
            EventActivities.accept_update_notification,
            AcceptUpdateInput(event_id=self._input.event_id, from_version=pending.from_version),
        )
        self._mailbox.note_announced(accepted.version)
        if accepted.notification_id is not None:
            await self._broadcast(accepted.notification_id)

    async def _complete_when_ended(self) -> None:
        await self._read()
        if self._event is not None and not self._over:
            if workflow.now() < self._event.ends_at:
                return
            if self._mailbox.pending is not None:
                await self._announce(self._mailbox.pending)
            await call(EventActivities.complete_event, self._reference)
            await self._read()
        await self._schedule(DELETE)
        self._over = True

    async def _read(self) -> None:
        self._event = await call(EventActivities.get_event_details, self._reference)
        self._over = self._event is None or self._event.status.is_over

    async def _broadcast(self, notification_id: int) -> None:
        worked = await run_broadcast(self._input.event_id, notification_id, self._input.policy, self._gone_round)
        self._progress = self._progress.count_broadcast(worked=worked)
        report(self._progress)

    async def _schedule(self, activity: ScheduleActivity, subscription_id: int | None = None) -> None:
        await self._house.change(activity, subscription_id, beside=self._people_first)

    def _run_is_long(self) -> bool:
        limit = self._input.state.notifications + self._input.policy.notifications_per_run
        long = self._progress.done >= limit or workflow.info().is_continue_as_new_suggested()
        return long and (bool(self._mailbox) or not self._over)
