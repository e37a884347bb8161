"""What is followed, and the teams to choose from, in PostgreSQL."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import case, delete, func, or_, select
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.clock import utc_now
from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.logs import get_logger
from pressbox.core.notices.follows import FOLLOW_CHANGED, list_subjects, rename_subject
from pressbox.footy.adapters.aliases.club_list import club_list
from pressbox.footy.adapters.directory import find_listed
from pressbox.footy.adapters.name_search import team_has_word
from pressbox.footy.adapters.rows import DirectoryRow, FixtureRow, FollowRow, TeamRow
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.fixtures import Followed, Stage
from pressbox.footy.domain.views import FollowKind, FollowView, Page, TeamView
from pressbox.footy.ids import LEAGUE_SUBJECT, TEAM_SUBJECT, team_path
from pressbox.footy.ports.storage import TeamName

log = get_logger(__name__)

# One that began longer ago waits for another date, and is nobody's next match.
LONGEST_MATCH = timedelta(hours=4)

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
        """What is fetched: chosen for everybody, or followed by anybody."""
        async with self._database.unit_of_work() as work:
            wanted = self._wanted(await work.session.scalars(select(FollowRow)))
            wanted |= await _load_personal(work.session)
        return followed_of(wanted)

    async def load_follows(self) -> Sequence[FollowView]:
        """Leagues before teams, each by name, with their next match."""
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(select(FollowRow)))
            wanted = self._wanted(rows) | await _load_personal(work.session)
            entries = await _load_entries(work.session, wanted)
            coming = await _find_next_matches(work.session, wanted)
        given = {(FollowKind(row.kind), row.id): row.name for row in rows}
        views = [
            _follow_view(entries.get(key) or Entry(*key, given.get(key, "")), key in self._by_settings, coming.get(key))
            for key in wanted
        ]
        return sorted(views, key=lambda view: (view.kind, not view.name, view.name.casefold(), view.country, view.id))

    async def follow(self, kind: FollowKind, number: int, name: str = "") -> None:
        await self._choose(kind, number, name.strip(), wanted=True)
        log.info("followed", msg=f"A {kind} is followed", kind=kind, id=number)

    async def unfollow(self, kind: FollowKind, number: int) -> None:
        """Fixtures that are already stored stay."""
        await self._choose(kind, number, "", wanted=False)
        log.info("unfollowed", msg=f"A {kind} is no longer followed", kind=kind, id=number)

    async def identify(self, teams: Iterable[TeamName]) -> Mapping[int, int]:
        """Give teams that were chosen from the list of the program the ids that API-Football has for them."""
        awaited = {number for number in (await self.load_followed()).teams if number < 0}
        if not awaited:
            return {}
        found = {listed: team for team in teams for listed in sorted(club_list().identify(team) & awaited)}
        async with self._database.unit_of_work() as work:
            gone = delete(FollowRow).where(FollowRow.kind == FollowKind.TEAM, FollowRow.id == one_of(sorted(found)))
            for listed in await work.session.scalars(gone.returning(FollowRow.id)):
                team = found[listed]
                await work.session.execute(_choice(FollowKind.TEAM, team.team_id, team.name, wanted=True))
            for listed, team in found.items():
                old, new = subject_of(FollowKind.TEAM, listed), subject_of(FollowKind.TEAM, team.team_id)
                await rename_subject(work.session, old, new, team_path(team.team_id))
                work.changed(FOLLOW_CHANGED, new)
        return {listed: team.team_id for listed, team in found.items()}

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
        async with self._database.unit_of_work() as work:
            await work.session.execute(_choice(kind, number, name, wanted))


def subject_of(kind: FollowKind, number: int) -> str:
    """What a person follows who follows this league or team."""
    return f"{LEAGUE_SUBJECT if kind is FollowKind.LEAGUE else TEAM_SUBJECT}{number}"


def keys_of(subjects: Iterable[str]) -> set[Key]:
    """The leagues and teams among these subjects."""
    found: set[Key] = set()
    for subject in subjects:
        for kind in FollowKind:
            number = subject.removeprefix(subject_of(kind, 0).removesuffix("0"))
            if number != subject:
                found.add((kind, int(number)))
    return found


def followed_of(keys: Iterable[Key]) -> Followed:
    wanted = set(keys)
    return Followed(
        leagues=frozenset(number for kind, number in wanted if kind is FollowKind.LEAGUE),
        teams=frozenset(number for kind, number in wanted if kind is FollowKind.TEAM),
    )


async def _load_personal(session: AsyncSession) -> set[Key]:
    """What anybody follows for themselves."""
    return keys_of([*await list_subjects(session, LEAGUE_SUBJECT), *await list_subjects(session, TEAM_SUBJECT)])


def _choice(kind: FollowKind, number: int, name: str, wanted: bool) -> Insert:
    statement = insert(FollowRow).values(kind=kind, id=number, name=name, wanted=wanted)
    kept = case((statement.excluded.name != "", statement.excluded.name), else_=FollowRow.name)
    return statement.on_conflict_do_update(
        index_elements=["kind", "id"],
        set_={"wanted": statement.excluded.wanted, "name": kept, "changed_at": func.now()},
    )


async def _load_entries(session: AsyncSession, keys: Iterable[Key]) -> Mapping[Key, Entry]:
    """What each is called: by fixtures and searches, or by the lists of the program."""
    wanted = set(keys)
    listed = {key: entry for key in wanted if (entry := find_listed(*key)) is not None}
    rows = await session.scalars(
        select(DirectoryRow).where(DirectoryRow.id == one_of([number for _, number in wanted]))
    )
    known = {(FollowKind(row.kind), row.id): row for row in rows}
    return listed | {key: Entry(*key, row.name, row.country) for key, row in known.items() if key in wanted}


async def _find_next_matches(session: AsyncSession, keys: Iterable[Key]) -> Mapping[Key, FixtureRow]:
    leagues = [number for kind, number in keys if kind is FollowKind.LEAGUE]
    teams = [number for kind, number in keys if kind is FollowKind.TEAM]
    concerned = or_(
        FixtureRow.league_id == one_of(leagues),
        FixtureRow.home_id == one_of(teams),
        FixtureRow.away_id == one_of(teams),
    )
    recent = FixtureRow.kickoff > utc_now() - LONGEST_MATCH
    open_ones = select(FixtureRow).where(FixtureRow.stage != Stage.COMPLETED, recent, concerned)
    found: dict[Key, FixtureRow] = {}
    for row in await session.scalars(open_ones.order_by(FixtureRow.kickoff, FixtureRow.id)):
        for key in (
            (FollowKind.LEAGUE, row.league_id),
            (FollowKind.TEAM, row.home_id),
            (FollowKind.TEAM, row.away_id),
        ):
            found.setdefault(key, row)
    return found


def _follow_view(entry: Entry, by_settings: bool, coming: FixtureRow | None) -> FollowView:
    return FollowView(
        kind=entry.kind,
        id=entry.id,
        name=entry.name,
        country=entry.country,
        by_settings=by_settings,
        next_kickoff=coming.kickoff if coming else None,
        next_match=f"{coming.home_name} – {coming.away_name}" if coming else "",
        next_fixture_id=coming.id if coming else None,
    )


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
