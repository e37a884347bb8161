"""The budget of requests in PostgreSQL: one row for each key, shared by all processes."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import or_, select

from pressbox.core.db.database import Database
from pressbox.footy.adapters.locked_state import LockedState
from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.domain.day_plan import MATCH_TIME, Window, window_of
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.domain.request_budget import RequestBudget, next_reset
from pressbox.footy.settings import FootySettings


class SqlRequestBudget(LockedState[RequestBudget]):
    def __init__(self, database: Database, name: str) -> None:
        super().__init__(database, name, RequestBudget())

    async def find_windows(self, now: datetime, ahead: timedelta) -> Sequence[Window]:
        statement = select(FixtureRow.kickoff, FixtureRow.stage == Stage.ACTIVE).where(
            FixtureRow.stage != Stage.COMPLETED,
            FixtureRow.kickoff < next_reset(now) + ahead,
            or_(FixtureRow.kickoff > now - MATCH_TIME, FixtureRow.stage == Stage.ACTIVE),
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples()
            return [window_of(kickoff.astimezone(UTC), ahead, is_active, now) for kickoff, is_active in found]


def budget_name(settings: FootySettings) -> str:
    """Another key is another account, with requests of its own; the key itself is not stored."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    return "api-football:" + hashlib.sha256(f"{settings.api_url}\n{key}".encode()).hexdigest()[:16]


def open_budget(database: Database, settings: FootySettings) -> SqlRequestBudget:
    return SqlRequestBudget(database, budget_name(settings))
