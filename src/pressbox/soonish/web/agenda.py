"""The public agenda: events that their organisers show to everybody, for people without an account too."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.web.identity import MaybeIdentity
from pressbox.core.web.rendering import render
from pressbox.soonish.ids import PATH
from pressbox.soonish.web.access import Service, base_url
from pressbox.soonish.web.calendar import calendar_response, to_webcal

router = APIRouter(include_in_schema=False)

AGENDA = f"{PATH}/agenda"
FEED = f"{AGENDA}.ics"


@router.get(AGENDA)
async def agenda(request: Request, service: Service, identity: MaybeIdentity) -> HTMLResponse:
    return render(
        request,
        "soonish/agenda.html",
        identity=identity,
        events=await service.events.list_agenda(),
        calendar_url=FEED,
        webcal_url=to_webcal(f"{base_url(request)}{FEED}"),
        page_of=lambda event: f"{PATH}/{event.slug}",
    )


@router.get(FEED)
async def feed(request: Request, service: Service) -> Response:
    return calendar_response("Agenda", await service.events.list_agenda(for_calendar=True), base_url(request))
