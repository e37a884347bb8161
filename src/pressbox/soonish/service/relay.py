"""Tells workflows about committed changes. Best effort: the sweep does what fails here, so no answer depends on it."""

import asyncio
from collections.abc import Awaitable

from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.soonish.activities.telling import Teller
from pressbox.soonish.ports import Outbox, Workflows
from pressbox.soonish.reminder_ports import Reminders, RequestedReminder

log = get_logger(__name__)

TIMEOUT_SECONDS = 3.0


class WorkflowRelay:
    def __init__(self, outbox: Outbox, reminders: Reminders, workflows: Workflows) -> None:
        self._teller = Teller(outbox, workflows)
        self._reminders = reminders
        self._workflows = workflows

    async def send_signals(self, event_id: int) -> None:
        """Send the event's workflow every signal that is still in the outbox."""
        await self._attempt(self._send_signals(event_id), event_id)

    async def start_reminder(self, reminder: RequestedReminder) -> None:
        await self._attempt(self._start_reminder(reminder), reminder.event_id)

    async def cancel_reminder(self, event_id: int, subscription_id: int, reminder_id: int) -> None:
        """End its workflow; one that is not told ends by itself, because it reads the request when it wakes."""
        await self._attempt(self._workflows.cancel_reminder(subscription_id, reminder_id), event_id)

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> None:
        """End its workflow; one that is not told finds nobody left to send to."""
        await self._attempt(self._workflows.cancel_broadcast(event_id, notification_id), event_id)

    async def _send_signals(self, event_id: int) -> None:
        await self._teller.tell(event_id)

    async def _start_reminder(self, reminder: RequestedReminder) -> None:
        await self._workflows.start_reminder(reminder)
        await self._reminders.mark_request_started(reminder.reminder_id)

    async def _attempt(self, work: Awaitable[object], event_id: int) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await work
        except (TransientError, TimeoutError) as error:
            log.warning(
                "signal_deferred",
                msg="Temporal did not answer; the sweep will try",
                event_id=event_id,
                error=str(error),
            )
