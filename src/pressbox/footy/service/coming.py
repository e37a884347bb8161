"""Fixtures that are still to come, for what stands above this application: by team, by id, and what they state."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.ids import FIXTURE_SUBJECT, TEAM_SUBJECT

# One that began longer ago is over, or waits for another date.
STILL_ON = timedelta(hours=4)


@dataclass(frozen=True)
class ComingFixture:
    id: int
    status: FixtureStatus
    kickoff: datetime
    home_id: int
    home_name: str
    away_id: int
    away_name: str
    competition: str = ""
    venue: str = ""

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whoever follows one of these follows the fixture. A league has too many to be reminded of each."""
        return f"{TEAM_SUBJECT}{self.home_id}", f"{TEAM_SUBJECT}{self.away_id}", f"{FIXTURE_SUBJECT}{self.id}"


class ComingFixtures:
    def __init__(self, database: Database, now: Clock = utc_now) -> None:
        self._database = database
        self._now = now

    async def find(self, subjects: Iterable[str]) -> Sequence[int]:
        """Those to come of these teams, and of these fixtures."""
        return await self._find(and_(self._is_coming(), _of(subjects)))

    async def find_page(self, followed: Iterable[str], known: Iterable[str], after: int, limit: int) -> Sequence[int]:
        """A page of those to come that are followed, and of those that are `known`, whatever their date."""
        wanted = or_(and_(self._is_coming(), _of(followed)), _of(known))
        return await self._find(and_(FixtureRow.id > after, wanted), limit)

    async def load(self, fixture_ids: Collection[int]) -> Sequence[ComingFixture]:
        statement = select(FixtureRow).where(FixtureRow.id == one_of(list(fixture_ids))).order_by(FixtureRow.id)
        async with self._database.unit_of_work() as work:
            return [_fixture(row) for row in await work.session.scalars(statement)]

    async def _find(self, condition: ColumnElement[bool], limit: int | None = None) -> Sequence[int]:
        statement = select(FixtureRow.id).where(condition).order_by(FixtureRow.id).limit(limit)
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement))

    def _is_coming(self) -> ColumnElement[bool]:
        return FixtureRow.kickoff > self._now() - STILL_ON


def _of(subjects: Iterable[str]) -> ColumnElement[bool]:
    named = list(subjects)
    teams, numbers = _numbers(named, TEAM_SUBJECT), _numbers(named, FIXTURE_SUBJECT)
    playing = or_(FixtureRow.home_id == one_of(teams), FixtureRow.away_id == one_of(teams))
    return or_(playing, FixtureRow.id == one_of(numbers))


def _numbers(subjects: Iterable[str], prefix: str) -> list[int]:
    found = (subject.removeprefix(prefix) for subject in subjects if subject.startswith(prefix))
    # Teams that only the program's own list has are negative, and have no fixtures.
    return sorted(int(number) for number in found if number.isascii() and number.isdigit())


def _fixture(row: FixtureRow) -> ComingFixture:
    return ComingFixture(
        id=row.id,
        status=FixtureStatus(row.status),
        kickoff=row.kickoff,
        home_id=row.home_id,
        home_name=row.home_name,
        away_id=row.away_id,
        away_name=row.away_name,
        competition=", ".join(filter(None, (row.league_name, row.round))),
        venue=row.venue,
    )
