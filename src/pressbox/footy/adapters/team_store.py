"""Teams, their cached aliases, what is followed, and the health of clip sources in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, case, func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError, bounded
from pressbox.footy.adapters.name_search import team_has_word
from pressbox.footy.adapters.rows import FixtureRow, FollowRow, MonitorRunRow, SourceHealthRow, TeamRow
from pressbox.footy.contracts.aliases import TeamAliases
from pressbox.footy.domain.fixtures import Followed
from pressbox.footy.domain.views import FollowKind, FollowView, Page, PollView, SourceView, TeamView
from pressbox.footy.ports.storage import SourceAnswer, TeamName

_FAILURE_LENGTH = 500


class SqlTeamStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def team(self, team_id: int) -> TeamName:
        row = await self._row(team_id)
        return TeamName(row.team_id, row.name, row.country)

    async def cached(self, team_id: int, alias_age: timedelta, now: datetime) -> TeamAliases:
        row = await self._row(team_id)
        return TeamAliases(
            team_id=team_id,
            team_name=row.name,
            aliases=tuple(row.aliases),
            source=row.source,
            fetched_at=row.fetched_at,
            fresh=row.fetched_at is not None and row.fetched_at >= now - alias_age,
        )

    async def save(self, team_id: int, aliases: Sequence[str], source: str, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(TeamRow, team_id, with_for_update=True)
            if row is None:
                raise NotFoundError("There is no such team.", team_id=team_id)
            row.aliases, row.source, row.fetched_at = list(aliases), source, now

    async def _row(self, team_id: int) -> TeamRow:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(TeamRow, team_id)
        if row is None:
            raise NotFoundError("There is no such team. Teams are known once a fixture of theirs was.", team_id=team_id)
        return row


class SqlFollowStore:
    """`defaults` are the leagues and teams of the settings."""

    def __init__(self, database: Database, defaults: Followed) -> None:
        self._database = database
        self._defaults = defaults

    async def teams(self, words: Sequence[str], after: int, limit: int) -> Page[TeamView]:
        statement = select(TeamRow).where(TeamRow.team_id > after)
        for word in words:
            statement = statement.where(team_has_word(word))
        followed = {item.id for item in await self.follows() if item.kind is FollowKind.TEAM}
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(statement.order_by(TeamRow.team_id).limit(limit + 1)))
        items = tuple(_team(row, row.team_id in followed) for row in rows[:limit])
        return Page(items, items[-1].team_id if len(rows) > limit else None)

    async def team_view(self, team_id: int) -> TeamView:
        followed = {item.id for item in await self.follows() if item.kind is FollowKind.TEAM}
        async with self._database.unit_of_work() as work:
            row = await work.session.get(TeamRow, team_id)
        if row is None:
            raise NotFoundError("There is no such team. Teams are known once a fixture of theirs was.", team_id=team_id)
        return _team(row, team_id in followed)

    async def follows(self) -> Sequence[FollowView]:
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(select(FollowRow)))
            names = {
                FollowKind.LEAGUE: dict((await work.session.execute(_league_names())).tuples().all()),
                FollowKind.TEAM: dict(
                    (await work.session.execute(select(TeamRow.team_id, TeamRow.name))).tuples().all()
                ),
            }
        chosen = {(FollowKind(row.kind), row.id): row for row in rows}
        by_settings = {(FollowKind.LEAGUE, number) for number in self._defaults.leagues}
        by_settings |= {(FollowKind.TEAM, number) for number in self._defaults.teams}
        wanted = {key for key, row in chosen.items() if row.wanted} | (by_settings - chosen.keys())
        return [
            FollowView(kind, number, names[kind].get(number) or _chosen_name(chosen.get((kind, number))), by)
            for kind, number in sorted(wanted)
            for by in [(kind, number) in by_settings]
        ]

    async def set_follow(self, kind: FollowKind, number: int, name: str, wanted: bool) -> None:
        statement = insert(FollowRow).values(kind=kind, id=number, name=name, wanted=wanted)
        kept = case((statement.excluded.name != "", statement.excluded.name), else_=FollowRow.name)
        statement = statement.on_conflict_do_update(
            index_elements=["kind", "id"],
            set_={"wanted": statement.excluded.wanted, "name": kept, "changed_at": func.now()},
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)


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
                "failure": bounded(answer.failure, _FAILURE_LENGTH),
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

    async def sources(self) -> Sequence[SourceView]:
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(select(SourceHealthRow).order_by(SourceHealthRow.source))
            return [SourceView(row.source, row.checked_at, row.worked_at, row.found, row.failure) for row in rows]

    async def polls(self, limit: int) -> Sequence[PollView]:
        statement = select(MonitorRunRow).order_by(MonitorRunRow.started_at.desc()).limit(limit)
        async with self._database.unit_of_work() as work:
            return [
                PollView(
                    run_id=row.id,
                    started_at=row.started_at,
                    finished_at=row.finished_at,
                    fixtures=int(row.summary.get("fixtures", 0)),
                    failed=int(row.summary.get("failed", 0)),
                )
                for row in await work.session.scalars(statement)
            ]


def _league_names() -> Select[tuple[int, str]]:
    return select(FixtureRow.league_id, func.max(FixtureRow.league_name)).group_by(FixtureRow.league_id)


def _chosen_name(row: FollowRow | None) -> str:
    return "" if row is None else row.name


def _team(row: TeamRow, followed: bool) -> TeamView:
    return TeamView(row.team_id, row.name, row.country, tuple(row.aliases), row.source, row.fetched_at, followed)
