"""The budget of requests in PostgreSQL: one row for each key, shared by all processes."""

import hashlib
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from pressbox.core.db.database import Database
from pressbox.footy.adapters.locked_state import LockedState
from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.domain.request_budget import RequestBudget, next_reset
from pressbox.footy.settings import FootySettings

# From kick-off to the end of a match with its break and a late goal.
MATCH_TIME = timedelta(hours=2, minutes=15)


class SqlRequestBudget(LockedState[RequestBudget]):
    def __init__(self, database: Database, name: str) -> None:
        super().__init__(database, name, RequestBudget())

    async def find_busy_until(self, now: datetime) -> datetime | None:
        """When the last match that begins before the next reset is over; None without any."""
        statement = select(func.max(FixtureRow.kickoff)).where(
            FixtureRow.stage != Stage.COMPLETED,
            FixtureRow.kickoff < next_reset(now),
            FixtureRow.kickoff > now - timedelta(days=1),
        )
        async with self._database.unit_of_work() as work:
            last = await work.session.scalar(statement)
        return None if last is None else last.astimezone(UTC) + MATCH_TIME


def budget_name(settings: FootySettings) -> str:
    """Another key is another account, with requests of its own; the key itself is not stored."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    return "api-football:" + hashlib.sha256(f"{settings.api_url}\n{key}".encode()).hexdigest()[:16]


def open_budget(database: Database, settings: FootySettings) -> SqlRequestBudget:
    return SqlRequestBudget(database, budget_name(settings))
