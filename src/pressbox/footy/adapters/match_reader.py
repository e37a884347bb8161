"""Reads match days from PostgreSQL for people."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from sqlalchemy import ARRAY, ColumnElement, DateTime, Select, and_, cast, exists, func, or_, select, true, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.spoilers.choice import Sight
from pressbox.footy.adapters.goal_writer import read_scorer
from pressbox.footy.adapters.name_search import has_word, team_has_word
from pressbox.footy.adapters.past import load_past
from pressbox.footy.adapters.rows import FixtureRow, FixtureSnapshotRow, GoalNoteRow, GoalRow, TeamRow
from pressbox.footy.adapters.views import clip_views, fixture_views, goal_view
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import Sighting
from pressbox.footy.domain.moments import MatchRecord, read_record
from pressbox.footy.domain.subjects import FIXTURE_SUBJECT, fixture_subject
from pressbox.footy.domain.views import Corrections, DayView, FixtureView, GoalHit, Page

# A match that began longer ago is over, or waits for another date.
LONGEST_MATCH = timedelta(hours=4)
_OVER = [status.value for status in FixtureStatus if status.terminal]
_LIVE = [status.value for status in FixtureStatus if status.live]
_ORDER = (FixtureRow.league_name, FixtureRow.league_id, FixtureRow.kickoff, FixtureRow.id)


class MatchReader:
    """Reads as somebody: `sight` says what they may know of scores. Removed goals are only in what was taken back."""

    def __init__(self, database: Database, sight: Sight) -> None:
        self._database = database
        self._sight = sight

    async def load_days(self, first: date, last: date, of: tzinfo = UTC) -> Sequence[DayView]:
        """Every day of this time zone from the first to the last, also those without a fixture."""
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        # The database may know other rules of time zones than we do, so it gets the moments at which days begin.
        begins = [datetime.combine(day, time.min, of).astimezone(UTC) for day in (*days, last + timedelta(days=1))]
        within = and_(FixtureRow.kickoff >= begins[0], FixtureRow.kickoff < begins[-1])
        day = func.width_bucket(FixtureRow.kickoff, cast(begins, ARRAY(DateTime(timezone=True))))
        live = and_(FixtureRow.stage == Stage.ACTIVE, FixtureRow.status.in_(_LIVE))
        fixtures = select(day, func.count(), func.count().filter(live)).where(within).group_by(day)
        goals = (
            select(day, func.count())
            .join(GoalRow, GoalRow.fixture_id == FixtureRow.id)
            .where(within, GoalRow.removed_at.is_(None), _is_known(self._sight))
            .group_by(day)
        )
        async with self._database.unit_of_work() as work:
            scored = dict((await work.session.execute(goals)).tuples().all())
            counted = {on: (count, playing) for on, count, playing in (await work.session.execute(fixtures)).tuples()}
        return [
            DayView(on, *counted.get(place, (0, 0)), scored.get(place, 0)) for place, on in enumerate(days, start=1)
        ]

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
            return (await fixture_views(work.session, [row], self._sight))[0]

    async def load_team_fixtures(
        self, team_id: int, now: datetime, limit: int = 10
    ) -> tuple[Sequence[FixtureView], Sequence[FixtureView]]:
        """The matches of a team that are on or to come, soonest first, and those that are over, newest first."""
        own = select(FixtureRow).where(or_(FixtureRow.home_id == team_id, FixtureRow.away_id == team_id))
        # One that stands still hours after its kick-off waits for another date, and is nobody's next match.
        is_open = and_(FixtureRow.status.not_in(_OVER), FixtureRow.kickoff > now - LONGEST_MATCH)
        coming = own.where(is_open).order_by(FixtureRow.kickoff, FixtureRow.id)
        over = own.where(~is_open).order_by(FixtureRow.kickoff.desc(), FixtureRow.id.desc())
        return (await self._page(coming, limit)).items, (await self._page(over, limit)).items

    async def load_corrections(self, fixture_id: int) -> Corrections:
        """Load the confirmed goals of a match that were disallowed, and the names that goals were first given to."""
        until = self._sight.known_until(fixture_subject(fixture_id))
        disallowed = select(GoalRow, FixtureRow.home_id).join(FixtureRow, FixtureRow.id == GoalRow.fixture_id)
        disallowed = disallowed.where(
            GoalRow.fixture_id == fixture_id, GoalRow.removed_at <= until, GoalRow.confirmed_at.is_not(None)
        )
        former = select(GoalNoteRow.event_id, GoalNoteRow.before).join(
            GoalRow, GoalRow.event_id == GoalNoteRow.event_id
        )
        former = former.where(
            GoalRow.fixture_id == fixture_id, GoalNoteRow.what == Sighting.REATTRIBUTED, GoalNoteRow.at <= until
        )
        async with self._database.unit_of_work() as work:
            goals = [goal_view(row, home, ()) for row, home in (await work.session.execute(disallowed)).tuples()]
            names: dict[str, list[str]] = defaultdict(list)
            for event_id, before in (await work.session.execute(former.order_by(GoalNoteRow.id))).tuples():
                name = read_scorer(before)
                if name and name not in names[event_id]:
                    names[event_id].append(name)
        return Corrections(tuple(goals), names)

    async def load_record(self, fixture_id: int) -> MatchRecord:
        """Load cards, substitutions and the score at half-time from the last answer; empty without one.

        The answer has no times, so who has a delay sees them when nothing has changed for so long.
        """
        statement = (
            select(FixtureSnapshotRow.raw, FixtureRow.status)
            .join(FixtureRow, FixtureRow.id == FixtureSnapshotRow.fixture_id)
            .where(FixtureRow.id == fixture_id)
            .where(FixtureRow.changed_at <= self._sight.known_until(fixture_subject(fixture_id)))
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        return read_record(found[0], FixtureStatus(found[1])) if found else MatchRecord()

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
            return await goal_hits(work.session, statement, after, limit, self._sight)

    async def _page(self, statement: Select[tuple[FixtureRow]], limit: int) -> Page[FixtureView]:
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(statement.limit(limit + 1)))
            items = tuple(await fixture_views(work.session, rows[:limit], self._sight))
        return Page(items, items[-1].fixture_id if len(rows) > limit else None)


def is_on(day: date) -> ColumnElement[bool]:
    return _between(day, day)


def goals_with_fixtures() -> Select[tuple[GoalRow, FixtureRow]]:
    return select(GoalRow, FixtureRow).join(FixtureRow, FixtureRow.id == GoalRow.fixture_id)


async def goal_hits(
    session: AsyncSession, statement: Select[tuple[GoalRow, FixtureRow]], after: int, limit: int, sight: Sight
) -> Page[GoalHit]:
    """Newest first. The order moves while goals are scored, so `after` counts how many came before the page."""
    newest = statement.where(_is_known(sight)).order_by(
        FixtureRow.kickoff.desc(), GoalRow.first_seen.desc(), GoalRow.event_id
    )
    found = (await session.execute(newest.offset(after).limit(limit + 1))).tuples().all()
    clips = await clip_views(session, [goal.event_id for goal, _ in found[:limit]])
    past = await load_past(session, sight, [fixture.id for _, fixture in found[:limit]])
    views = [
        (fixture, past.of_goal(goal_view(goal, fixture.home_id, clips.get(goal.event_id, ()))))
        for goal, fixture in found[:limit]
    ]
    items = tuple(
        GoalHit(fixture.home_name, fixture.away_name, fixture.kickoff, goal)
        for fixture, goal in views
        if goal is not None
    )
    return Page(items, after + limit if len(found) > limit else None)


def _is_known(sight: Sight) -> ColumnElement[bool]:
    """Goals of which this person may know that there are any."""
    if sight.unlimited:
        return true()
    looked_at = FixtureRow.id == one_of([int(number) for number in _numbers(sight.revealed)])
    return or_(looked_at, GoalRow.first_seen <= sight.known_until("")) if sight.delayed else looked_at


def _numbers(subjects: Collection[str]) -> Iterator[str]:
    for subject in subjects:
        number = subject.removeprefix(FIXTURE_SUBJECT)
        if number != subject and number.isascii() and number.isdigit() and len(number) < 19:
            yield number


def _between(first: date, last: date) -> ColumnElement[bool]:
    start, end = (datetime.combine(day, time.min, UTC) for day in (first, last))
    return and_(FixtureRow.kickoff >= start, FixtureRow.kickoff < end + timedelta(days=1))
