"""Telling workflows what was committed. An answer never depends on it: what cannot be told now, the sweep tells."""

import asyncio
from collections.abc import Awaitable

from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.soonish.ports import Outbox, Reminders, Workflows

log = get_logger(__name__)

PATIENCE_SECONDS = 3.0


class Teller:
    def __init__(self, outbox: Outbox, reminders: Reminders, workflows: Workflows) -> None:
        self._outbox = outbox
        self._reminders = reminders
        self._workflows = workflows

    async def tell(self, event_id: int) -> None:
        """Tell the event's workflow everything that it has not been told."""
        await self._attempt(self._tell(event_id), event_id)

    async def start_reminder(self, reminder_id: int, event_id: int) -> None:
        await self._attempt(self._start_reminder(reminder_id), event_id)

    async def cancel_reminder(self, subscription_id: int, reminder_id: int) -> None:
        """Not best effort: who cancels a reminder must know that it will not come."""
        await self._workflows.cancel_asked_reminder(subscription_id, reminder_id)

    async def stop_broadcast(self, event_id: int, notification_id: int) -> bool:
        """Not best effort: who stops a message must know whether it stopped. False when its workflow does not run."""
        return await self._workflows.cancel_broadcast(event_id, notification_id)

    async def _tell(self, event_id: int) -> None:
        messages = [message for _, message in await self._outbox.untold(event_id)]
        if messages:
            await self._workflows.tell(event_id, messages)
            await self._outbox.told([message.outbox_id for message in messages])

    async def _start_reminder(self, reminder_id: int) -> None:
        for waiting in await self._reminders.asked_unstarted():
            if waiting.reminder_id == reminder_id:
                await self._workflows.start_asked_reminder(
                    waiting.event_id, waiting.subscription_id, waiting.reminder_id, waiting.fire_at
                )
                await self._reminders.note_asked_started([reminder_id])

    async def _attempt(self, telling: Awaitable[None], event_id: int) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await telling
        except (TransientError, TimeoutError) as error:
            log.warning("told_later", msg="Temporal was not told; the sweep will", event_id=event_id, error=str(error))
