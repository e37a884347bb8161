"""The organiser's board: write, see whom it reaches, watch every delivery, invite."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.errors import PressboxError
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity, is_secure
from pressbox.core.web.rendering import render
from pressbox.soonish.domain.delivery import DeliveryState
from pressbox.soonish.domain.views import EventView, MessageView
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import (
    PATH,
    REFUSALS,
    Reader,
    RowId,
    Service,
    base_url,
    field_of,
    see,
    viewer,
    words_of,
)
from pressbox.soonish.web.forms import AnnouncementForm
from pressbox.soonish.web.topics import EVENT, NOTIFICATION

router = APIRouter(include_in_schema=False)

MESSAGES_SHOWN = 30
# The stream takes twenty topics; older messages are done long since.
MESSAGES_FOLLOWED = 15
SUBSCRIBERS_OFFERED = 200
PAGE_ROWS = 100
# Carries a new invitation over the redirect, for this page of this browser and a minute at most.
INVITATION_COOKIE = "pressbox_invitation"
INVITATION_SECONDS = 60

MESSAGES = {
    "created": "The event is created. Share its page; people subscribe there.",
    "changed": "Saved. Subscribers hear of it in a minute, unless you change more until then.",
    "announced": "Accepted. It goes out now.",
    "cancelled": "The event is cancelled. Everybody is being told.",
    "stopped": "Stopped. Who got it got it; the rest is skipped.",
}
_ORDER = (
    DeliveryState.SENT,
    DeliveryState.UNCERTAIN,
    DeliveryState.FAILED,
    DeliveryState.SKIPPED,
    DeliveryState.PENDING,
)


@dataclass(frozen=True)
class Segment:
    """A part of the bar, in hundredths of its length."""

    state: DeliveryState
    count: int
    start: float
    width: float


def segments(message: MessageView) -> Sequence[Segment]:
    """How far a message came. Recipients whose deliveries are not written yet are waiting too."""
    counts = {state: int(getattr(message.counts, state.value)) for state in _ORDER}
    if message.finished_at is None and message.cancelled_at is None:
        counts[DeliveryState.PENDING] += max(0, message.recipients - message.counts.total)
    total, made, at = sum(counts.values()) or 1, [], 0
    for state in _ORDER:
        made.append(Segment(state, counts[state], at * 100 / total, counts[state] * 100 / total))
        at += counts[state]
    return made


def topics_of(event: EventView, messages: Sequence[MessageView]) -> str:
    """What the list of messages follows: the event, and each message that is still on its way."""
    going = [message.id for message in messages if message.finished_at is None][:MESSAGES_FOLLOWED]
    return ",".join((f"{EVENT}:{event.slug}", *(f"{NOTIFICATION}:{number}" for number in going)))


@router.get(f"{PATH}/{{slug}}/board")
async def board(request: Request, service: Service, identity: Reader, slug: str, done: str = "") -> Response:
    carried = request.cookies.get(INVITATION_COOKIE, "")
    invitation_url = f"{base_url(request)}{PATH}/{slug}?invitation={quote(carried)}" if carried else None
    page = await _board(
        request, service, identity, slug, AnnouncementForm(), message=MESSAGES.get(done), invitation_url=invitation_url
    )
    if carried:
        page.delete_cookie(INVITATION_COOKIE, path=f"{PATH}/{slug}/board", httponly=True, samesite="strict")
    return page


@router.post(f"{PATH}/{{slug}}/board")
async def announce(
    request: Request, service: Service, identity: Reader, slug: str, values: Annotated[AnnouncementForm, Depends()]
) -> Response:
    try:
        await service.board.announce(identity.user_id, slug, values.read())
    except REFUSALS as error:
        return await _board(request, service, identity, slug, values, error=error)
    return see(f"{PATH}/{slug}/board?done=announced")


@router.get(f"{PATH}/{{slug}}/board/reach")
async def reach(
    request: Request,
    service: Service,
    identity: Reader,
    slug: str,
    to: str = "all",
    subscription: Annotated[list[int] | None, Query()] = None,
) -> HTMLResponse:
    """Whom the message would reach, while its recipients are being chosen."""
    chosen = tuple(subscription or ()) if to == "some" else None
    found = await service.board.reach(identity.user_id, slug, chosen)
    return render(request, "soonish/_reach.html", identity=identity, reach=found)


@router.get(f"{PATH}/{{slug}}/board/messages")
async def messages(request: Request, service: Service, identity: Reader, slug: str) -> HTMLResponse:
    """The list of messages alone, which the board asks for again when something changed."""
    event = await service.events.get(viewer(identity), slug)
    found = await _broadcasts(service, identity, slug)
    return render(
        request,
        "soonish/_messages.html",
        identity=identity,
        event=event,
        messages=found,
        follow=topics_of(event, found),
        segments=segments,
        cursor="",
    )


@router.get(f"{PATH}/{{slug}}/board/messages/{{message_id}}")
async def ledger(
    request: Request,
    service: Service,
    identity: Reader,
    slug: str,
    message_id: RowId,
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
) -> HTMLResponse:
    cursor = await _cursor(request)
    event = await service.events.get(viewer(identity), slug)
    item = await service.board.message(identity.user_id, message_id)
    rows = await service.board.deliveries(identity.user_id, message_id, after=after, limit=PAGE_ROWS)
    return render(
        request,
        "soonish/ledger.html",
        identity=identity,
        event=event,
        item=item,
        deliveries=rows,
        more=rows[-1].id if len(rows) == PAGE_ROWS else None,
        follow=f"{NOTIFICATION}:{item.id}",
        segments=segments,
        cursor=cursor,
    )


@router.post(f"{PATH}/{{slug}}/board/messages/{{message_id}}/stop")
async def stop(service: Service, identity: Reader, slug: str, message_id: RowId) -> Response:
    await service.board.stop(identity.user_id, message_id)
    return see(f"{PATH}/{slug}/board?done=stopped")


@router.get(f"{PATH}/{{slug}}/board/subscribers")
async def subscribers(
    request: Request,
    service: Service,
    identity: Reader,
    slug: str,
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
) -> HTMLResponse:
    event = await service.events.get(viewer(identity), slug)
    rows = await service.board.subscribers(identity.user_id, slug, after=after, limit=PAGE_ROWS)
    more = rows[-1].subscription_id if len(rows) == PAGE_ROWS else None
    return render(request, "soonish/subscribers.html", identity=identity, event=event, subscribers=rows, more=more)


@router.post(f"{PATH}/{{slug}}/invitations")
async def invite(request: Request, service: Service, identity: Reader, slug: str) -> Response:
    made = await service.events.invite(identity.user_id, slug)
    response = see(f"{PATH}/{slug}/board")
    response.set_cookie(
        INVITATION_COOKIE,
        made.token,
        max_age=INVITATION_SECONDS,
        path=f"{PATH}/{slug}/board",
        secure=is_secure(request.app.state.settings),
        httponly=True,
        samesite="strict",
    )
    return response


@router.post(f"{PATH}/{{slug}}/invitations/{{invitation_id}}/revoke")
async def revoke(service: Service, identity: Reader, slug: str, invitation_id: RowId) -> Response:
    await service.events.revoke_invitation(identity.user_id, slug, invitation_id)
    return see(f"{PATH}/{slug}/board")


async def _board(
    request: Request,
    service: Soonish,
    identity: Identity,
    slug: str,
    values: AnnouncementForm,
    *,
    error: PressboxError | None = None,
    message: str | None = None,
    invitation_url: str | None = None,
) -> HTMLResponse:
    # Read before what is shown: a change in between comes again rather than never.
    cursor = await _cursor(request)
    event = await service.events.get(viewer(identity), slug)
    user = identity.user_id
    found = await _broadcasts(service, identity, slug)
    everybody = await service.board.reach(user, slug)
    chosen = everybody if values.recipients is None else await service.board.reach(user, slug, values.recipients)
    page = render(
        request,
        "soonish/board.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        messages=found,
        follow=topics_of(event, found),
        segments=segments,
        cursor=cursor,
        reach=chosen,
        subscribers=await service.board.subscribers(user, slug, limit=SUBSCRIBERS_OFFERED),
        subscribers_total=everybody.people + everybody.unreachable,
        invitations=await service.events.invitations(user, slug),
        invitation_url=invitation_url,
        public_url=f"{base_url(request)}{PATH}/{slug}",
        values=values,
        key=values.key or secrets.token_hex(8),
        message=message,
        error=words_of(error),
        field=field_of(error),
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


async def _broadcasts(service: Soonish, identity: Identity, slug: str) -> Sequence[MessageView]:
    """What went to many. Reminders are each person's own, and would bury it."""
    return await service.board.messages(identity.user_id, slug, MESSAGES_SHOWN, personal=False)


async def _cursor(request: Request) -> int:
    feed: ChangeFeed = request.app.state.feed
    return await feed.newest()
