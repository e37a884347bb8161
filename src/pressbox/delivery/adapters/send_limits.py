"""Limits of sending: how many at once, in all and per host, and hosts that do not answer."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

_MAX_HOSTS = 10_000
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


class Misses:
    """Counts per host how often in a row no answer came."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def note(self, host: str, *, answered: bool) -> bool:
        """Whether it has missed so often that the others need not wait for it."""
        if answered:
            self._counts.pop(host, None)
            return False
        if len(self._counts) > _MAX_HOSTS:
            self._counts.clear()
        self._counts[host] += 1
        return self._counts[host] >= _MISSES


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
