"""Callers that ask for one thing each at the same time share one load of many."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

# Long enough to gather many for one statement, too short for anybody to notice.
GATHER_SECONDS = 0.02

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Gathered(Generic[Key, Value]):
    """`load` is called for one group at a time: while it runs, the next one gathers."""

    def __init__(self, load: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value]]]) -> None:
        self._load_many = load
        self._pending: dict[Key, asyncio.Future[Value | None]] = {}
        self._loading: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()

    async def get(self, key: Key) -> Value | None:
        """Return None for what `load` leaves out."""
        if key not in self._pending:
            self._pending[key] = asyncio.get_running_loop().create_future()
            if len(self._pending) == 1:
                task = asyncio.create_task(self._load())
                self._loading.add(task)
                task.add_done_callback(self._loading.discard)
        # Shielded: others may wait for the same when this caller is cancelled.
        return await asyncio.shield(self._pending[key])

    async def _load(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        async with self._one_at_a_time:
            pending, self._pending = self._pending, {}
            try:
                found = await self._load_many(tuple(pending))
                for key, future in pending.items():
                    future.set_result(found.get(key))
            # Every waiting caller raises it, whatever it is.
            except BaseException as error:
                for future in pending.values():
                    if not future.done():
                        future.set_exception(error)
                if not isinstance(error, Exception):
                    raise
