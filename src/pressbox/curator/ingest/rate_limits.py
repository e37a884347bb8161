"""Waiting for a host's turn: one rate limiter for the whole instance."""

import asyncio
from datetime import datetime, timedelta

from pressbox.core.clock import Clock
from pressbox.curator.ingest.ports import HostTurns
from pressbox.curator.library.domain.urls import host_of

# Whoever is told to come back later than this does not wait here, but is tried again then.
LONGEST_TURN = timedelta(minutes=5)


class Turns:
    def __init__(self, hosts: HostTurns, now: Clock) -> None:
        self._hosts = hosts
        self._now = now

    async def wait(self, url: str, delay: timedelta) -> datetime | None:
        """Wait until this host may be asked. A time instead: it may not be asked before then."""
        host = host_of(url)
        if not host or not delay:
            return None
        now = self._now()
        turn = await self._hosts.take(host, delay, now)
        if turn - now > LONGEST_TURN:
            return turn
        await asyncio.sleep(max((turn - now).total_seconds(), 0))
        return None

    async def hold(self, url: str, until: datetime) -> None:
        if host := host_of(url):
            await self._hosts.hold(host, until)
