"""The budget of requests in PostgreSQL: one row for each key, changed under its lock by whoever asks."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.clock import utc_now
from pressbox.core.db.database import Database
from pressbox.footy.adapters.rows import FixtureRow, RequestBudgetRow
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.domain.request_budget import RequestBudget, next_reset
from pressbox.footy.settings import FootySettings

ResultT = TypeVar("ResultT")
# From kick-off to the end of a match with its break and a late goal.
MATCH_TIME = timedelta(hours=2, minutes=15)


class SqlRequestBudget:
    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name

    async def load(self) -> RequestBudget:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(RequestBudgetRow, self._name)
        return RequestBudget() if row is None else RequestBudget.model_validate(row.state)

    async def change(self, decide: Callable[[RequestBudget], tuple[RequestBudget, ResultT]]) -> ResultT:
        locked = select(RequestBudgetRow).where(RequestBudgetRow.name == self._name).with_for_update()
        async with self._database.unit_of_work() as work:
            row = await work.session.scalar(locked)
            if row is None:
                empty = {"name": self._name, "state": {}, "changed_at": utc_now()}
                await work.session.execute(insert(RequestBudgetRow).values(empty).on_conflict_do_nothing())
                row = (await work.session.execute(locked)).scalar_one()
            before = RequestBudget.model_validate(row.state)
            after, result = decide(before)
            if after != before:
                row.state = after.model_dump(mode="json", exclude_defaults=True)
                row.changed_at = utc_now()
        return result

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
