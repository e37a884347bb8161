"""What was known of matches at the moment up to which a person may know of them, from PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of
from pressbox.core.spoilers.choice import ALWAYS, Sight
from pressbox.footy.adapters.rows import FixtureStateRow, GoalNoteRow, GoalRow
from pressbox.footy.domain.errors import CoveredError
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.sight import FixtureState, as_of, cover, goal_as_of
from pressbox.footy.domain.subjects import fixture_subject
from pressbox.footy.domain.views import FixtureView, GoalView, NoteView

_COLUMNS = (
    FixtureStateRow.at,
    FixtureStateRow.status,
    FixtureStateRow.elapsed,
    FixtureStateRow.extra,
    FixtureStateRow.home_goals,
    FixtureStateRow.away_goals,
    FixtureStateRow.home_penalties,
    FixtureStateRow.away_penalties,
    FixtureStateRow.winner_id,
)


@dataclass(frozen=True)
class Past:
    """What turns views of now into what one person may know. Who sees scores at once has none, and views stay."""

    sight: Sight
    until: datetime = ALWAYS
    states: Mapping[int, FixtureState] = field(default_factory=dict)
    notes: Mapping[str, NoteView] = field(default_factory=dict)

    def of_fixture(self, fixture: FixtureView) -> FixtureView:
        if self.sight.hides(fixture.subject):
            return cover(fixture)
        if self.sight.known_until(fixture.subject) == ALWAYS:
            return fixture
        return as_of(fixture, self.states.get(fixture.fixture_id), fixture.goals, self.until)

    def of_goal(self, goal: GoalView) -> GoalView | None:
        subject = fixture_subject(goal.fixture_id)
        if self.sight.hides(subject):
            return None
        if self.sight.known_until(subject) == ALWAYS:
            return goal
        return goal_as_of(goal, self.notes.get(goal.event_id), self.until)


async def load_past(session: AsyncSession, sight: Sight, fixture_ids: Sequence[int]) -> Past:
    """Costs nothing for whoever has no delay."""
    delayed = [number for number in fixture_ids if sight.delayed and fixture_subject(number) not in sight.revealed]
    if not delayed:
        return Past(sight)
    until = sight.known_until(fixture_subject(delayed[0]))
    states = (
        select(FixtureStateRow.fixture_id, *_COLUMNS)
        .where(FixtureStateRow.fixture_id == one_of(delayed), FixtureStateRow.at <= until)
        .order_by(FixtureStateRow.fixture_id, FixtureStateRow.at.desc())
        .distinct(FixtureStateRow.fixture_id)
    )
    notes = (
        select(GoalNoteRow)
        .join(GoalRow, GoalRow.event_id == GoalNoteRow.event_id)
        .where(GoalRow.fixture_id == one_of(delayed), GoalNoteRow.at > until, GoalNoteRow.before != "")
        .order_by(GoalNoteRow.event_id, GoalNoteRow.at, GoalNoteRow.id)
        .distinct(GoalNoteRow.event_id)
    )
    known = {
        number: FixtureState(at, FixtureStatus(status), *rest)
        for number, at, status, *rest in (await session.execute(states)).tuples()
    }
    changed = {
        row.event_id: NoteView(row.at, row.run_id, row.what, row.before, row.after)
        for row in await session.scalars(notes)
    }
    return Past(sight, until, known, changed)


def demand_open(sight: Sight, fixture_id: int) -> None:
    """Raise when this person hides the match, whatever there is in it: even that there is nothing would tell."""
    if sight.hides(fixture_subject(fixture_id)):
        raise CoveredError(fixture_id)
