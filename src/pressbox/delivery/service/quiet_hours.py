"""The quiet hours that each person chose."""

from sqlalchemy import text

from pressbox.core.db.database import Database
from pressbox.delivery.domain.quiet_hours import QUIET, QuietHours

_LOAD = text("SELECT begins, ends, zone FROM core.quiet_hours WHERE user_id = :user_id")
_STORE = text("""
    INSERT INTO core.quiet_hours (user_id, begins, ends, zone) VALUES (:user_id, :begins, :ends, :zone)
    ON CONFLICT (user_id) DO UPDATE SET begins = excluded.begins, ends = excluded.ends, zone = excluded.zone
""")
_END = text("DELETE FROM core.quiet_hours WHERE user_id = :user_id")
# What waits is looked at anew: by the new hours it may leave now, or has to wait longer.
_WAKE = text("""
    UPDATE core.notice_sends SET next_try_at = now()
    WHERE user_id = :user_id AND state = 'pending' AND trying_since IS NULL AND reason = :reason
""")


class PersonalQuietHours:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, user_id: int) -> QuietHours | None:
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(_LOAD, {"user_id": user_id})).one_or_none()
        return None if found is None else QuietHours(*found)

    async def choose(self, user_id: int, hours: QuietHours | None) -> None:
        """It counts at once, also for what waits."""
        async with self._database.unit_of_work() as work:
            if hours is None:
                await work.session.execute(_END, {"user_id": user_id})
            else:
                values = {"begins": hours.begins, "ends": hours.ends, "zone": hours.zone}
                await work.session.execute(_STORE, {"user_id": user_id, **values})
            await work.session.execute(_WAKE, {"user_id": user_id, "reason": QUIET})
