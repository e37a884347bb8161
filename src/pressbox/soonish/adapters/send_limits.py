"""Limits of sending: how many at once, how fast per host and target, and pauses that a target needs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from pressbox.soonish.domain.pacing import Pace, plan_turn

_MAX_KEYS = 10_000
# After so many tries in a row without an answer a host is left alone for a while.
_MISSES = 3
MISSED_PAUSE = timedelta(seconds=30)


@dataclass(frozen=True)
class SendLimits:
    """`at_once_per_host` is a part of `at_once`, so that a few hosts that hang never take every slot."""

    at_once: int = 64
    at_once_per_host: int = 16
    per_host_per_second: float = 500.0
    seconds: float = 20.0


DEFAULT_LIMITS = SendLimits()


class RateLimit:
    """Keeps messages with the same key apart, first come, first served."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}
        self._blocked: dict[str, float] = {}
        self._misses: Counter[str] = Counter()

    async def wait_turn(self, key: str, pace: Pace) -> None:
        """Whoever stops waiting gives the turn back."""
        now = asyncio.get_running_loop().time()
        self._forget_old(now)
        at, self._free_at[key] = plan_turn(self._free_at.get(key, now), now, pace)
        try:
            await asyncio.sleep(at - now)
            # Somebody may have been asked to wait meanwhile.
            await asyncio.sleep(self.blocked_for(key).total_seconds())
        except asyncio.CancelledError:
            self._free_at[key] = self._free_at.get(key, now) - pace.spacing
            raise

    def block(self, key: str, wait: timedelta) -> None:
        """Let nothing through for this key until that time has passed."""
        until = asyncio.get_running_loop().time() + wait.total_seconds()
        self._blocked[key] = max(self._blocked.get(key, until), until)

    def blocked_for(self, key: str) -> timedelta:
        now = asyncio.get_running_loop().time()
        return timedelta(seconds=max(0.0, self._blocked.get(key, now) - now))

    def note_answer(self, key: str) -> None:
        self._misses.pop(key, None)

    def note_miss(self, key: str) -> None:
        """Block a key that keeps missing: the others need not wait for it."""
        self._misses[key] += 1
        if self._misses[key] >= _MISSES:
            self.block(key, MISSED_PAUSE)

    def _forget_old(self, now: float) -> None:
        if len(self._free_at) > _MAX_KEYS:
            self._free_at = {key: moment for key, moment in self._free_at.items() if moment > now}
            self._blocked = {key: moment for key, moment in self._blocked.items() if moment > now}
            self._misses.clear()


class ConcurrencyLimit:
    """Lets only so many run at once, in all and per key."""

    def __init__(self, at_once: int, at_once_per_key: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._per_key = at_once_per_key
        self._keys: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def slot(self, key: str, wait: Callable[[], Awaitable[None]] | None = None) -> AsyncIterator[None]:
        """`wait` is awaited with a slot of the key, and without one of those that all share."""
        # First a slot of the key, which a slow host can use up, then one of those that all share.
        mine = self._keys.setdefault(key, asyncio.Semaphore(self._per_key))
        self._users[key] += 1
        try:
            async with mine:
                if wait is not None:
                    await wait()
                async with self._all:
                    yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
                del self._keys[key]
