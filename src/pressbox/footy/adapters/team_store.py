"""Teams and their cached aliases in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.footy.adapters.rows import TeamRow
from pressbox.footy.contracts.aliases import TeamAliases
from pressbox.footy.ports.storage import TeamName

_FAILURE_LENGTH = 500


class SqlTeamStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_team(self, team_id: int) -> TeamName:
        row = await self._row(team_id)
        return TeamName(row.team_id, row.name, row.country)

    async def load_aliases(self, team_id: int, alias_age: timedelta, now: datetime) -> TeamAliases:
        row = await self._row(team_id)
        return TeamAliases(
            team_id=team_id,
            team_name=row.name,
            aliases=tuple(row.aliases),
            source=row.source,
            fetched_at=row.fetched_at,
            fresh=row.fetched_at is not None and row.fetched_at >= now - alias_age,
        )

    async def save_aliases(self, team_id: int, aliases: Sequence[str], source: str, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(TeamRow, team_id, with_for_update=True)
            if row is None:
                raise NotFoundError("There is no such team.", team_id=team_id)
            row.aliases, row.source, row.fetched_at = list(aliases), source, now

    async def _row(self, team_id: int) -> TeamRow:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(TeamRow, team_id)
        if row is None:
            raise NotFoundError(
                "There is no such team. A team is known once one of its fixtures was fetched.", team_id=team_id
            )
        return row
