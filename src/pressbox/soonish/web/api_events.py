"""JSON: events, invitations and calendars."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from pressbox.soonish.web.access import PATH, Reader, RowId, Service, base_url, viewer
from pressbox.soonish.web.api_models import (
    EventAnswer,
    EventBody,
    EventChange,
    EventsAnswer,
    InvitationAnswer,
    NewInvitationAnswer,
)
from pressbox.soonish.web.calendar import calendar_response
from pressbox.soonish.web.links import CALENDAR_NAME

router = APIRouter(prefix="/api/soonish", tags=["events"])

ICALENDAR: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/calendar": {}}, "description": "iCalendar, RFC 5545."}
}


@router.get("/events", summary="Events that you organise or follow, and public ones to come")
async def events(service: Service, identity: Reader) -> EventsAnswer:
    return EventsAnswer(
        organised=[EventAnswer.model_validate(event) for event in await service.events.organised(identity.user_id)],
        followed=[EventAnswer.model_validate(event) for event in await service.events.followed(identity.user_id)],
        public=[EventAnswer.model_validate(event) for event in await service.events.public()],
    )


@router.post("/events", status_code=201, summary="Create an event")
async def create(service: Service, identity: Reader, body: EventBody) -> EventAnswer:
    return EventAnswer.model_validate(await service.events.create(identity.user_id, body.read()))


@router.get("/events/{slug}", summary="One event")
async def event(service: Service, identity: Reader, slug: str, invitation: str = "") -> EventAnswer:
    return EventAnswer.model_validate(await service.events.get(viewer(identity, invitation), slug))


@router.patch("/events/{slug}", summary="Change an event; subscribers hear what changed")
async def change(service: Service, identity: Reader, slug: str, body: EventChange) -> EventAnswer:
    found = await service.events.get(viewer(identity), slug)
    return EventAnswer.model_validate(await service.events.edit(identity.user_id, slug, body.over(found)))


@router.delete("/events/{slug}", status_code=204, summary="Delete an event; an active one is cancelled first")
async def delete(service: Service, identity: Reader, slug: str) -> None:
    await service.events.delete(identity.user_id, slug)


@router.post("/events/{slug}/activate", summary="Make a draft active")
async def activate(service: Service, identity: Reader, slug: str) -> EventAnswer:
    return EventAnswer.model_validate(await service.events.activate(identity.user_id, slug))


@router.post("/events/{slug}/cancel", summary="Cancel an event; everybody who follows it is told")
async def cancel(service: Service, identity: Reader, slug: str) -> EventAnswer:
    return EventAnswer.model_validate(await service.events.cancel(identity.user_id, slug))


@router.post("/events/{slug}/complete", summary="End an event before its time, without a message")
async def complete(service: Service, identity: Reader, slug: str) -> EventAnswer:
    return EventAnswer.model_validate(await service.events.complete(identity.user_id, slug))


@router.get("/events/{slug}/invitations", summary="Invitations to a private event")
async def invitations(service: Service, identity: Reader, slug: str) -> list[InvitationAnswer]:
    found = await service.events.invitations(identity.user_id, slug)
    return [InvitationAnswer.model_validate(invitation) for invitation in found]


@router.post("/events/{slug}/invitations", status_code=201, summary="Make an invitation, good for seven days")
async def invite(request: Request, service: Service, identity: Reader, slug: str) -> NewInvitationAnswer:
    made = await service.events.invite(identity.user_id, slug)
    url = f"{base_url(request)}{PATH}/{slug}?invitation={made.token}"
    return NewInvitationAnswer.model_validate({**vars(made.view), "token": made.token, "url": url})


@router.delete("/events/{slug}/invitations/{invitation_id}", status_code=204, summary="Revoke an invitation")
async def revoke(service: Service, identity: Reader, slug: str, invitation_id: RowId) -> None:
    await service.events.revoke_invitation(identity.user_id, slug, invitation_id)


@router.get(
    "/events/{slug}/calendar.ics", summary="One event for a calendar", response_class=Response, responses=ICALENDAR
)
async def event_calendar(
    request: Request, service: Service, identity: Reader, slug: str, invitation: str = ""
) -> Response:
    entry = await service.events.calendar_of_event(viewer(identity, invitation), slug)
    return calendar_response(entry.name, [entry], base_url(request))


@router.get(
    "/calendar.ics",
    summary="Everything that you organise or follow, for a calendar",
    response_class=Response,
    responses=ICALENDAR,
)
async def own_calendar(request: Request, service: Service, identity: Reader) -> Response:
    return calendar_response(CALENDAR_NAME, await service.events.calendar(identity.user_id), base_url(request))
