"""Whose turn it is at a host, in PostgreSQL: one line for the whole instance, however many workers stand in it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import DateTime, Interval, Text

from pressbox.core.db.database import Database
from pressbox.curator.ingest.rate_limits import LONGEST_TURN

# One statement, so that the row's lock is the line: whoever comes at the same moment gets the turn after. In the order
# of the names, so that two workers never wait for each other.
# A turn that is too far away for anybody to wait is told and not taken: otherwise asking alone would move it on.
_TAKE = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at)
    SELECT host, :now + wait FROM unnest(:hosts, :waits) AS asked (host, wait) ORDER BY host
    ON CONFLICT (host) DO UPDATE SET next_at = CASE
        WHEN turn.next_at > excluded.next_at + :patience THEN turn.next_at
        ELSE greatest(turn.next_at, :now) + (excluded.next_at - :now)
    END
    RETURNING host, next_at
""").bindparams(
    bindparam("now", type_=DateTime(timezone=True)),
    bindparam("hosts", type_=ARRAY(Text)),
    bindparam("waits", type_=ARRAY(Interval)),
    bindparam("patience", type_=Interval),
)
_HOLD = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at) VALUES (:host, :until)
    ON CONFLICT (host) DO UPDATE SET next_at = greatest(turn.next_at, excluded.next_at)
""")


@dataclass(frozen=True, eq=False)
class _Asked:
    host: str
    delay: timedelta
    now: datetime
    turn: "asyncio.Future[datetime]"


class SqlHostTurns:
    """Those of one process who ask at the same time ask together: a page of feeds is a statement, not a hundred."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asked: list[_Asked] = []
        self._asking: asyncio.Task[None] | None = None

    async def take(self, host: str, delay: timedelta, now: datetime) -> datetime:
        asked = _Asked(host, delay, now, asyncio.get_running_loop().create_future())
        self._asked.append(asked)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_for_all())
        return await asked.turn

    async def hold(self, host: str, until: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_HOLD, {"host": host, "until": until})

    async def _ask_for_all(self) -> None:
        """Until nobody waits: those who come while one statement runs are the next one."""
        while self._asked:
            together, self._asked = self._asked, []
            try:
                turns = await self._turns(together)
            # Whatever it is, it is the answer to everybody who waits here; a task of our own has nobody to tell.
            except BaseException as error:
                _refuse(together if isinstance(error, Exception) else together + self._asked, error)
                if not isinstance(error, Exception):
                    raise
                continue
            for asked, turn in zip(together, turns, strict=True):
                if not asked.turn.done():
                    asked.turn.set_result(turn)

    async def _turns(self, together: Sequence[_Asked]) -> Sequence[datetime]:
        now = max(asked.now for asked in together)
        in_line = sorted(together, key=lambda asked: asked.host)
        waits = {
            host: sum((asked.delay for asked in line), timedelta(0))
            for host, line in groupby(in_line, key=lambda asked: asked.host)
        }
        values = {"now": now, "hosts": list(waits), "waits": list(waits.values()), "patience": LONGEST_TURN}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(_TAKE, values)).tuples().all()
        starts: dict[str, datetime] = {host: next_at - waits[host] for host, next_at in rows}
        turns = []
        for asked in together:
            turns.append(starts[asked.host])
            starts[asked.host] += asked.delay
        return turns


def _refuse(together: Sequence[_Asked], error: BaseException) -> None:
    for asked in together:
        if asked.turn.done():
            continue
        if isinstance(error, Exception):
            asked.turn.set_exception(error)
        else:
            asked.turn.cancel()
