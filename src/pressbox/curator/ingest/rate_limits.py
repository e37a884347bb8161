"""Waits until a host may be asked again: one rate limit per host for the whole instance."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from pressbox.core.clock import Clock
from pressbox.curator.ingest.ports import HostRateLimits
from pressbox.curator.library.domain.urls import host_of

# A caller that would have to wait longer than this gets the time instead, and tries again then.
LONGEST_WAIT = timedelta(minutes=5)


class HostRateLimiter:
    """`delays` are those of domains that want another pace than the rest, with all of their hosts."""

    def __init__(self, limits: HostRateLimits, now: Clock, delays: Mapping[str, timedelta] | None = None) -> None:
        self._limits = limits
        self._now = now
        self._delays = delays or {}

    async def wait(self, url: str, delay: timedelta) -> datetime | None:
        """Wait until this host may be asked, or return the time before which it may not."""
        host, own = self._find_pace(url)
        delay = delay if own is None else own
        if not host or not delay:
            return None
        now = self._now()
        slot = await self._limits.reserve(host, delay, now)
        if slot - now > LONGEST_WAIT:
            return slot
        await asyncio.sleep(max((slot - now).total_seconds(), 0))
        return None

    async def pause(self, url: str, until: datetime) -> None:
        host, _ = self._find_pace(url)
        if host:
            await self._limits.pause(host, until)

    def _find_pace(self, url: str) -> tuple[str, timedelta | None]:
        """Whose turn a request takes, and its delay where it has one of its own."""
        host = host_of(url)
        for domain, delay in self._delays.items():
            if host == domain or host.endswith(f".{domain}"):
                return domain, delay
        return host, None
