"""How many requests a model gets at a time, by all processes of the instance together."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pressbox.core.clock import Clock, utc_now
from pressbox.core.models.endpoints import Endpoint
from pressbox.core.spending.holding import CLAIM_LIFETIME, keep_claim
from pressbox.core.spending.ports import Claims

POLL_SECONDS = 0.25


class SharedTurns:
    """`at_once` claims under names that every process knows. A frozen process may add one more after its claim lapsed.

    The last claim is for people who read the answer while it is written: bulk work never takes all of them.
    """

    def __init__(self, claims: Claims, endpoint: Endpoint, at_once: int, now: Clock = utc_now) -> None:
        named = hashlib.sha256(f"{endpoint.url} {endpoint.model}".encode()).hexdigest()[:16]
        self._keys = [f"model-{named}-{number}" for number in range(at_once)]
        self._claims = claims
        self._now = now

    @asynccontextmanager
    async def take(self, *, read_along: bool) -> AsyncIterator[None]:
        """Wait until a request may be sent. A database that is away is a TransientError."""
        keys = self._keys if read_along else self._keys[:-1] or self._keys
        owner = secrets.token_hex(8)
        key = await self._wait_for_any(keys, owner)
        async with keep_claim(self._claims, key, owner, self._now):
            yield

    async def _wait_for_any(self, keys: Sequence[str], owner: str) -> str:
        while True:
            key = await self._claims.take_any(keys, owner, self._now() + CLAIM_LIFETIME, self._now())
            if key is not None:
                return key
            await asyncio.sleep(POLL_SECONDS)
