"""Keeps a claim while its work runs: it lapses soon after its process died, and never before."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from pressbox.core.clock import Clock
from pressbox.core.errors import TransientError
from pressbox.core.spending.ports import Claims

CLAIM_LIFETIME = timedelta(seconds=45)
CLAIM_RENEWAL_SECONDS = 15.0


@asynccontextmanager
async def keep_claim(claims: Claims, key: str, owner: str, now: Clock) -> AsyncIterator[None]:
    """Renew a claim that the owner has taken, and release it at the end."""
    renewal = asyncio.create_task(_renew(claims, key, owner, now))
    try:
        yield
    finally:
        renewal.cancel()
        # It lapses by itself when the database is away.
        with suppress(TransientError):
            await claims.release([key], owner)


async def _renew(claims: Claims, key: str, owner: str, now: Clock) -> None:
    while True:
        await asyncio.sleep(CLAIM_RENEWAL_SECONDS)
        # A claim outlasts several attempts to renew it.
        with suppress(TransientError):
            await claims.take([key], owner, now() + CLAIM_LIFETIME, now())
