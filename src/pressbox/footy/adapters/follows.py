"""What is followed, and the teams to choose from, in PostgreSQL."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Select, case, func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.name_search import team_has_word
from pressbox.footy.adapters.rows import FixtureRow, FollowRow, TeamRow
from pressbox.footy.domain.fixtures import Followed
from pressbox.footy.domain.views import FollowKind, FollowView, Page, TeamView

log = get_logger(__name__)

Key = tuple[FollowKind, int]


class SqlFollows:
    """`defaults` are the leagues and teams of the settings; people add to them and take away."""

    def __init__(self, database: Database, defaults: Followed) -> None:
        self._database = database
        self._by_settings: set[Key] = {
            *((FollowKind.LEAGUE, number) for number in defaults.leagues),
            *((FollowKind.TEAM, number) for number in defaults.teams),
        }

    async def load_followed(self) -> Followed:
        async with self._database.unit_of_work() as work:
            wanted = self._wanted(await work.session.scalars(select(FollowRow)))
        return Followed(
            leagues=frozenset(number for kind, number in wanted if kind is FollowKind.LEAGUE),
            teams=frozenset(number for kind, number in wanted if kind is FollowKind.TEAM),
        )

    async def load_follows(self) -> Sequence[FollowView]:
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(select(FollowRow)))
            known = {
                FollowKind.LEAGUE: dict((await work.session.execute(_league_names())).tuples().all()),
                FollowKind.TEAM: dict(
                    (await work.session.execute(select(TeamRow.team_id, TeamRow.name))).tuples().all()
                ),
            }
        given = {(FollowKind(row.kind), row.id): row.name for row in rows}
        return [
            FollowView(kind, number, known[kind].get(number) or given.get(key, ""), key in self._by_settings)
            for key in sorted(self._wanted(rows))
            for kind, number in [key]
        ]

    async def follow(self, kind: FollowKind, number: int, name: str = "") -> None:
        """Takes effect with the next ingest."""
        await self._choose(kind, number, name.strip(), wanted=True)
        log.info("followed", msg=f"A {kind} is followed", kind=kind, id=number)

    async def unfollow(self, kind: FollowKind, number: int) -> None:
        """Fixtures that are already stored stay."""
        await self._choose(kind, number, "", wanted=False)
        log.info("unfollowed", msg=f"A {kind} is no longer followed", kind=kind, id=number)

    async def search_teams(self, words: Sequence[str], *, after: int = 0, limit: int = 50) -> Page[TeamView]:
        """Teams of stored fixtures by id; with words, those whose name or alias has all of them."""
        statement = select(TeamRow).where(TeamRow.team_id > after)
        for word in words:
            statement = statement.where(team_has_word(word))
        followed = await self.load_followed()
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(statement.order_by(TeamRow.team_id).limit(limit + 1)))
        items = tuple(_team_view(row, followed) for row in rows[:limit])
        return Page(items, items[-1].team_id if len(rows) > limit else None)

    async def load_team(self, team_id: int) -> TeamView:
        followed = await self.load_followed()
        async with self._database.unit_of_work() as work:
            row = await work.session.get(TeamRow, team_id)
        if row is None:
            raise NotFoundError(
                "There is no such team. A team is known once one of its fixtures was fetched.", team_id=team_id
            )
        return _team_view(row, followed)

    def _wanted(self, rows: Iterable[FollowRow]) -> set[Key]:
        chosen = {(FollowKind(row.kind), row.id): row.wanted for row in rows}
        return {key for key, wanted in chosen.items() if wanted} | (self._by_settings - chosen.keys())

    async def _choose(self, kind: FollowKind, number: int, name: str, wanted: bool) -> None:
        statement = insert(FollowRow).values(kind=kind, id=number, name=name, wanted=wanted)
        kept = case((statement.excluded.name != "", statement.excluded.name), else_=FollowRow.name)
        statement = statement.on_conflict_do_update(
            index_elements=["kind", "id"],
            set_={"wanted": statement.excluded.wanted, "name": kept, "changed_at": func.now()},
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)


def _league_names() -> Select[tuple[int, str]]:
    return select(FixtureRow.league_id, func.max(FixtureRow.league_name)).group_by(FixtureRow.league_id)


def _team_view(row: TeamRow, followed: Followed) -> TeamView:
    return TeamView(
        team_id=row.team_id,
        name=row.name,
        country=row.country,
        aliases=tuple(row.aliases),
        alias_source=row.source,
        fetched_at=row.fetched_at,
        followed=row.team_id in followed.teams,
    )
