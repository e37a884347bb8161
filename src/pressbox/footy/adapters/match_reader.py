"""Reads match days from PostgreSQL for people."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement, Date, Select, and_, cast, exists, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.footy.adapters.goal_writer import read_scorer
from pressbox.footy.adapters.name_search import has_word, team_has_word
from pressbox.footy.adapters.rows import FixtureRow, GoalNoteRow, GoalRow, TeamRow
from pressbox.footy.adapters.views import clip_views, fixture_views, goal_view
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import Sighting
from pressbox.footy.domain.views import Corrections, DayView, FixtureView, GoalHit, Page

_LIVE = [status.value for status in FixtureStatus if status.live]
_ORDER = (FixtureRow.league_name, FixtureRow.league_id, FixtureRow.kickoff, FixtureRow.id)


class MatchReader:
    """Removed goals are included only in what was taken back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_days(self, first: date, last: date) -> Sequence[DayView]:
        """Every day from the first to the last, also those without a fixture."""
        day = cast(func.timezone("UTC", FixtureRow.kickoff), Date)
        live = and_(FixtureRow.stage == Stage.ACTIVE, FixtureRow.status.in_(_LIVE))
        fixtures = select(day, func.count(), func.count().filter(live)).where(_between(first, last)).group_by(day)
        goals = (
            select(day, func.count())
            .join(GoalRow, GoalRow.fixture_id == FixtureRow.id)
            .where(_between(first, last), GoalRow.removed_at.is_(None))
            .group_by(day)
        )
        async with self._database.unit_of_work() as work:
            scored = dict((await work.session.execute(goals)).tuples().all())
            counted = {on: (count, playing) for on, count, playing in (await work.session.execute(fixtures)).tuples()}
        views = []
        for number in range((last - first).days + 1):
            on = first + timedelta(days=number)
            count, playing = counted.get(on, (0, 0))
            views.append(DayView(on, count, playing, scored.get(on, 0)))
        return views

    async def load_fixtures(self, day: date, *, after: int | None = None, limit: int = 50) -> Page[FixtureView]:
        """In the order of competition, kick-off and id; `after` is the last fixture of the page before."""
        statement = select(FixtureRow).where(_between(day, day))
        if after is not None:
            last = select(*_ORDER).where(FixtureRow.id == after).subquery()
            statement = statement.where(tuple_(*_ORDER) > tuple_(*last.c))
        return await self._page(statement.order_by(*_ORDER), limit)

    async def load_fixture(self, fixture_id: int) -> FixtureView:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(FixtureRow, fixture_id)
            if row is None:
                raise NotFoundError("There is no such match, or it is no longer kept.")
            return (await fixture_views(work.session, [row]))[0]

    async def load_corrections(self, fixture_id: int) -> Corrections:
        """Load the confirmed goals of a match that were disallowed, and the names that goals were first given to."""
        disallowed = select(GoalRow, FixtureRow.home_id).join(FixtureRow, FixtureRow.id == GoalRow.fixture_id)
        disallowed = disallowed.where(
            GoalRow.fixture_id == fixture_id, GoalRow.removed_at.is_not(None), GoalRow.confirmed_at.is_not(None)
        )
        former = select(GoalNoteRow.event_id, GoalNoteRow.before).join(
            GoalRow, GoalRow.event_id == GoalNoteRow.event_id
        )
        former = former.where(GoalRow.fixture_id == fixture_id, GoalNoteRow.what == Sighting.REATTRIBUTED)
        async with self._database.unit_of_work() as work:
            goals = [goal_view(row, home, ()) for row, home in (await work.session.execute(disallowed)).tuples()]
            names: dict[str, list[str]] = defaultdict(list)
            for event_id, before in (await work.session.execute(former.order_by(GoalNoteRow.id))).tuples():
                name = read_scorer(before)
                if name and name not in names[event_id]:
                    names[event_id].append(name)
        return Corrections(tuple(goals), names)

    async def search_fixtures(
        self, words: Sequence[str], *, after: int | None = None, limit: int = 20
    ) -> Page[FixtureView]:
        """Fixtures of teams whose name or alias has all words, newest first."""
        statement = select(FixtureRow)
        playing = or_(TeamRow.team_id == FixtureRow.home_id, TeamRow.team_id == FixtureRow.away_id)
        for word in words:
            # Each word may name the other side: "Liverpool Arsenal" finds their match.
            statement = statement.where(exists().where(playing, team_has_word(word)))
        if after is not None:
            last = select(FixtureRow.kickoff, FixtureRow.id).where(FixtureRow.id == after).subquery()
            statement = statement.where(tuple_(FixtureRow.kickoff, FixtureRow.id) < tuple_(*last.c))
        return await self._page(statement.order_by(FixtureRow.kickoff.desc(), FixtureRow.id.desc()), limit)

    async def search_goals(self, words: Sequence[str], *, after: int = 0, limit: int = 20) -> Page[GoalHit]:
        """Goals of players whose name has all words, newest first; `after` counts those already shown."""
        statement = goals_with_fixtures().where(GoalRow.removed_at.is_(None))
        for word in words:
            statement = statement.where(has_word(GoalRow.player_name, word))
        async with self._database.unit_of_work() as work:
            return await goal_hits(work.session, statement, after, limit)

    async def _page(self, statement: Select[tuple[FixtureRow]], limit: int) -> Page[FixtureView]:
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(statement.limit(limit + 1)))
            items = tuple(await fixture_views(work.session, rows[:limit]))
        return Page(items, items[-1].fixture_id if len(rows) > limit else None)


def is_on(day: date) -> ColumnElement[bool]:
    return _between(day, day)


def goals_with_fixtures() -> Select[tuple[GoalRow, FixtureRow]]:
    return select(GoalRow, FixtureRow).join(FixtureRow, FixtureRow.id == GoalRow.fixture_id)


async def goal_hits(
    session: AsyncSession, statement: Select[tuple[GoalRow, FixtureRow]], after: int, limit: int
) -> Page[GoalHit]:
    """Newest first. The order moves while goals are scored, so `after` counts how many came before the page."""
    newest = statement.order_by(FixtureRow.kickoff.desc(), GoalRow.first_seen.desc(), GoalRow.event_id)
    found = (await session.execute(newest.offset(after).limit(limit + 1))).tuples().all()
    clips = await clip_views(session, [goal.event_id for goal, _ in found[:limit]])
    items = tuple(
        GoalHit(
            fixture.home_name,
            fixture.away_name,
            fixture.kickoff,
            goal_view(goal, fixture.home_id, clips.get(goal.event_id, ())),
        )
        for goal, fixture in found[:limit]
    )
    return Page(items, after + limit if len(found) > limit else None)


def _between(first: date, last: date) -> ColumnElement[bool]:
    start, end = (datetime.combine(day, time.min, UTC) for day in (first, last))
    return and_(FixtureRow.kickoff >= start, FixtureRow.kickoff < end + timedelta(days=1))
