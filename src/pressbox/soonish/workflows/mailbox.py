"""Signals that an event's workflow has received and not yet handled; carried over continue-as-new."""

from collections import deque
from datetime import datetime, timedelta

from pressbox.soonish.contracts import EventSignal, EventWorkflowState
from pressbox.soonish.domain.lifecycle import KnownIds, PendingUpdate, add_edit


class Mailbox:
    def __init__(self, state: EventWorkflowState) -> None:
        self._queue: deque[EventSignal] = deque(state.queue)
        self._known = KnownIds(state.heard)
        self._announced = state.announced_version
        self.pending: PendingUpdate | None = None
        if state.announce_from is not None and state.announce_at is not None:
            self.pending = PendingUpdate(state.announce_from, state.announce_at)

    def __bool__(self) -> bool:
        return bool(self._queue)

    def put(self, signal: EventSignal) -> None:
        """Enqueue a signal unless it came before: the service and the sweep may both send the same one."""
        if self._known.add(signal.outbox_id):
            self._queue.append(signal)

    def take(self) -> EventSignal:
        return self._queue.popleft()

    def note_edit(self, version: int, now: datetime, window: timedelta) -> None:
        self.pending = add_edit(self.pending, version, announced=self._announced, now=now, window=window)

    def note_announced(self, version: int) -> None:
        self.pending, self._announced = None, version

    def state(self, *, started: bool, notifications: int, replan: bool) -> EventWorkflowState:
        return EventWorkflowState(
            started=started,
            queue=tuple(self._queue),
            heard=self._known.list_all(),
            notifications=notifications,
            announced_version=self._announced,
            announce_from=self.pending.from_version if self.pending else None,
            announce_at=self.pending.at if self.pending else None,
            replan=replan,
        )
