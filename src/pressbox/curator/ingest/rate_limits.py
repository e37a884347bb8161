"""Waits until a host may be asked again: one rate limit per host for the whole instance."""

import asyncio
from datetime import datetime, timedelta

from pressbox.core.clock import Clock
from pressbox.curator.ingest.ports import HostRateLimits
from pressbox.curator.library.domain.urls import host_of

# A caller that would have to wait longer than this gets the time instead, and tries again then.
LONGEST_WAIT = timedelta(minutes=5)


class HostRateLimiter:
    def __init__(self, limits: HostRateLimits, now: Clock) -> None:
        self._limits = limits
        self._now = now

    async def wait(self, url: str, delay: timedelta) -> datetime | None:
        """Wait until this host may be asked, or return the time before which it may not."""
        host = host_of(url)
        if not host or not delay:
            return None
        now = self._now()
        slot = await self._limits.reserve(host, delay, now)
        if slot - now > LONGEST_WAIT:
            return slot
        await asyncio.sleep(max((slot - now).total_seconds(), 0))
        return None

    async def pause(self, url: str, until: datetime) -> None:
        if host := host_of(url):
            await self._limits.pause(host, until)
