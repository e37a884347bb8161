"""Whose turn it is at a host, in PostgreSQL: one line for the whole instance, however many workers stand in it."""

from datetime import datetime, timedelta

from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.curator.activities.turns import LONGEST_TURN

# One statement, so that the row's lock is the line: whoever comes at the same moment gets the turn after.
# A turn that is too far away for anybody to wait is told and not taken: otherwise asking alone would move it on.
_TAKE = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at) VALUES (:host, CAST(:now AS timestamptz) + :delay)
    ON CONFLICT (host) DO UPDATE SET next_at = CASE
        WHEN turn.next_at > CAST(:now AS timestamptz) + :patience THEN turn.next_at
        ELSE greatest(turn.next_at, :now) + :delay
    END
    RETURNING next_at
""")
_HOLD = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at) VALUES (:host, :until)
    ON CONFLICT (host) DO UPDATE SET next_at = greatest(turn.next_at, excluded.next_at)
""")


class SqlHostTurns:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, host: str, delay: timedelta, now: datetime) -> datetime:
        values = {"host": host, "now": now, "delay": delay, "patience": LONGEST_TURN + delay}
        async with self._database.unit_of_work() as work:
            next_at: datetime = (await work.session.execute(_TAKE, values)).scalar_one()
        return next_at - delay

    async def hold(self, host: str, until: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_HOLD, {"host": host, "until": until})
