"""JSON: events, announcements, deliveries, invitations and calendars."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.delivery import DeliveryState
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.web.access import PATH, Reader, RowId, Service, base_url, client, viewer
from pressbox.soonish.web.api_models import (
    AnnouncementBody,
    DeliveryAnswer,
    EventAnswer,
    EventBody,
    EventChange,
    EventsAnswer,
    InvitationAnswer,
    JoinedAnswer,
    MessageAnswer,
    NewInvitationAnswer,
    PreviewBody,
    ReachAnswer,
    SubscribeBody,
    SubscriberAnswer,
    SubscriptionAnswer,
    spans_of,
)
from pressbox.soonish.web.calendar import calendar_response
from pressbox.soonish.web.links import CALENDAR_NAME

router = APIRouter(prefix="/api/soonish", tags=["events"])

After = Annotated[int, Query(ge=0, le=2**63 - 1, description="The last id of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=500)]
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


@router.post("/events/{slug}/announce", status_code=202, summary="Announce something to all or to some")
async def announce(service: Service, identity: Reader, slug: str, body: AnnouncementBody) -> MessageAnswer:
    return MessageAnswer.of(await service.board.announce(identity.user_id, slug, body.read()))


@router.post("/events/{slug}/preview", summary="Whom an announcement would reach; nothing is sent")
async def preview(service: Service, identity: Reader, slug: str, body: PreviewBody) -> ReachAnswer:
    chosen = None if body.subscription_ids is None else tuple(body.subscription_ids)
    return ReachAnswer.model_validate(await service.board.reach(identity.user_id, slug, chosen))


@router.get("/events/{slug}/messages", summary="Messages of an event, newest first, with counts by state")
async def messages(service: Service, identity: Reader, slug: str, limit: PageSize = 100) -> list[MessageAnswer]:
    return [MessageAnswer.of(message) for message in await service.board.messages(identity.user_id, slug, limit)]


@router.post("/messages/{message_id}/stop", status_code=202, summary="Stop a message half-way; the rest is skipped")
async def stop(service: Service, identity: Reader, message_id: RowId) -> MessageAnswer:
    await service.board.stop(identity.user_id, message_id)
    return MessageAnswer.of(await service.board.message(identity.user_id, message_id))


@router.get("/deliveries", summary="The ledger of one message")
async def deliveries(
    service: Service,
    identity: Reader,
    message_id: Annotated[int, Query(ge=1, le=2**63 - 1)],
    state: DeliveryState | None = None,
    after: After = 0,
    limit: PageSize = 100,
) -> list[DeliveryAnswer]:
    rows = await service.board.deliveries(identity.user_id, message_id, state=state, after=after, limit=limit)
    return [DeliveryAnswer.model_validate(row) for row in rows]


@router.get("/events/{slug}/subscriptions", summary="Who follows an event, for its organiser")
async def subscribers(
    service: Service, identity: Reader, slug: str, after: After = 0, limit: PageSize = 100
) -> list[SubscriberAnswer]:
    rows = await service.board.subscribers(identity.user_id, slug, after=after, limit=limit)
    return [SubscriberAnswer.model_validate(row) for row in rows]


@router.post("/events/{slug}/subscriptions", status_code=201, summary="Follow an event")
async def subscribe(
    request: Request, service: Service, identity: Reader, slug: str, body: SubscribeBody
) -> JoinedAnswer:
    looks, offsets = viewer(identity, body.invitation or ""), spans_of(body.offsets)
    if body.email is not None and body.url is not None:
        raise InvalidInputError("Give an e-mail address or an Apprise address, not both.", field="url")
    if body.email is not None:
        await service.subscriptions.subscribe_by_email(looks, slug, body.email, offsets, client(request))
        return JoinedAnswer(state=SubscriptionState.PENDING)
    if body.url is not None:
        url = body.url.get_secret_value()
        joined = await service.subscriptions.subscribe_by_url(looks, slug, url, offsets, client(request))
        told = SubscriptionAnswer.of(joined.subscription)
        return JoinedAnswer(state=told.state, subscription=told, manage_url=joined.manage_url)
    made = SubscriptionAnswer.of(await service.subscriptions.subscribe(looks, slug, body.read()))
    return JoinedAnswer(state=made.state, subscription=made)


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
