"""Match days: which days there are, their fixtures by competition, and what a search by name finds."""

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import groupby

from pressbox.core.errors import InvalidInputError
from pressbox.footy.domain.views import CompetitionView, DayView, FixtureView, GoalHit, Page
from pressbox.footy.service.stores import MatchStore

MOST_LISTED = 200
MOST_DAYS = 62
SHORTEST_WORD = 2


class MatchService:
    def __init__(self, matches: MatchStore) -> None:
        self._matches = matches

    async def days(self, around: date, before: int = 14, after: int = 14) -> Sequence[DayView]:
        """Every day of the strip, also those without a fixture."""
        first = around - timedelta(days=min(before, MOST_DAYS))
        last = around + timedelta(days=min(after, MOST_DAYS))
        known = {day.day: day for day in await self._matches.days(first, last)}
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        return [known.get(day) or DayView(day, 0, 0, 0) for day in days]

    async def fixtures(self, day: date, *, after: int | None = None, limit: int = 50) -> Page[FixtureView]:
        """With goals and clips, in the order of competition and kick-off."""
        return await self._matches.fixtures(day, after, min(limit, MOST_LISTED))

    async def fixture(self, fixture_id: int) -> FixtureView:
        return await self._matches.fixture(fixture_id)

    async def search_fixtures(self, query: str, *, after: int | None = None, limit: int = 20) -> Page[FixtureView]:
        """Fixtures by the name or an alias of a team, newest first."""
        return await self._matches.search_fixtures(words(query), after, min(limit, MOST_LISTED))

    async def search_goals(self, query: str, *, after: int = 0, limit: int = 20) -> Page[GoalHit]:
        """Goals by the name of the scorer, newest first."""
        return await self._matches.search_goals(words(query), after, min(limit, MOST_LISTED))


def by_competition(fixtures: Sequence[FixtureView]) -> tuple[CompetitionView, ...]:
    """Fixtures of one page under the competition that they belong to; they come in that order."""
    groups = groupby(fixtures, key=lambda fixture: (fixture.league_id, fixture.league_name, fixture.country))
    found = [(key, tuple(members)) for key, members in groups]
    return tuple(
        CompetitionView(league_id, name, country, members[0].round, members)
        for (league_id, name, country), members in found
    )


def words(query: str) -> tuple[str, ...]:
    found = tuple(query.split())
    if not found or len("".join(found)) < SHORTEST_WORD:
        raise InvalidInputError(f"Type at least {SHORTEST_WORD} letters of a name.", field="q")
    return found
