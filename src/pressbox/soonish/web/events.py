"""Pages of events: the list, the form, the page that is shared, its subscribe form, and its end."""

from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.core.web.times import ZONE_COOKIE
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.service.inputs import Choice
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import (
    PATH,
    REFUSALS,
    Reader,
    Service,
    Visitor,
    base_url,
    client,
    field_of,
    path_of,
    see,
    viewer,
    words_of,
)
from pressbox.soonish.web.calendar import calendar_response
from pressbox.soonish.web.forms import (
    EventForm,
    Numbers,
    OffsetsForm,
    Text,
    Texts,
    offered_zones,
    offset_choices,
    seconds_of,
)

router = APIRouter(include_in_schema=False)

MAIL_SENT = (
    "We sent you a mail. Open the link in it to confirm; until then nothing else is sent. No mail after a few minutes? "
    "Look among the unwanted ones, or subscribe again."
)
MESSAGES = {"mail": MAIL_SENT}


@router.get(PATH)
async def index(request: Request, service: Service, identity: Reader) -> HTMLResponse:
    followed = await service.events.followed(identity.user_id)
    mine = await service.events.organised(identity.user_id)
    known = {event.id for event in (*followed, *mine)}
    return render(
        request,
        "soonish/index.html",
        identity=identity,
        mine=mine,
        followed=followed,
        public=[event for event in await service.events.public() if event.id not in known],
        calendar_url=service.events.calendar_url(identity.user_id),
        board_of=lambda event: f"{PATH}/{event.slug}/board",
        page_of=lambda event: f"{PATH}/{event.slug}",
    )


@router.get(f"{PATH}/new")
async def new_form(request: Request, identity: Reader) -> HTMLResponse:
    zone = request.cookies.get(ZONE_COOKIE, "")
    values = EventForm(timezone=zone if zone in offered_zones() else "UTC")
    return _form(request, identity, values, None, None)


@router.post(f"{PATH}/new")
async def create(
    request: Request, service: Service, identity: Reader, values: Annotated[EventForm, Depends()]
) -> Response:
    try:
        event = await service.events.create(identity.user_id, values.read())
    except REFUSALS as error:
        return _form(request, identity, values, None, error)
    return see(f"{PATH}/{event.slug}/board?done=created")


@router.get(f"{PATH}/{{slug}}/edit")
async def edit_form(request: Request, service: Service, identity: Reader, slug: str) -> HTMLResponse:
    event = await _own(service, identity, slug)
    return _form(request, identity, EventForm.of(event), event, None)


@router.post(f"{PATH}/{{slug}}/edit")
async def edit(
    request: Request, service: Service, identity: Reader, slug: str, values: Annotated[EventForm, Depends()]
) -> Response:
    event = await _own(service, identity, slug)
    try:
        await service.events.edit(identity.user_id, slug, values.read())
    except REFUSALS as error:
        return _form(request, identity, values, event, error)
    return see(f"{PATH}/{slug}/board?done=changed")


@router.post(f"{PATH}/{{slug}}/publish")
async def publish(service: Service, identity: Reader, slug: str) -> Response:
    await service.events.activate(identity.user_id, slug)
    return see(f"{PATH}/{slug}/board")


@router.get(f"{PATH}/{{slug}}/cancel")
async def confirm_cancel(request: Request, service: Service, identity: Reader, slug: str) -> HTMLResponse:
    return await _confirm_end(request, service, identity, slug, "cancel")


@router.post(f"{PATH}/{{slug}}/cancel")
async def cancel(service: Service, identity: Reader, slug: str) -> Response:
    await service.events.cancel(identity.user_id, slug)
    return see(f"{PATH}/{slug}/board?done=cancelled")


@router.get(f"{PATH}/{{slug}}/delete")
async def confirm_delete(request: Request, service: Service, identity: Reader, slug: str) -> HTMLResponse:
    return await _confirm_end(request, service, identity, slug, "delete")


@router.post(f"{PATH}/{{slug}}/delete")
async def delete(service: Service, identity: Reader, slug: str) -> Response:
    await service.events.delete(identity.user_id, slug)
    return see(PATH)


@dataclass(frozen=True)
class SubscribeForm:
    """The subscribe form as it is sent, and as it is shown again when something in it is wrong."""

    email: Text = ""
    url: Text = ""
    invitation: Text = ""
    channel: Numbers = None
    tag: Texts = None
    offset: Numbers = None
    own_amount: Text = ""
    own_unit: Annotated[int, Form()] = 60
    offsets_asked: Text = ""

    @property
    def channel_ids(self) -> tuple[int, ...]:
        return tuple(self.channel or ())

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self.tag or ())

    @property
    def reminders(self) -> OffsetsForm:
        return OffsetsForm(self.offset, self.own_amount, self.own_unit)


@dataclass(frozen=True)
class SubscribeValues:
    """What the form shows. `channel_ids` None: nothing was chosen yet, and every channel is offered as chosen."""

    email: str = ""
    url: str = ""
    channel_ids: tuple[int, ...] | None = None
    tags: tuple[str, ...] = ()
    offsets: tuple[int, ...] = field(default_factory=lambda: seconds_of(DEFAULT_OFFSETS))


@router.post(f"{PATH}/{{slug}}/subscribe")
async def subscribe(
    request: Request, service: Service, identity: Visitor, slug: str, form: Annotated[SubscribeForm, Depends()]
) -> Response:
    try:
        return see(await _subscribe(request, service, identity, slug, form))
    except REFUSALS as error:
        # An address may be a credential: it is not written into the page again.
        values = SubscribeValues(form.email, "", form.channel_ids, form.tags, tuple(form.offset or ()))
        return await _page(request, service, identity, slug, form.invitation, values, error)


async def _subscribe(
    request: Request, service: Soonish, identity: Identity | None, slug: str, form: SubscribeForm
) -> str:
    """Subscribe in the way that was filled in; gives where to go next."""
    looks = viewer(identity, form.invitation)
    offsets = form.reminders.read() if form.offsets_asked else None
    if identity is not None and (form.channel_ids or form.tags):
        choice = Choice(form.channel_ids, form.tags, offsets)
        made = await service.subscriptions.subscribe(looks, slug, choice)
        return f"{PATH}/subscriptions/{made.id}?done=subscribed"
    if form.email.strip():
        await service.subscriptions.subscribe_by_email(looks, slug, form.email, offsets, client(request))
        asked = {"done": "mail"} | ({"invitation": form.invitation} if form.invitation else {})
        return f"{PATH}/{slug}?{urlencode(asked)}"
    if form.url.strip():
        joined = await service.subscriptions.subscribe_by_url(looks, slug, form.url, offsets, client(request))
        return f"{path_of(joined.manage_url)}?done=subscribed"
    has_channels = identity is not None and await service.channels.all(identity.user_id)
    if has_channels:
        raise InvalidInputError("Choose at least one channel or tag.", field="channel_ids")
    raise InvalidInputError("Give an e-mail address, or another channel.", field="email")


@router.get(f"{PATH}/{{slug}}/calendar.ics")
async def calendar(request: Request, service: Service, identity: Visitor, slug: str, invitation: str = "") -> Response:
    entry = await service.events.calendar_of_event(viewer(identity, invitation), slug)
    return calendar_response(entry.name, [entry], base_url(request))


@router.get(f"{PATH}/{{slug}}")
async def event_page(
    request: Request, service: Service, identity: Visitor, slug: str, invitation: str = "", done: str = ""
) -> Response:
    return await _page(request, service, identity, slug, invitation, SubscribeValues(), None, MESSAGES.get(done))


async def _page(
    request: Request,
    service: Soonish,
    identity: Identity | None,
    slug: str,
    invitation: str,
    values: SubscribeValues,
    error: PressboxError | None,
    message: str | None = None,
) -> Response:
    event = await service.events.get(viewer(identity, invitation), slug)
    channels = await service.channels.all(identity.user_id) if identity else ()
    asked = f"?{urlencode({'invitation': invitation})}" if invitation else ""
    page = render(
        request,
        "soonish/event.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        channels=channels,
        tags=sorted({tag for channel in channels for tag in channel.tags}),
        invitation=invitation,
        calendar_url=f"{PATH}/{event.slug}/calendar.ics{asked}",
        values=values,
        message=message,
        error=words_of(error),
        field=field_of(error),
        offset_choices=offset_choices,
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


def _form(
    request: Request, identity: Identity, values: EventForm, event: EventView | None, error: PressboxError | None
) -> HTMLResponse:
    zones = offered_zones()
    return render(
        request,
        "soonish/event_form.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        values=values,
        zones=zones if values.timezone in zones else (values.timezone, *zones),
        action=request.url.path,
        error=words_of(error),
        field=field_of(error),
    )


async def _confirm_end(request: Request, service: Soonish, identity: Identity, slug: str, act: str) -> HTMLResponse:
    event = await _own(service, identity, slug)
    reach = await service.board.reach(identity.user_id, slug)
    return render(request, "soonish/event_end.html", identity=identity, event=event, act=act, reach=reach)


async def _own(service: Soonish, identity: Identity, slug: str) -> EventView:
    """The event for its organiser; for others the service refuses in its own words."""
    event = await service.events.get(viewer(identity), slug)
    if not event.organises:
        await service.board.reach(identity.user_id, slug)
    return event
