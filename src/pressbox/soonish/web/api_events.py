"""API: events, invitations and calendars."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from pressbox.core.web.api_models import RequestBody
from pressbox.core.web.identity import SignedInIdentity
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.views import EventView, InvitationView, NewInvitation
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.web.access import RowId, Service, base_url, make_viewer
from pressbox.soonish.web.calendar import CALENDAR_NAME, calendar_response

router = APIRouter(prefix="/api/soonish", tags=["events"])

ICALENDAR: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/calendar": {}}, "description": "iCalendar, RFC 5545."}
}


class EventBody(RequestBody):
    name: str
    start_date: datetime = Field(description="Without an offset it is read in the event's own zone.")
    timezone: str = Field(description="A name such as Europe/Berlin.")
    end_date: datetime | None = None
    description: str = ""
    location: str = ""
    visibility: Visibility = Visibility.PUBLIC
    draft: bool = Field(False, description="Only its organiser sees a draft, and nobody is told.")
    request_key: str | None = Field(
        None, max_length=64, description="A request that is repeated with the same key makes no second event."
    )

    def to_input(self) -> EventInput:
        return EventInput(**self.model_dump())


class EventChange(RequestBody):
    """What is left out stays as it is."""

    name: str | None = None
    start_date: datetime | None = None
    timezone: str | None = None
    end_date: datetime | None = Field(None, description="null removes the end; left out, it stays.")
    description: str | None = None
    location: str | None = None
    visibility: Visibility | None = None
    version: int | None = Field(None, description="Refuse the change (409) when the event has another version by now.")

    def apply_to(self, event: EventInput) -> EventInput:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return replace(
            event, **{name: value for name, value in given.items() if value is not None or name == "end_date"}
        )


@dataclass(frozen=True)
class EventLists:
    organised: Sequence[EventView]
    followed: Sequence[EventView]
    public: Sequence[EventView]


@dataclass(frozen=True)
class InvitationLink(NewInvitation):
    """The token and the link are given out only once."""

    url: str


@router.get("/events", summary="Events that you organise or follow, and public ones to come")
async def events(service: Service, identity: SignedInIdentity) -> EventLists:
    return EventLists(
        organised=await service.events.list_organised(identity.user_id),
        followed=await service.events.list_followed(identity.user_id),
        public=await service.events.list_public(),
    )


@router.post("/events", status_code=201, summary="Create an event")
async def create(service: Service, identity: SignedInIdentity, body: EventBody) -> EventView:
    return await service.events.create(identity.user_id, body.to_input())


@router.get("/events/{slug}", summary="One event")
async def event(service: Service, identity: SignedInIdentity, slug: str, invitation: str = "") -> EventView:
    return await service.events.get(make_viewer(identity, invitation), slug)


@router.patch("/events/{slug}", summary="Change an event; subscribers are told what changed")
async def change(service: Service, identity: SignedInIdentity, slug: str, body: EventChange) -> EventView:
    return await service.events.change(identity.user_id, slug, body.apply_to)


@router.delete("/events/{slug}", status_code=204, summary="Delete an event; an active one is cancelled first")
async def delete(service: Service, identity: SignedInIdentity, slug: str) -> None:
    await service.events.delete(identity.user_id, slug)


@router.post("/events/{slug}/activate", summary="Publish a draft")
async def activate(service: Service, identity: SignedInIdentity, slug: str) -> EventView:
    return await service.events.activate(identity.user_id, slug)


@router.post("/events/{slug}/cancel", summary="Cancel an event; all subscribers are told")
async def cancel(service: Service, identity: SignedInIdentity, slug: str) -> EventView:
    return await service.events.cancel(identity.user_id, slug)


@router.post("/events/{slug}/reopen", summary="Take back a cancellation; whoever was told of it is told so")
async def reopen(service: Service, identity: SignedInIdentity, slug: str) -> EventView:
    return await service.events.reopen(identity.user_id, slug)


@router.post("/events/{slug}/complete", summary="End an event before its time, without a message")
async def complete(service: Service, identity: SignedInIdentity, slug: str) -> EventView:
    return await service.events.complete(identity.user_id, slug)


@router.get("/events/{slug}/invitations", summary="Invitations to a private event")
async def invitations(service: Service, identity: SignedInIdentity, slug: str) -> Sequence[InvitationView]:
    return await service.invitations.list(identity.user_id, slug)


@router.post("/events/{slug}/invitations", status_code=201, summary="Make an invitation, valid for seven days")
async def invite(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> InvitationLink:
    invitation = await service.invitations.create(identity.user_id, slug)
    return InvitationLink(**asdict(invitation), url=f"{base_url(request)}{PATH}/{slug}?invitation={invitation.token}")


@router.delete("/events/{slug}/invitations/{invitation_id}", status_code=204, summary="Revoke an invitation")
async def revoke(service: Service, identity: SignedInIdentity, slug: str, invitation_id: RowId) -> None:
    await service.invitations.revoke(identity.user_id, slug, invitation_id)


@router.get(
    "/events/{slug}/calendar.ics", summary="One event for a calendar", response_class=Response, responses=ICALENDAR
)
async def event_calendar(
    request: Request, service: Service, identity: SignedInIdentity, slug: str, invitation: str = ""
) -> Response:
    event = await service.events.get_for_calendar(make_viewer(identity, invitation), slug)
    return calendar_response(event.name, [event], base_url(request))


@router.get(
    "/calendar.ics",
    summary="Everything that you organise or follow, for a calendar",
    response_class=Response,
    responses=ICALENDAR,
)
async def own_calendar(request: Request, service: Service, identity: SignedInIdentity) -> Response:
    events = await service.events.list_for_calendar(identity.user_id)
    return calendar_response(CALENDAR_NAME, events, base_url(request))
