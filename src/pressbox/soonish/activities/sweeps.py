"""Activities of the sweep: they finish what a crash, or an absent Temporal, left undone."""

import asyncio
from collections.abc import Sequence

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import TransientError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.delivery.activities.heartbeats import heartbeat
from pressbox.soonish.activities.telling import Teller
from pressbox.soonish.contracts import DueWork, SweepInput, SweepResult, SweepStep
from pressbox.soonish.ports import DueWorkFinder, Events, Outbox, Workflows
from pressbox.soonish.reminder_ports import Reminders

LATE_PER_SWEEP = 200
# The schedule starts one sweep in this part of each hour.
HOURLY_MINUTES = 10
REQUESTS_PER_SWEEP = 500
EVENTS_PER_SWEEP = 500
EVENTS_AT_ONCE = 16
# One hot event must not use up the time of all others.
EVENT_SECONDS = 10.0


class SweepActivities:
    def __init__(
        self,
        outbox: Outbox,
        workflows: Workflows,
        reminders: Reminders,
        events: Events,
        due_work: DueWorkFinder,
        now: Clock = utc_now,
    ) -> None:
        self._outbox = outbox
        self._events = events
        self._due_work = due_work
        self._teller = Teller(outbox, workflows)
        self._workflows = workflows
        self._reminders = reminders
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def find_due_work(self, input: SweepInput) -> DueWork:
        """Look what is due. What is to be removed is looked for once an hour."""
        steps = set(await self._due_work.look(input.policy.overdue_after))
        if await self._find_failed_events():
            steps.add(SweepStep.OUTBOX)
        if self._now().minute < HOURLY_MINUTES:
            steps.add(SweepStep.PURGE)
        return DueWork(steps=tuple(sorted(steps)))

    @activity.defn
    @call_with(LONG)
    async def sweep_outbox(self, input: SweepInput) -> SweepResult:
        """Send the signals that are still in the outbox, event by event; one that refuses holds up no other.

        The workflow of a live event that has failed or was terminated is started again first.
        """
        told = 0
        async with heartbeat():
            await self._start_failed_events()
            waiting = await self._outbox.load_waiting(EVENTS_PER_SWEEP)
            for first in range(0, len(waiting), EVENTS_AT_ONCE):
                told += sum(await asyncio.gather(*map(self._tell, waiting[first : first + EVENTS_AT_ONCE])))
        if told:
            activity.logger.info("Sent %s signals that were left in the outbox", told)
        return SweepResult(told=told)

    async def _tell(self, event_id: int) -> int:
        try:
            async with asyncio.timeout(EVENT_SECONDS):
                return await self._teller.tell(event_id)
        except (TransientError, TimeoutError) as error:
            activity.logger.warning("Event %s is told by a later sweep: %s", event_id, error)
            return 0

    async def _find_failed_events(self) -> Sequence[int]:
        """Live events whose workflow has failed, or was ended by somebody."""
        failed = await self._workflows.find_failed_events()
        return await self._events.choose_live(failed) if failed else ()

    async def _start_failed_events(self) -> None:
        for event_id in await self._find_failed_events():
            activity.logger.warning("The workflow of event %s had ended too early and is started again", event_id)
            await self._outbox.tell_again(event_id)
            await self._workflows.start_event(event_id)
            await self._tell(event_id)

    @activity.defn
    @call_with(LONG)
    async def sweep_asked_reminders(self, input: SweepInput) -> SweepResult:
        """Start the reminders that people asked for and that have no workflow yet."""
        requests = (await self._reminders.load_unstarted_requests())[:REQUESTS_PER_SWEEP]
        async with heartbeat():
            for request in requests:
                await self._workflows.start_reminder(request)
                await self._reminders.mark_request_started(request.reminder_id)
        return SweepResult(started=len(requests))

    @activity.defn
    @call_with(LONG)
    async def sweep_reminders(self, input: SweepInput) -> SweepResult:
        """Send overdue reminders: one workflow for each offset and start of an event, however many people wait for it.

        Temporal starts only so many schedules in a second, and none that it lost. Whoever has got theirs is left out.
        """
        overdue = await self._reminders.load_overdue(self._now() - input.policy.overdue_after, LATE_PER_SWEEP)
        async with heartbeat():
            for event_id, reminder in overdue:
                await self._workflows.start_late_reminder(event_id, reminder)
        if overdue:
            activity.logger.info("%s reminders are overdue and sent now", len(overdue))
        return SweepResult(fired=len(overdue))
