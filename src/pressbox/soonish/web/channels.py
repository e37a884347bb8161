"""Pages of the channels of a person with an account."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.errors import PressboxError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity, SignedInIdentity
from pressbox.core.web.rendering import render
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.channels import ChannelInput, ChannelView
from pressbox.delivery.domain.services import APPRISE, EMAIL, NAMES, SERVICES, build_address
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import FORM_ERRORS, RowId, Service, error_field, error_text, redirect
from pressbox.soonish.web.forms import Text, split_tags

CHANNELS = f"{PATH}/channels"

router = APIRouter(include_in_schema=False)

MESSAGES = {"added": "The channel is added. Send a test to see whether it works.", "removed": "The channel is removed."}
RESULTS = {
    AttemptResult.ACCEPTED: "It was accepted.",
    AttemptResult.REFUSED: "It was refused:",
    AttemptResult.UNAVAILABLE: "It could not be delivered now:",
    AttemptResult.UNCONFIRMED: "It was sent, but not confirmed:",
    AttemptResult.UNWANTED: "It was not sent:",
}
HxRequest = Annotated[bool, Header()]


@dataclass(frozen=True)
class ChannelForm:
    name: Text = ""
    tags: Text = ""
    url: Text = ""
    is_active: Text = ""
    remove: Text = ""
    service: Text = APPRISE
    one: Text = ""
    two: Text = ""
    three: Text = ""

    def to_input(self, *, is_new: bool) -> ChannelInput:
        url = self.url.strip() or None
        if is_new and self.service not in (APPRISE, EMAIL):
            url = build_address(self.service, (self.one, self.two, self.three))
        return ChannelInput(self.name, url, split_tags(self.tags), is_active=is_new or bool(self.is_active))

    @classmethod
    def of(cls, channel: ChannelView) -> "ChannelForm":
        return cls(name=channel.name, tags=", ".join(channel.tags))


@dataclass(frozen=True)
class ChannelTest:
    """The result of testing a channel, in words."""

    channel_id: int
    good: bool
    words: str
    reason: str


@router.get(CHANNELS)
async def channels(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    done: str = "",
    chosen: Annotated[str, Query(alias="service")] = "",
) -> Response:
    values = ChannelForm(service=chosen if chosen in SERVICES else "")
    return await _render_channels(request, service, identity, values, message=MESSAGES.get(done))


@router.post(CHANNELS)
async def add_channel(
    request: Request, service: Service, identity: SignedInIdentity, form: Annotated[ChannelForm, Depends()]
) -> Response:
    try:
        if form.service == EMAIL:
            await service.channels.add_email(identity.user_id, form.to_input(is_new=True))
        else:
            await service.channels.add(identity.user_id, form.to_input(is_new=True))
    except FORM_ERRORS as error:
        return await _render_channels(request, service, identity, form, error=error)
    return redirect(f"{CHANNELS}?done=added")


@router.get(f"{CHANNELS}/{{channel_id}}")
async def edit_channel(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    channel_id: RowId,
    shown: bool = False,
    hx_request: HxRequest = False,
) -> Response:
    channel = await service.channels.get(identity.user_id, channel_id)
    if not hx_request:
        return await _render_channels(request, service, identity, ChannelForm.of(channel), edited=channel)
    if shown:
        return render(request, "soonish/_channel.html", identity=identity, channel=channel, answer=None)
    return _render_edit_row(request, identity, channel, ChannelForm.of(channel))


@router.post(f"{CHANNELS}/{{channel_id}}")
async def change_channel(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    channel_id: RowId,
    form: Annotated[ChannelForm, Depends()],
    hx_request: HxRequest = False,
) -> Response:
    user = identity.user_id
    if form.remove:
        await service.channels.remove(user, channel_id)
        return HTMLResponse("") if hx_request else redirect(f"{CHANNELS}?done=removed")
    channel = await service.channels.get(user, channel_id)
    try:
        channel = await service.channels.change(user, channel_id, form.to_input(is_new=False))
    except FORM_ERRORS as error:
        if hx_request:
            return _render_edit_row(request, identity, channel, form, error)
        return await _render_channels(request, service, identity, form, edited=channel, error=error)
    if hx_request:
        return render(request, "soonish/_channel.html", identity=identity, channel=channel, answer=None)
    return redirect(CHANNELS)


@router.post(f"{CHANNELS}/{{channel_id}}/test")
async def send_test(
    request: Request, service: Service, identity: SignedInIdentity, channel_id: RowId, hx_request: HxRequest = False
) -> Response:
    """Send a test and show the result in its row or, without scripts, on the whole page."""
    try:
        attempt = await service.channels.test(identity.user_id, channel_id)
        good = attempt.result is AttemptResult.ACCEPTED
        tested = ChannelTest(channel_id, good, RESULTS[attempt.result], "" if good else attempt.reason)
    except FORM_ERRORS as error:
        tested = ChannelTest(channel_id, False, "", error.message)
    if not hx_request:
        return await _render_channels(request, service, identity, ChannelForm(service=""), tested=tested)
    channel = await service.channels.get(identity.user_id, channel_id)
    return render(request, "soonish/_channel.html", identity=identity, channel=channel, answer=tested)


def _render_edit_row(
    request: Request,
    identity: Identity,
    channel: ChannelView,
    values: ChannelForm,
    error: PressboxError | None = None,
) -> HTMLResponse:
    # Status 200 even with an error: htmx shows nothing else.
    return render(
        request,
        "soonish/_channel_edit.html",
        identity=identity,
        channel=channel,
        values=values,
        inline=True,
        error=error_text(error),
        field=error_field(error),
    )


async def _render_channels(
    request: Request,
    service: Soonish,
    identity: Identity,
    values: ChannelForm,
    *,
    edited: ChannelView | None = None,
    tested: ChannelTest | None = None,
    message: str | None = None,
    error: PressboxError | None = None,
) -> Response:
    page = render(
        request,
        "soonish/channels.html",
        error.status if error else 200,
        identity=identity,
        channels=await service.channels.list(identity.user_id),
        values=values,
        services={key: item for key, item in SERVICES.items() if key != EMAIL or service.channels.sends_mail},
        field_names=NAMES,
        edited=edited.id if edited else None,
        tested=tested,
        message=message,
        error=error_text(error),
        field=error_field(error),
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page
