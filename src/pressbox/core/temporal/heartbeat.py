"""Heartbeats for activities that can take longer than ten seconds.

`Heartbeat` only says that the worker is alive. `ResumableHeartbeat` also keeps a cursor, from which the next attempt
goes on. Use `with` in a plain `def` activity (a thread heartbeats) and `async with` in an `async def` one (a task
heartbeats): a task cannot run beside a blocking call.

Inside an `async with` another one is silent: its beats would overwrite the cursor of the outer one.
"""

import asyncio
import contextvars
import threading
from types import TracebackType
from typing import Generic, Self, TypeVar

from temporalio import activity

from pressbox.core.contracts import Contract

CursorT = TypeVar("CursorT", bound=Contract)
_beating = contextvars.ContextVar("beating", default=False)


class Heartbeat:
    """Heartbeats while the block runs."""

    def __init__(self, *, every_seconds: float = 5.0) -> None:
        self._every = every_seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None
        self._outer = False

    def __enter__(self) -> Self:
        # The activity's context is a context variable; a new thread does not inherit it by itself.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._beat_in_thread,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()

    async def __aenter__(self) -> Self:
        self._outer = not _beating.get()
        if not self._outer:
            return self
        _beating.set(True)
        self._task = asyncio.create_task(self._beat_in_task())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outer:
            _beating.set(False)
        # Nothing is awaited here: a cancellation that arrived meanwhile would undo the end of a block that is done.
        if self._task:
            self._task.cancel()

    def _beat(self) -> None:
        activity.heartbeat()

    def _beat_in_thread(self) -> None:
        while not self._stop.wait(self._every):
            self._beat()

    async def _beat_in_task(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            self._beat()


class ResumableHeartbeat(Heartbeat, Generic[CursorT]):
    """Heartbeats with `cursor`: what the previous attempt reached, or `first`."""

    def __init__(self, first: CursorT, *, every_seconds: float = 5.0) -> None:
        super().__init__(every_seconds=every_seconds)
        self.cursor: CursorT = _resume(type(first)) or first

    def advance(self, cursor: CursorT) -> None:
        """Note how far the work is durable, and tell Temporal."""
        self.cursor = cursor
        self._beat()

    def _beat(self) -> None:
        activity.heartbeat(self.cursor)


def _resume(cursor_type: type[CursorT]) -> CursorT | None:
    details = activity.info().heartbeat_details
    if not details:
        return None
    # Details arrive as plain JSON values: the SDK does not know our type.
    return cursor_type.model_validate(details[0])
