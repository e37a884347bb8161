"""How each clip source answered its last canary search, in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database
from pressbox.core.errors import shorten
from pressbox.footy.adapters.rows import SourceHealthRow
from pressbox.footy.domain.views import SourceView
from pressbox.footy.ports.storage import SourceAnswer

_FAILURE_LENGTH = 500


class SqlSourceHealth:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, answers: Sequence[SourceAnswer], now: datetime) -> None:
        if not answers:
            return
        rows = {
            answer.source: {
                "source": answer.source,
                "checked_at": now,
                "worked_at": None if answer.failure else now,
                "found": answer.found,
                "failure": shorten(answer.failure, _FAILURE_LENGTH),
            }
            for answer in answers
        }
        statement = insert(SourceHealthRow)
        new = statement.excluded
        statement = statement.on_conflict_do_update(
            index_elements=["source"],
            set_={
                "checked_at": new.checked_at,
                "worked_at": func.coalesce(new.worked_at, SourceHealthRow.worked_at),
                "found": new.found,
                "failure": new.failure,
            },
            where=SourceHealthRow.checked_at <= new.checked_at,
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement, [rows[name] for name in sorted(rows)])

    async def load_all(self) -> Sequence[SourceView]:
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(select(SourceHealthRow).order_by(SourceHealthRow.source))
            return [SourceView(row.source, row.checked_at, row.worked_at, row.found, row.failure) for row in rows]
