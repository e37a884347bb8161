"""Activities that read events, write their update messages and complete them."""

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK
from pressbox.soonish.contracts import (
    AcceptedNotification,
    AcceptUpdateInput,
    EventDetails,
    EventReference,
    ExistsResult,
)
from pressbox.soonish.ports import Events


class EventActivities:
    def __init__(self, events: Events) -> None:
        self._events = events

    @activity.defn
    @call_with(QUICK)
    async def validate_event_exists(self, input: EventReference) -> ExistsResult:
        exists = await self._events.load_details(input.event_id) is not None
        created = await self._events.find_creation_message(input.event_id) if exists else None
        return ExistsResult(exists=exists, created_notification_id=created)

    @activity.defn
    @call_with(QUICK)
    async def get_event_details(self, input: EventReference) -> EventDetails | None:
        return await self._events.load_details(input.event_id)

    @activity.defn
    @call_with(QUICK)
    async def accept_update_notification(self, input: AcceptUpdateInput) -> AcceptedNotification:
        notification_id, version = await self._events.accept_update(input.event_id, input.from_version)
        return AcceptedNotification(notification_id=notification_id, version=version)

    @activity.defn
    @call_with(QUICK)
    async def complete_event(self, input: EventReference) -> None:
        await self._events.mark_completed(input.event_id)
