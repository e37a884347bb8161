"""Attempts to sign in: guessing is slow, and nobody can lock somebody else out.

What is counted is a person at an address, and an address as a whole. A browser in which the person signed in before has
a count of its own, so that strangers who try do not stand in the way of the one who is known. Guesses that come from
many addresses are not refused but take turns, with a gap between them that grows.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import case, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.accounts.limits import Limit, RateLimits, address_subject, hashed_key, too_many_attempts
from pressbox.core.accounts.models import Client
from pressbox.core.accounts.rows import PaceRow
from pressbox.core.db.database import Database

Pause = Callable[[float], Awaitable[None]]

BY_ADDRESS = Limit("sign-in-address", 30, timedelta(minutes=10))
BY_PERSON_AND_ADDRESS = Limit("sign-in-person-address", 10, timedelta(minutes=10))
BY_PERSON_AND_DEVICE = Limit("sign-in-person-device", 10, timedelta(minutes=10))

# Attempts at one account from unknown devices, in a day, before they have to take turns.
FREE_ATTEMPTS = 20
FIRST_GAP, LONGEST_GAP = timedelta(seconds=0.5), timedelta(seconds=8)
ATTEMPTS_PER_STEP = 10
LONGEST_WAIT = timedelta(seconds=10)
PACE_WINDOW = timedelta(days=1)


@dataclass(frozen=True)
class Attempt:
    """One that was let through, and what it was counted as."""

    counted: tuple[tuple[Limit, str], ...]


def gap_after(attempts: int) -> timedelta:
    """How long the next has to wait after this one: nothing at first, then doubling."""
    if attempts <= FREE_ATTEMPTS:
        return timedelta()
    steps = (attempts - FREE_ATTEMPTS - 1) // ATTEMPTS_PER_STEP
    return min(LONGEST_GAP, FIRST_GAP * (1 << min(10, steps)))


class SignInAttempts:
    """`kind` tells one way in from another; those of apps do not add up with those of people."""

    def __init__(self, database: Database, *, kind: str = "", pause: Pause = asyncio.sleep) -> None:
        self._database = database
        self._limits = RateLimits(database)
        self._kind = kind
        self._pause = pause

    async def admit(self, person: str, client: Client, *, known_device: bool = False, paced: bool = True) -> Attempt:
        """Count one and wait for its turn, or raise when that is one too many."""
        if known_device:
            return await self._count((BY_PERSON_AND_DEVICE, f"{self._kind} {person} {client.device}"))
        address = address_subject(client.address)
        attempt = await self._count(
            (BY_ADDRESS, f"{self._kind} {address}"), (BY_PERSON_AND_ADDRESS, f"{self._kind} {person} {address}")
        )
        if paced:
            wait = await self._take_turn(person)
            if wait:
                await self._pause(wait.total_seconds())
        return attempt

    async def succeed(self, attempt: Attempt) -> None:
        """Take back what this one attempt added; what others did from the same address stays."""
        for limit, subject in attempt.counted:
            if limit is BY_ADDRESS:
                await self._limits.give_back(limit, subject)
            else:
                await self._limits.forget(limit, subject)

    async def _count(self, *counted: tuple[Limit, str]) -> Attempt:
        for limit, subject in counted:
            await self._limits.count(limit, subject)
        return Attempt(counted)

    async def _take_turn(self, person: str) -> timedelta:
        """How long this attempt has to wait. One that would wait too long is refused, and told for how long."""
        key, now = hashed_key("pace", f"{self._kind} {person}"), func.clock_timestamp()
        async with self._database.unit_of_work() as work:
            await work.session.execute(text("SET LOCAL synchronous_commit TO off"))
            expired = PaceRow.expires_at <= now
            counted = (
                insert(PaceRow)
                .values(key=key, count=1, free_at=now, expires_at=now + PACE_WINDOW)
                .on_conflict_do_update(
                    index_elements=[PaceRow.key],
                    set_={
                        "count": case((expired, 1), else_=PaceRow.count + 1),
                        "free_at": func.greatest(PaceRow.free_at, now),
                        "expires_at": case((expired, now + PACE_WINDOW), else_=PaceRow.expires_at),
                    },
                )
                .returning(PaceRow.count, PaceRow.free_at)
            )
            count, free_at = (await work.session.execute(counted)).one()
            wait: timedelta = free_at - (await work.session.execute(select(now))).scalar_one()
            refused = wait > LONGEST_WAIT
            if not refused:
                gap = update(PaceRow).where(PaceRow.key == key).values(free_at=PaceRow.free_at + gap_after(count))
                await work.session.execute(gap)
        if refused:
            raise too_many_attempts(wait)
        return max(wait, timedelta())
