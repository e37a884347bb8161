"""Pages of the organiser's board: announcements, deliveries, subscribers and invitations."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.clock import utc_now
from pressbox.core.errors import PressboxError
from pressbox.core.qr import qr_image
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity, SignedInIdentity, is_secure
from pressbox.core.web.rendering import render
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.soonish.domain.agenda import may_reopen
from pressbox.soonish.domain.views import EventView, MessageView
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import (
    FORM_ERRORS,
    After,
    RowId,
    Service,
    base_url,
    error_field,
    error_text,
    newest_change,
    redirect,
)
from pressbox.soonish.web.forms import AnnouncementForm
from pressbox.soonish.web.topics import EVENT, NOTIFICATION

router = APIRouter(include_in_schema=False)

MESSAGES_SHOWN = 30
# The stream takes twenty topics; older messages were finished long ago.
MESSAGES_FOLLOWED = 15
SUBSCRIBERS_SHOWN = 12
# On one page of those among whom recipients are chosen; a search or the next page shows others.
SUBSCRIBERS_OFFERED = 200
MOST_CHOSEN = 500
PAGE_ROWS = 100
# Carries a new invitation over the redirect to this page, for a minute at most.
INVITATION_COOKIE = "pressbox_invitation"
INVITATION_SECONDS = 60

MESSAGES = {
    "created": "Your event is ready. Share its page so that people can subscribe.",
    "changed": "Saved. Subscribers are told in a minute; what you change before then goes into the same message.",
    "announced": "Your message was accepted. Its line under Messages shows how far it has come.",
    "cancelled": "The event is cancelled. All subscribers are being told.",
    "reopened": "The event takes place. Whoever was told of the cancellation is being told so.",
    "stopped": "Stopped. Everybody who has not received it yet is skipped.",
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
    """A part of the progress bar, in per cent of its length."""

    state: DeliveryState
    count: int
    start: float
    width: float


def build_segments(message: MessageView) -> Sequence[Segment]:
    """How far a message has come. Recipients whose deliveries are not written yet count as waiting."""
    counts = {state: int(getattr(message.counts, state.value)) for state in _ORDER}
    if message.finished_at is None and message.cancelled_at is None:
        counts[DeliveryState.PENDING] += max(0, message.recipients - message.counts.total)
    total, segments, start = sum(counts.values()) or 1, [], 0
    for state in _ORDER:
        segments.append(Segment(state, counts[state], start * 100 / total, counts[state] * 100 / total))
        start += counts[state]
    return segments


def list_topics(event: EventView, messages: Sequence[MessageView]) -> str:
    """The live topics of the list of messages: the event, and each message that is still being sent."""
    unfinished = [message.id for message in messages if message.finished_at is None][:MESSAGES_FOLLOWED]
    return ",".join((f"{EVENT}:{event.slug}", *(f"{NOTIFICATION}:{number}" for number in unfinished)))


@router.get(f"{PATH}/{{slug}}/board")
async def board(request: Request, service: Service, identity: SignedInIdentity, slug: str, done: str = "") -> Response:
    token = request.cookies.get(INVITATION_COOKIE, "")
    invitation_url = f"{base_url(request)}{PATH}/{slug}?invitation={quote(token)}" if token else None
    page = await _board(
        request, service, identity, slug, AnnouncementForm(), message=MESSAGES.get(done), invitation_url=invitation_url
    )
    if token:
        page.delete_cookie(INVITATION_COOKIE, path=f"{PATH}/{slug}/board", httponly=True, samesite="strict")
    return page


@router.post(f"{PATH}/{{slug}}/board")
async def announce(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    slug: str,
    values: Annotated[AnnouncementForm, Depends()],
) -> Response:
    if values.is_choosing:
        return await _board(request, service, identity, slug, values)
    try:
        await service.board.announce(identity.user_id, slug, values.to_input())
    except FORM_ERRORS as error:
        return await _board(request, service, identity, slug, values, error=error)
    return redirect(f"{PATH}/{slug}/board?done=announced")


@router.get(f"{PATH}/{{slug}}/board/reach")
async def reach(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    slug: str,
    to: str = "all",
    subscription: Annotated[list[int] | None, Query()] = None,
) -> HTMLResponse:
    """Whom the message would reach, asked while its recipients are being chosen."""
    chosen = tuple(subscription or ()) if to == "some" else None
    found = await service.board.preview_reach(identity.user_id, slug, chosen)
    return render(request, "soonish/_reach.html", identity=identity, reach=found)


@router.get(f"{PATH}/{{slug}}/board/messages")
async def messages(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> HTMLResponse:
    """The list of messages alone, which the board asks for again when something changed."""
    event = await service.events.get_organised(identity.user_id, slug)
    found = await _list_broadcasts(service, identity, slug)
    return render(
        request,
        "soonish/_messages.html",
        identity=identity,
        event=event,
        messages=found,
        follow=list_topics(event, found),
        segments=build_segments,
        cursor="",
    )


@router.get(f"{PATH}/{{slug}}/board/subscribers")
async def subscribers(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    slug: str,
    after: After = 0,
) -> HTMLResponse:
    event = await service.events.get_organised(identity.user_id, slug)
    rows = await service.board.list_subscribers(identity.user_id, slug, after=after, limit=PAGE_ROWS)
    more = rows[-1].subscription_id if len(rows) == PAGE_ROWS else None
    return render(request, "soonish/subscribers.html", identity=identity, event=event, subscribers=rows, more=more)


@router.post(f"{PATH}/{{slug}}/invitations")
async def invite(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> Response:
    invitation = await service.invitations.create(identity.user_id, slug)
    response = redirect(f"{PATH}/{slug}/board")
    response.set_cookie(
        INVITATION_COOKIE,
        invitation.token,
        max_age=INVITATION_SECONDS,
        path=f"{PATH}/{slug}/board",
        secure=is_secure(request.app.state.settings),
        httponly=True,
        samesite="strict",
    )
    return response


@router.post(f"{PATH}/{{slug}}/invitations/{{invitation_id}}/revoke")
async def revoke(service: Service, identity: SignedInIdentity, slug: str, invitation_id: RowId) -> Response:
    await service.invitations.revoke(identity.user_id, slug, invitation_id)
    return redirect(f"{PATH}/{slug}/board")


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
    # Read before the page: a change in between is then shown twice rather than never.
    cursor = await newest_change(request)
    event = await service.events.get_organised(identity.user_id, slug)
    user = identity.user_id
    found = await _list_broadcasts(service, identity, slug)
    everybody = await service.board.preview_reach(user, slug)
    chosen = (
        everybody if values.recipients is None else await service.board.preview_reach(user, slug, values.recipients)
    )
    public_url = f"{base_url(request)}{PATH}/{slug}"
    already = await service.board.list_subscribers(user, slug, limit=MOST_CHOSEN, only=values.subscription_ids)
    offered = await service.board.list_subscribers(
        user, slug, after=values.page_after, limit=SUBSCRIBERS_OFFERED, words=values.find.strip()
    )
    page = render(
        request,
        "soonish/board.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        messages=found,
        follow=list_topics(event, found),
        segments=build_segments,
        cursor=cursor,
        reach=chosen,
        subscribers=await service.board.list_subscribers(user, slug, limit=SUBSCRIBERS_SHOWN),
        already=already,
        # Chosen on other pages, and more than are listed: they stay chosen.
        unlisted=sorted(set(values.subscription_ids) - {person.subscription_id for person in already}),
        offered=[person for person in offered if person.subscription_id not in values.subscription_ids],
        offered_after=offered[-1].subscription_id if len(offered) == SUBSCRIBERS_OFFERED else None,
        subscribers_total=everybody.people + everybody.unreachable,
        invitations=await service.invitations.list(user, slug),
        invitation_url=invitation_url,
        takes_email=service.guests.takes_email,
        has_address=request.app.state.settings.web.public_url is not None,
        public_url=public_url,
        public_code=qr_image(public_url),
        may_reopen=may_reopen(event, utc_now()),
        values=values,
        key=values.key or secrets.token_hex(8),
        message=message,
        error=error_text(error),
        field=error_field(error),
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


async def _list_broadcasts(service: Soonish, identity: Identity, slug: str) -> Sequence[MessageView]:
    """Messages to many people. Reminders to single people would crowd them out."""
    return await service.board.list_messages(identity.user_id, slug, MESSAGES_SHOWN, personal=False)
