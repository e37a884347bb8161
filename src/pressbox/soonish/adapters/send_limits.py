"""Limits of sending: how many at once, how many per second and host, and pauses that a target asked for."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

_MAX_KEYS = 10_000


@dataclass(frozen=True)
class SendLimits:
    """`at_once_per_host` is less than `at_once`, so that one slow host never takes every slot."""

    at_once: int = 64
    at_once_per_host: int = 48
    per_host_per_second: float = 500.0
    seconds: float = 20.0


DEFAULT_LIMITS = SendLimits()


class RateLimit:
    """Keeps calls with the same key at least a given time apart, first come, first served."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def wait_turn(self, key: str, spacing: float) -> None:
        if spacing <= 0:
            return
        now = asyncio.get_running_loop().time()
        if len(self._next) > _MAX_KEYS:
            self._next = {name: moment for name, moment in self._next.items() if moment > now}
        at = max(now, self._next.get(key, now))
        self._next[key] = at + spacing
        await asyncio.sleep(at - now)

    def block(self, key: str, wait: timedelta) -> None:
        """Let nothing through for this key until that time has passed."""
        until = asyncio.get_running_loop().time() + wait.total_seconds()
        self._next[key] = max(self._next.get(key, until), until)

    def blocked_for(self, key: str) -> timedelta:
        now = asyncio.get_running_loop().time()
        return timedelta(seconds=max(0.0, self._next.get(key, now) - now))


class ConcurrencyLimit:
    """Lets only so many run at once, in all and per key."""

    def __init__(self, at_once: int, at_once_per_key: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._per_key = at_once_per_key
        self._keys: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def slot(self, key: str) -> AsyncIterator[None]:
        # First a slot of the key, which a slow host can use up, then one of those that all share.
        mine = self._keys.setdefault(key, asyncio.Semaphore(self._per_key))
        self._users[key] += 1
        try:
            async with mine, self._all:
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
                del self._keys[key]
