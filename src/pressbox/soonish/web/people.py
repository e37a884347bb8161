"""Pages of a person with an account: what they follow, and the channels over which they hear of it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Header, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.errors import PressboxError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.soonish.domain.delivery import AttemptResult
from pressbox.soonish.domain.views import ChannelView
from pressbox.soonish.ports import Holder
from pressbox.soonish.service.inputs import ChannelInput
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import PATH, REFUSALS, Reader, RowId, Service, field_of, see, words_of
from pressbox.soonish.web.forms import Text, seconds_of, tags_of
from pressbox.soonish.web.subscription import ChoiceForm, SubscriptionPages

SUBSCRIPTIONS = f"{PATH}/subscriptions"
CHANNELS = f"{PATH}/channels"

router = APIRouter(include_in_schema=False)

MESSAGES = {"added": "The channel is added. Send a test to see that it works.", "removed": "The channel is removed."}
RESULTS = {
    AttemptResult.ACCEPTED: "It was accepted.",
    AttemptResult.REFUSED: "It was refused:",
    AttemptResult.TROUBLED: "It was not taken, and may be later:",
    AttemptResult.SILENT: "It was sent, but nobody said that it arrived:",
}
HxRequest = Annotated[bool, Header()]


@router.get(SUBSCRIPTIONS)
async def subscriptions(request: Request, service: Service, identity: Reader) -> HTMLResponse:
    found = await service.subscriptions.of_user(identity.user_id)
    return render(
        request,
        "soonish/subscriptions.html",
        identity=identity,
        subscriptions=found,
        offsets_of=lambda item: seconds_of(item.offsets),
    )


def _pages(identity: Identity, subscription_id: int) -> SubscriptionPages:
    return SubscriptionPages(Holder(subscription_id, identity.user_id), f"{SUBSCRIPTIONS}/{subscription_id}", identity)


@router.get(f"{SUBSCRIPTIONS}/{{subscription_id}}")
async def subscription(
    request: Request, service: Service, identity: Reader, subscription_id: RowId, done: str = ""
) -> Response:
    return await _pages(identity, subscription_id).show(request, service, done)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}")
async def change_subscription(
    request: Request,
    service: Service,
    identity: Reader,
    subscription_id: RowId,
    form: Annotated[ChoiceForm, Depends()],
) -> Response:
    return await _pages(identity, subscription_id).change(request, service, form)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/mute")
async def mute(
    request: Request, service: Service, identity: Reader, subscription_id: RowId, next: Text = ""
) -> Response:
    answer = await _pages(identity, subscription_id).mute(service)
    return see(SUBSCRIPTIONS) if next == "list" else answer


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/unmute")
async def unmute(
    request: Request, service: Service, identity: Reader, subscription_id: RowId, next: Text = ""
) -> Response:
    answer = await _pages(identity, subscription_id).unmute(service)
    return see(SUBSCRIPTIONS) if next == "list" else answer


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/leave")
async def leave(service: Service, identity: Reader, subscription_id: RowId) -> Response:
    await _pages(identity, subscription_id).leave(service)
    return see(SUBSCRIPTIONS)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/remind")
async def remind(
    request: Request,
    service: Service,
    identity: Reader,
    subscription_id: RowId,
    amount: Text = "",
    unit: Annotated[int, Form()] = 60,
) -> Response:
    return await _pages(identity, subscription_id).remind(request, service, amount, unit)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/remind/{{reminder_id}}/cancel")
async def cancel_reminder(service: Service, identity: Reader, subscription_id: RowId, reminder_id: RowId) -> Response:
    return await _pages(identity, subscription_id).cancel_reminder(service, reminder_id)


@dataclass(frozen=True)
class ChannelForm:
    name: Text = ""
    tags: Text = ""
    url: Text = ""
    is_active: Text = ""
    remove: Text = ""

    def read(self, *, is_new: bool) -> ChannelInput:
        url = self.url.strip() or None
        return ChannelInput(self.name, url, tags_of(self.tags), is_active=is_new or bool(self.is_active))

    @classmethod
    def of(cls, channel: ChannelView) -> "ChannelForm":
        return cls(name=channel.name, tags=", ".join(channel.tags))


@dataclass(frozen=True)
class Tested:
    """What a test of a channel came to, in words."""

    channel_id: int
    good: bool
    words: str
    reason: str


@router.get(CHANNELS)
async def channels(request: Request, service: Service, identity: Reader, done: str = "") -> Response:
    return await _channels(request, service, identity, ChannelForm(), message=MESSAGES.get(done))


@router.post(CHANNELS)
async def add_channel(
    request: Request, service: Service, identity: Reader, form: Annotated[ChannelForm, Depends()]
) -> Response:
    try:
        await service.channels.add(identity.user_id, form.read(is_new=True))
    except REFUSALS as error:
        return await _channels(request, service, identity, form, error=error)
    return see(f"{CHANNELS}?done=added")


@router.get(f"{CHANNELS}/{{channel_id}}")
async def edit_channel(
    request: Request,
    service: Service,
    identity: Reader,
    channel_id: RowId,
    shown: bool = False,
    hx_request: HxRequest = False,
) -> Response:
    channel = await service.channels.get(identity.user_id, channel_id)
    if not hx_request:
        return await _channels(request, service, identity, ChannelForm.of(channel), edited=channel)
    if shown:
        return render(request, "soonish/_channel.html", identity=identity, channel=channel, answer=None)
    return _edit_row(request, identity, channel, ChannelForm.of(channel))


@router.post(f"{CHANNELS}/{{channel_id}}")
async def change_channel(
    request: Request,
    service: Service,
    identity: Reader,
    channel_id: RowId,
    form: Annotated[ChannelForm, Depends()],
    hx_request: HxRequest = False,
) -> Response:
    user = identity.user_id
    if form.remove:
        await service.channels.remove(user, channel_id)
        return HTMLResponse("") if hx_request else see(f"{CHANNELS}?done=removed")
    channel = await service.channels.get(user, channel_id)
    try:
        channel = await service.channels.change(user, channel_id, form.read(is_new=False))
    except REFUSALS as error:
        if hx_request:
            return _edit_row(request, identity, channel, form, error)
        return await _channels(request, service, identity, form, edited=channel, error=error)
    if hx_request:
        return render(request, "soonish/_channel.html", identity=identity, channel=channel, answer=None)
    return see(CHANNELS)


@router.post(f"{CHANNELS}/{{channel_id}}/test")
async def try_channel(
    request: Request, service: Service, identity: Reader, channel_id: RowId, hx_request: HxRequest = False
) -> Response:
    """Send a test and answer in place: in the row, or on the whole page without scripts."""
    try:
        attempt = await service.channels.test(identity.user_id, channel_id)
        good = attempt.result is AttemptResult.ACCEPTED
        tested = Tested(channel_id, good, RESULTS[attempt.result], "" if good else attempt.reason)
    except REFUSALS as error:
        tested = Tested(channel_id, False, "", error.message)
    if not hx_request:
        return await _channels(request, service, identity, ChannelForm(), tested=tested)
    channel = await service.channels.get(identity.user_id, channel_id)
    return render(request, "soonish/_channel.html", identity=identity, channel=channel, answer=tested)


def _edit_row(
    request: Request,
    identity: Identity,
    channel: ChannelView,
    values: ChannelForm,
    error: PressboxError | None = None,
) -> HTMLResponse:
    # With status 200 also when refused: htmx puts nothing else into the page.
    return render(
        request,
        "soonish/_channel_edit.html",
        identity=identity,
        channel=channel,
        values=values,
        inline=True,
        error=words_of(error),
        field=field_of(error),
    )


async def _channels(
    request: Request,
    service: Soonish,
    identity: Identity,
    values: ChannelForm,
    *,
    edited: ChannelView | None = None,
    tested: Tested | None = None,
    message: str | None = None,
    error: PressboxError | None = None,
) -> Response:
    page = render(
        request,
        "soonish/channels.html",
        error.status if error else 200,
        identity=identity,
        channels=await service.channels.all(identity.user_id),
        values=values,
        edited=edited.id if edited else None,
        tested=tested,
        message=message,
        error=words_of(error),
        field=field_of(error),
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page
