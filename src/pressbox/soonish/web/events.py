"""Pages of events: the list, and the shared page with its subscribe form."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.errors import InvalidInputError, PressboxError, RefusedAddressError, TransientError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity, MaybeIdentity, SignedInIdentity
from pressbox.core.web.rendering import render
from pressbox.delivery.domain.services import APPRISE, EMAIL, MAX_FIELDS, NAMES, SERVICES, build_address
from pressbox.soonish.domain.agenda import is_past
from pressbox.soonish.domain.events import OPEN_VISIBILITIES
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.inputs import Preferences
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import (
    FORM_ERRORS,
    Service,
    base_url,
    client_address,
    error_field,
    error_text,
    make_reader,
    make_viewer,
    redirect,
)
from pressbox.soonish.web.calendar import calendar_response, find_webcal, to_webcal
from pressbox.soonish.web.forms import (
    Numbers,
    OffsetsForm,
    Text,
    Texts,
    offset_choices,
    offset_seconds,
)

router = APIRouter(include_in_schema=False)

MAIL_SENT = (
    "We sent you a mail. Open the link in it to confirm; nothing else is sent before that. "
    "No mail after a few minutes? Look in your spam folder, or subscribe again."
)
MESSAGE_SENT = (
    "We sent a message to your channel. Open the link in it to confirm; nothing else is sent before that. "
    "No message after a minute? Check the address and subscribe again."
)
MESSAGES = {"mail": MAIL_SENT, "message": MESSAGE_SENT}


@router.get(PATH)
async def index(request: Request, service: Service, identity: SignedInIdentity) -> HTMLResponse:
    followed = await service.events.list_followed(identity.user_id)
    mine = await service.events.list_organised(identity.user_id)
    known = {event.id for event in (*followed, *mine)}
    now = datetime.now(UTC)
    # Whoever has the address can read for good: it is shown to whoever may make one.
    calendar_url = await service.calendars.find_url(identity.user_id) if identity.proved_recently else None
    return render(
        request,
        "soonish/index.html",
        identity=identity,
        mine=mine,
        followed=followed,
        public=[event for event in await service.events.list_public() if event.id not in known],
        past={event.id for event in (*followed, *mine) if is_past(event, now)},
        calendar_url=calendar_url,
        webcal_url=to_webcal(calendar_url) if calendar_url else None,
        board_of=lambda event: f"{PATH}/{event.slug}/board",
        page_of=lambda event: f"{PATH}/{event.slug}",
    )


@dataclass(frozen=True)
class SubscribeForm:
    """The subscribe form as it is sent."""

    email: Text = ""
    url: Text = ""
    service: Text = ""
    one: Text = ""
    two: Text = ""
    three: Text = ""
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
    def address(self) -> str:
        """The Apprise address: as it was typed, or of the service whose fields were filled in."""
        if self.service in ("", EMAIL, APPRISE):
            return self.url.strip()
        return build_address(self.service, (self.one, self.two, self.three))

    @property
    def reminders(self) -> OffsetsForm:
        return OffsetsForm(self.offset, self.own_amount, self.own_unit)


@dataclass(frozen=True)
class SubscribeValues:
    """What the subscribe form shows. `channel_ids` None: nothing was chosen yet, so every channel is ticked."""

    email: str = ""
    service: str = ""
    fields: tuple[str, ...] = ("",) * MAX_FIELDS
    channel_ids: tuple[int, ...] | None = None
    tags: tuple[str, ...] = ()
    offsets: tuple[int, ...] = field(default_factory=lambda: offset_seconds(DEFAULT_OFFSETS))


@router.post(f"{PATH}/{{slug}}/subscribe")
async def subscribe(
    request: Request, service: Service, identity: MaybeIdentity, slug: str, form: Annotated[SubscribeForm, Depends()]
) -> Response:
    try:
        return redirect(await _subscribe(request, service, identity, slug, form))
    # What cannot be reached at the moment, or may not be reached from here, is said beside the form too.
    except (*FORM_ERRORS, TransientError, RefusedAddressError) as error:
        # An Apprise address is a credential: it is not written into the page again.
        fields = (form.one, form.two, form.three)
        chosen = form.service or (APPRISE if form.url else "")
        values = SubscribeValues(form.email, chosen, fields, form.channel_ids, form.tags, tuple(form.offset or ()))
        return await _page(request, service, identity, slug, form.invitation, values, error)


async def _subscribe(
    request: Request, service: Soonish, identity: Identity | None, slug: str, form: SubscribeForm
) -> str:
    """Subscribe in the way that was filled in; returns where to go next."""
    viewer = make_reader(request, identity, form.invitation)
    offsets = form.reminders.to_offsets() if form.offsets_asked else None
    if identity is not None and (form.channel_ids or form.tags):
        preferences = Preferences(form.channel_ids, form.tags, offsets)
        found = await service.subscriptions.subscribe(viewer, slug, preferences)
        return f"{PATH}/subscriptions/{found.id}?done=subscribed"
    if form.email.strip() and form.service in ("", EMAIL):
        await service.guests.subscribe_by_email(viewer, slug, form.email, offsets, client_address(request))
        return _page_with_message(slug, "mail", form.invitation)
    if address := form.address:
        await service.guests.subscribe_by_url(viewer, slug, address, offsets, client_address(request))
        return _page_with_message(slug, "message", form.invitation)
    has_channels = identity is not None and await service.channels.list(identity.user_id)
    if has_channels:
        raise InvalidInputError("Choose at least one channel or tag.", field="channel_ids")
    if form.service == APPRISE or not service.guests.takes_email:
        raise InvalidInputError("Give the address of a channel.", field="url")
    raise InvalidInputError("Give an e-mail address, or another channel.", field="email")


def _page_with_message(slug: str, done: str, invitation: str) -> str:
    query = {"done": done} | ({"invitation": invitation} if invitation else {})
    return f"{PATH}/{slug}?{urlencode(query)}"


@router.get(f"{PATH}/{{slug}}/calendar.ics")
async def calendar(
    request: Request, service: Service, identity: MaybeIdentity, slug: str, invitation: str = ""
) -> Response:
    event = await service.events.get_for_calendar(make_viewer(identity, invitation), slug)
    return calendar_response(event.name, [event], base_url(request))


@router.get(f"{PATH}/{{slug}}")
async def event_page(
    request: Request,
    service: Service,
    identity: MaybeIdentity,
    slug: str,
    invitation: str = "",
    done: str = "",
    chosen: Annotated[str, Query(alias="service")] = "",
) -> Response:
    values = SubscribeValues(service=chosen if chosen in SERVICES else "")
    return await _page(request, service, identity, slug, invitation, values, None, MESSAGES.get(done))


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
    event = await service.events.get(make_viewer(identity, invitation), slug)
    channels = await service.channels.list(identity.user_id) if identity else ()
    is_open = event.visibility in OPEN_VISIBILITIES
    query = f"?{urlencode({'invitation': invitation})}" if invitation else ""
    takes_email = service.guests.takes_email
    services = {key: item for key, item in SERVICES.items() if key != EMAIL or takes_email}
    page = render(
        request,
        "soonish/event.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        follows_organiser=await service.organisers.follows(identity.user_id, slug) if identity and is_open else None,
        channels=channels,
        tags=sorted({tag for channel in channels for tag in channel.tags}),
        invitation=invitation,
        calendar_url=f"{PATH}/{event.slug}/calendar.ics{query}",
        webcal_url=find_webcal(request, event),
        services=services,
        chosen=values.service if values.service in services else next(iter(services)),
        field_names=NAMES,
        values=values,
        message=message,
        error=error_text(error),
        field=error_field(error),
        offset_choices=offset_choices,
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page
