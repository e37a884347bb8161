"""How often one person, or one address without an account, may ask: counted in the memory of the process."""

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Request

from pressbox.core.accounts.limits import address_subject
from pressbox.core.app import Resources
from pressbox.core.errors import RateLimitedError
from pressbox.core.quotas.declared import REQUESTS
from pressbox.core.quotas.quota import Quota, spent
from pressbox.core.quotas.service import QuotaService
from pressbox.core.quotas.store import QuotaUses, limit_of
from pressbox.core.web.connection import connected
from pressbox.core.web.identity import Identity, client_of, current_identity

# Of whoever is not signed in.
MOST_BY_ADDRESS = 1200
# A limit that an administrator changes counts from then on.
LIMIT_SECONDS = 30.0
# Beyond this, those that have asked for nothing lately are forgotten.
MOST_SUBJECTS = 10_000

Seconds = Callable[[], float]


class RequestRates:
    """A bucket per subject that holds one minute's worth and fills evenly."""

    def __init__(self, now: Seconds = time.monotonic) -> None:
        self._now = now
        # What is left, and when that was.
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, subject: str, per_minute: int) -> timedelta | None:
        """Take one. None when there was one left, else how long until there is."""
        now = self._now()
        left, then = self._buckets.pop(subject, (float(per_minute), now))
        left = min(float(per_minute), left + (now - then) * per_minute / 60)
        enough = left >= 1
        # Put at the end: the front are those that have asked for nothing the longest.
        self._buckets[subject] = (left - 1 if enough else left, now)
        while len(self._buckets) > MOST_SUBJECTS:
            del self._buckets[next(iter(self._buckets))]
        return None if enough else timedelta(seconds=(1 - left) * 60 / per_minute if per_minute else 60)


class PersonLimits:
    """The limits of people, remembered for a moment: they are asked for at every request."""

    def __init__(self, now: Seconds = time.monotonic) -> None:
        self._now = now
        self._known: dict[tuple[int, str], tuple[int, float]] = {}

    async def most(self, resources: Resources, quota: Quota, user_id: int) -> int:
        known = self._known.get((user_id, quota.key))
        if known is not None and known[1] > self._now():
            return known[0]
        async with resources.database.unit_of_work() as work:
            most = await limit_of(work.session, quota, user_id)
        if len(self._known) > MOST_SUBJECTS:
            self._known.clear()
        self._known[user_id, quota.key] = (most, self._now() + LIMIT_SECONDS)
        return most

    def forget(self) -> None:
        self._known.clear()


def quota_service(request: Request) -> QuotaService:
    """Dependency: what people may use."""
    return QuotaService(connected(request).database, request.app.state.manifests)


def spend(quota: Quota) -> Callable[..., Awaitable[None]]:
    """A dependency for a route that does what a quota limits, and has no transaction of its own to count it in."""

    async def count(
        resources: Annotated[Resources, Depends(connected)],
        identity: Annotated[Identity | None, Depends(current_identity)],
    ) -> None:
        if identity is not None:
            await QuotaUses(resources.database).demand(quota, identity.user_id)

    return count


async def count_request(
    request: Request,
    resources: Annotated[Resources, Depends(connected)],
    identity: Annotated[Identity | None, Depends(current_identity)],
) -> None:
    """Dependency: refuse whoever asks too often, before anything is done for them."""
    rates: RequestRates = request.app.state.request_rates
    if identity is None:
        rest = rates.take(address_subject(client_of(request).address), MOST_BY_ADDRESS)
        if rest is not None:
            raise RateLimitedError("Too many requests from your address. Slow down a little.", retry_after=rest)
        return
    limits: PersonLimits = request.app.state.person_limits
    most = await limits.most(resources, REQUESTS, identity.user_id)
    rest = rates.take(f"person {identity.user_id}", most)
    if rest is not None:
        refusal = spent(REQUESTS, most, rest)
        # For a second at least: one that never stops is let through to the database once in a while only.
        request.app.state.refusals.note(request.scope, refusal, seconds=max(1.0, rest.total_seconds()))
        raise refusal
