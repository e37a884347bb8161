"""A team: its next match first, then fixtures, results with clips, articles, and what its follower hears of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from pressbox.core.app import Resources, WrittenAbout
from pressbox.core.clock import utc_now
from pressbox.core.errors import NotFoundError
from pressbox.core.notices.follows import Follow, PersonalFollows
from pressbox.core.notices.kinds import Offer, offer_choices
from pressbox.core.web.pages.access import Parts, WorkViewer
from pressbox.core.web.rendering import render
from pressbox.footy.adapters.follows import subject_of
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.views import FixtureView, FollowKind
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC, PATH, team_path
from pressbox.footy.service.following import Following
from pressbox.footy.settings import FootySettings
from pressbox.footy.web.access import Matches, Reader, Teams, cursor
from pressbox.footy.web.writing import MOST_WRITTEN, Written, choose_names, load_written

router = APIRouter(include_in_schema=False)

TeamId = Annotated[int, Path(ge=1, le=2**31 - 1)]
WRITTEN_SINCE = timedelta(days=14)


@dataclass(frozen=True)
class TeamPage:
    """`coming` begins with the match that is on, if any. `own` and `offer` are None for who does not follow it."""

    team: Entry
    coming: Sequence[FixtureView]
    results: Sequence[FixtureView]
    own: Follow | None
    offer: Offer | None
    has_key: bool
    cursor: int

    @property
    def next(self) -> FixtureView | None:
        return self.coming[0] if self.coming else None

    @property
    def delayed(self) -> bool:
        """Whether it shows matches as they were some minutes ago."""
        return any(fixture.as_of for fixture in (*self.coming, *self.results))

    @property
    def topics(self) -> str:
        live = (f"{FIXTURE_TOPIC}:{fixture.fixture_id}" for fixture in self.coming[:1])
        return ",".join((DAY_TOPIC, *live))

    @property
    def source(self) -> str:
        return f"{team_path(self.team.id)}/live"


@router.get(f"{PATH}/teams/{{team_id}}")
async def team_page(
    request: Request,
    parts: Parts,
    matches: Matches,
    teams: Teams,
    identity: Reader,
    viewer: WorkViewer,
    team_id: TeamId,
    saved: bool = False,
    late: bool = False,
) -> HTMLResponse:
    """`saved` when the settings were changed a moment ago; `late` when its matches wait for the daily fetch."""
    page = await _read(request, parts, matches, teams, identity.user_id, team_id)
    now, names = utc_now(), choose_names(page.team.name, page.team.aliases)
    about = WrittenAbout((names,), now - WRITTEN_SINCE, now, MOST_WRITTEN)
    written = await load_written(request, parts, viewer, about) if page.team.name else Written()
    return render(request, "footy/team.html", identity=identity, view=page, written=written, saved=saved, late=late)


@router.get(f"{PATH}/teams/{{team_id}}/live")
async def team_part(
    request: Request, parts: Parts, matches: Matches, teams: Teams, identity: Reader, team_id: TeamId
) -> HTMLResponse:
    """Only the matches, which change by themselves."""
    page = await _read(request, parts, matches, teams, identity.user_id, team_id)
    return render(request, "footy/_team.html", identity=identity, view=page)


async def _read(
    request: Request, parts: Resources, matches: MatchReader, teams: Following, user_id: int, team_id: int
) -> TeamPage:
    at = await cursor(request)
    team = await teams.find_team(team_id)
    if team is None:
        raise NotFoundError("There is no such team. Search for it by its name.")
    coming, results = await matches.load_team_fixtures(team_id, utc_now())
    own = await PersonalFollows(parts.database).find(user_id, subject_of(FollowKind.TEAM, team_id))
    offer = offer_choices(request.app.state.manifests, own) if own else None
    has_key = parts.settings.group(FootySettings).api_key is not None
    return TeamPage(team, coming, results, own, offer, has_key, at)
