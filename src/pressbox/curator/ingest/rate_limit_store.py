"""The rate limits of hosts in PostgreSQL, shared by all workers of the instance."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import DateTime, Interval, Text

from pressbox.core.db.database import Database
from pressbox.curator.ingest.rate_limits import LONGEST_WAIT

# One statement, so that the lock of the row is the queue: a request at the same moment gets the next slot. Ordered by
# host, so that two workers never wait for each other.
# A slot that is too far away to wait for is returned and not taken: otherwise asking alone would move it on.
_RESERVE = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at)
    SELECT host, :now + wait FROM unnest(:hosts, :waits) AS asked (host, wait) ORDER BY host
    ON CONFLICT (host) DO UPDATE SET next_at = CASE
        WHEN turn.next_at > excluded.next_at + :longest_wait THEN turn.next_at
        ELSE greatest(turn.next_at, :now) + (excluded.next_at - :now)
    END
    RETURNING host, next_at
""").bindparams(
    bindparam("now", type_=DateTime(timezone=True)),
    bindparam("hosts", type_=ARRAY(Text)),
    bindparam("waits", type_=ARRAY(Interval)),
    bindparam("longest_wait", type_=Interval),
)
_PAUSE = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at) VALUES (:host, :until)
    ON CONFLICT (host) DO UPDATE SET next_at = greatest(turn.next_at, excluded.next_at)
""")


@dataclass(frozen=True, eq=False)
class _Request:
    host: str
    delay: timedelta
    now: datetime
    slot: "asyncio.Future[datetime]"


class SqlHostRateLimits:
    """Requests of one process at the same time are one statement: a page of feeds costs one, not a hundred."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[_Request] = []
        self._worker: asyncio.Task[None] | None = None

    async def reserve(self, host: str, delay: timedelta, now: datetime) -> datetime:
        request = _Request(host, delay, now, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._serve_all())
        return await request.slot

    async def pause(self, host: str, until: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_PAUSE, {"host": host, "until": until})

    async def _serve_all(self) -> None:
        """Serve requests until none waits; those that come during a statement are the next batch."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                slots = await self._reserve_batch(batch)
            # Every error is handed to the requests that wait: nobody else awaits this task.
            except BaseException as error:
                _fail(batch if isinstance(error, Exception) else batch + self._waiting, error)
                if not isinstance(error, Exception):
                    raise
                continue
            for request, slot in zip(batch, slots, strict=True):
                if not request.slot.done():
                    request.slot.set_result(slot)

    async def _reserve_batch(self, batch: Sequence[_Request]) -> Sequence[datetime]:
        now = max(request.now for request in batch)
        by_host = sorted(batch, key=lambda request: request.host)
        waits = {
            host: sum((request.delay for request in requests), timedelta(0))
            for host, requests in groupby(by_host, key=lambda request: request.host)
        }
        values = {"now": now, "hosts": list(waits), "waits": list(waits.values()), "longest_wait": LONGEST_WAIT}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(_RESERVE, values)).tuples().all()
        starts: dict[str, datetime] = {host: next_at - waits[host] for host, next_at in rows}
        slots = []
        for request in batch:
            slots.append(starts[request.host])
            starts[request.host] += request.delay
        return slots


def _fail(requests: Sequence[_Request], error: BaseException) -> None:
    for request in requests:
        if request.slot.done():
            continue
        if isinstance(error, Exception):
            request.slot.set_exception(error)
        else:
            request.slot.cancel()
