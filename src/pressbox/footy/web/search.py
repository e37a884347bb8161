"""The search for matches by team and for goals by scorer."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.rendering import render
from pressbox.footy.domain.names import search_words
from pressbox.footy.domain.views import FixtureView, GoalHit, Page
from pressbox.footy.ids import PATH
from pressbox.footy.web.access import Matches, Reader

router = APIRouter(include_in_schema=False)

FOUND_SHOWN = 15


@router.get(f"{PATH}/search")
async def search_page(
    request: Request, matches: Matches, identity: Reader, q: Annotated[str, Query(max_length=100)] = ""
) -> HTMLResponse:
    fixtures, goals, problem = Page[FixtureView]((), None), Page[GoalHit]((), None), ""
    if q.strip():
        try:
            words = search_words(q)
            fixtures = await matches.search_fixtures(words, limit=FOUND_SHOWN)
            goals = await matches.search_goals(words, limit=FOUND_SHOWN)
        except InvalidInputError as error:
            problem = error.message
    return render(
        request, "footy/search.html", identity=identity, query=q, fixtures=fixtures, goals=goals, problem=problem
    )
