"""Matches as the search of the top line and the first page show them."""

from collections.abc import Sequence

from pressbox.core.app import FoundThing, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.errors import InvalidInputError
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.domain.names import search_words
from pressbox.footy.domain.views import FixtureView
from pressbox.footy.ids import PATH

OF_A_DAY = 100


async def find_things(resources: Resources, _: Viewer, words: str, limit: int) -> Sequence[FoundThing]:
    """Matches of teams with these words in their names, newest first; everybody may see all of them."""
    try:
        found = await MatchReader(resources.database).search_fixtures(search_words(words), limit=limit)
    except InvalidInputError:
        return ()
    return [_line(fixture) for fixture in found.items]


async def list_news(resources: Resources, _: Viewer, limit: int) -> Sequence[FoundThing]:
    """Today's matches: those that are played now, then those to come."""
    page = await MatchReader(resources.database).load_fixtures(utc_now().date(), limit=OF_A_DAY)
    coming = [fixture for fixture in page.items if fixture.live or fixture.kickoff > utc_now()]
    return [_line(fixture) for fixture in sorted(coming, key=lambda one: (not one.live, one.kickoff))[:limit]]


def _line(fixture: FixtureView) -> FoundThing:
    home, away = fixture.home, fixture.away
    score = f" {home.goals}–{away.goals} " if home.goals is not None and away.goals is not None else " – "
    return FoundThing(
        title=f"{home.name}{score}{away.name}",
        path=f"{PATH}/matches/{fixture.fixture_id}",
        detail=fixture.league_name,
        at=fixture.kickoff,
    )
