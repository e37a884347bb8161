"""What the sweep would find to do, by one statement: so that a minute in which nothing is due costs nothing else."""

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.soonish.contracts import SweepStep

_LOOK = text("""
    SELECT
        EXISTS (SELECT FROM soonish.outbox
            WHERE told_at IS NULL AND created_at < now() - interval '2 seconds'
              AND (claimed_until IS NULL OR claimed_until <= now())),
        EXISTS (SELECT FROM soonish.asked_reminders WHERE started_at IS NULL AND cancelled_at IS NULL),
        EXISTS (SELECT FROM soonish.reminder_schedules
            WHERE start_date - make_interval(secs => offset_seconds) < now() - CAST(:overdue_after AS interval))
        OR EXISTS (SELECT FROM soonish.reminder_groups
            WHERE start_date - make_interval(secs => offset_seconds) < now() - CAST(:overdue_after AS interval)),
        EXISTS (SELECT FROM soonish.channels WHERE broken_at IS NOT NULL AND owner_told_at IS NULL)
""")


class SqlDueWork:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def look(self, overdue_after: timedelta) -> Collection[SweepStep]:
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(_LOOK, {"overdue_after": overdue_after})).one()
        steps = (SweepStep.OUTBOX, SweepStep.ASKED_REMINDERS, SweepStep.REMINDERS, SweepStep.BROKEN_CHANNELS)
        return [step for step, is_due in zip(steps, found, strict=True) if is_due]

    async def has_followers(self) -> bool:
        """Whether anybody may be written to."""
        anybody = text("SELECT EXISTS (SELECT FROM soonish.subscriptions WHERE state = 'active')")
        async with self._database.unit_of_work() as work:
            return bool(await work.session.scalar(anybody))
