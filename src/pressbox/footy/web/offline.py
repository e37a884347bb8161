"""Today's matches as phones keep them: score and goals, as far as their reader wants to know them."""

from collections.abc import Sequence

from markupsafe import Markup

from pressbox.core.app import OfflineThing, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.spoilers.choice import ALWAYS, Sight
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.domain.views import FixtureView
from pressbox.footy.ids import PATH

MOST_MATCHES = 100


async def list_offline(resources: Resources, viewer: Viewer) -> Sequence[OfflineThing]:
    """Today's matches, by kick-off. What lies on a phone cannot be uncovered later, so it holds no hidden score."""
    sight = await PersonalSpoilers(resources.database).load_sight(viewer.user_id)
    page = await MatchReader(resources.database, sight).load_fixtures(utc_now().date(), limit=MOST_MATCHES)
    return [_thing(fixture, sight) for fixture in sorted(page.items, key=lambda one: one.kickoff)]


def _thing(fixture: FixtureView, sight: Sight) -> OfflineThing:
    home, away = fixture.home, fixture.away
    open_ = sight.known_until(f"footy.fixture.{fixture.fixture_id}") == ALWAYS
    scored = open_ and home.goals is not None and away.goals is not None
    score = f" {home.goals}–{away.goals} " if scored else " – "
    return OfflineThing(
        path=f"{PATH}/matches/{fixture.fixture_id}",
        title=f"{home.name}{score}{away.name}",
        detail=fixture.league_name,
        at=fixture.kickoff,
        html=str(_goals(fixture)) if open_ else "",
    )


def _goals(fixture: FixtureView) -> Markup:
    shown = [goal for goal in fixture.goals if goal.removed_at is None]
    lines = Markup("").join(
        Markup("<li>{}′ {} {}–{}</li>").format(
            goal.minute, goal.player_name or goal.team_name, goal.home_score, goal.away_score
        )
        for goal in shown
    )
    return Markup("<ul>{}</ul>").format(lines) if shown else Markup("")
