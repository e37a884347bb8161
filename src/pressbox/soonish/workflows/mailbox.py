"""What an event's workflow has heard and not yet done, in the form in which it is carried over continue-as-new."""

from collections import deque
from datetime import datetime, timedelta

from pressbox.soonish.contracts import EventWorkflowState, Message
from pressbox.soonish.domain.lifecycle import PendingUpdate, remembered, with_edit


class Mailbox:
    def __init__(self, state: EventWorkflowState) -> None:
        self._queue: deque[Message] = deque(state.queue)
        self._heard = state.heard
        self._announced = state.announced_version
        self.pending: PendingUpdate | None = None
        if state.announce_from is not None and state.announce_at is not None:
            self.pending = PendingUpdate(state.announce_from, state.announce_at)

    def __bool__(self) -> bool:
        return bool(self._queue)

    def put(self, message: Message) -> None:
        """Enqueue what was not heard before: the service and the sweep may both tell the same."""
        if message.outbox_id in self._heard:
            return
        self._heard = remembered(self._heard, message.outbox_id)
        self._queue.append(message)

    def take(self) -> Message:
        return self._queue.popleft()

    def note_edit(self, version: int, now: datetime, window: timedelta) -> None:
        self.pending = with_edit(self.pending, version, announced=self._announced, now=now, window=window)

    def note_announced(self, version: int) -> None:
        self.pending, self._announced = None, version

    def state(self, *, started: bool, notifications: int) -> EventWorkflowState:
        return EventWorkflowState(
            started=started,
            queue=tuple(self._queue),
            heard=self._heard,
            notifications=notifications,
            announced_version=self._announced,
            announce_from=self.pending.from_version if self.pending else None,
            announce_at=self.pending.at if self.pending else None,
        )
