"""Leases: rows are the queue, whoever works on one has it for a while, and activities work on pages of them.

A row is handed out and leased in one statement, by the database's clock. A result is recorded only while the row is
still leased to the one who brings it. What a killed or frozen worker had comes back when its lease is over, or at once
when another attempt of the same activity asks for it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import utc_now
from pressbox.core.errors import TransientError
from pressbox.core.temporal.later import try_later

LEASE = timedelta(seconds=60)
# Well before the end, so that one renewal may fail.
RENEWED_EVERY = timedelta(seconds=20)
_ALONE = "!"


@dataclass(frozen=True)
class Lease:
    """One attempt at one step of a piece of work. A later one takes over what an earlier had, never the reverse."""

    work: str
    attempt: int = 1
    step: str = ""
    length: timedelta = LEASE
    # The row that is leased is the only one at work here: if the process dies, this one killed it.
    alone: bool = False

    @property
    def owner(self) -> str:
        # As many digits as it takes, so that owners compare like their steps and attempts.
        return f"{self.work}/{self.step.zfill(9)}/{self.attempt:09d}{_ALONE if self.alone else ''}"

    @property
    def values(self) -> dict[str, object]:
        """The parameters of `is_free` and of statements that lease."""
        return {"work": f"{self.work}/", "owner": self.owner, "lease": self.length}


def was_alone(owner: str) -> bool:
    """Whether this former owner tried its row alone."""
    return owner.endswith(_ALONE)


def is_free(table: str) -> str:
    """SQL: nobody has the row, or an earlier step or attempt of the same work."""
    return (
        f"({table}.lease_until IS NULL OR {table}.lease_until <= now()"
        f" OR (starts_with({table}.lease_owner, :work) AND {table}.lease_owner < :owner))"
    )


@dataclass(frozen=True)
class NextTurn:
    """How much waits that nobody works on, and when the first has its turn; `coming` are not ready, but will be."""

    waiting: int = 0
    at: datetime | None = None
    coming: int = 0


Renew = Callable[[Lease, Sequence[int]], Awaitable[None]]
# A host that is still being asked may be free at any moment, and new rows come without notice.
SHORTEST_PAUSE = timedelta(milliseconds=200)
LONGEST_PAUSE = timedelta(seconds=5)


def current_lease(shard: int = 0) -> Lease:
    """The lease of this attempt of the activity that runs, for one of the shards that its workflow works with."""
    info = activity.info()
    return Lease(f"{info.workflow_run_id}/{shard}", info.attempt, info.activity_id)


def has_worked_for(time: timedelta) -> bool:
    """Whether the activity was asked for so long ago, attempts and pauses included."""
    return utc_now() - activity.info().scheduled_time >= time


def pause_until(turn: NextTurn) -> Exception:
    """The end of this attempt: the next begins when the first row has its turn."""
    wait = turn.at - utc_now() if turn.at is not None else LONGEST_PAUSE
    return try_later(min(max(wait, SHORTEST_PAUSE), LONGEST_PAUSE), f"{turn.waiting} wait for their turn.")


@asynccontextmanager
async def kept(lease: Lease, ids: Sequence[int], renew: Renew) -> AsyncIterator[None]:
    """Renew the lease of these rows while the block works on them."""
    renewing = asyncio.create_task(_renew(lease, ids, renew))
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)


async def _renew(lease: Lease, ids: Sequence[int], renew: Renew) -> None:
    while True:
        await asyncio.sleep(RENEWED_EVERY.total_seconds())
        try:
            await renew(lease, ids)
        except TransientError:
            # The next renewal may succeed; otherwise somebody else takes the rows, and our results are refused.
            activity.logger.warning("A lease could not be renewed")
