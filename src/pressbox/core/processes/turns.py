"""Hands out places to several owners in turn, so that one with many calls does not keep the others waiting."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """`size` places. A free one goes to the owner who holds the fewest, and among these to who waited longest."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def take(self, owner: str) -> AsyncIterator[None]:
        await self._acquire(owner)
        try:
            yield
        finally:
            self._release(owner)

    async def _acquire(self, owner: str) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            self._held[owner] += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # It was handed over at the same moment.
                self._release(owner)
            else:
                self._forget(owner, place)
            raise

    def _release(self, owner: str) -> None:
        self._free += 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        if owner in self._waiting:
            # Who had a turn goes to the end.
            self._waiting[owner] = self._waiting.pop(owner)
        while self._free and self._waiting:
            chosen = min(self._waiting, key=lambda name: self._held[name])
            places = self._waiting.pop(chosen)
            place = places.popleft()
            if places:
                self._waiting[chosen] = places
            if not place.done():
                self._free -= 1
                self._held[chosen] += 1
                place.set_result(None)

    def _forget(self, owner: str, place: "asyncio.Future[None]") -> None:
        places = self._waiting.get(owner)
        if places is not None and place in places:
            places.remove(place)
            if not places:
                del self._waiting[owner]
