"""Pages of the subscriptions of a person with an account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.web.errors import safe_next
from pressbox.core.web.identity import Identity, SignedInIdentity
from pressbox.core.web.rendering import render
from pressbox.soonish.domain.views import Holder
from pressbox.soonish.ids import PATH
from pressbox.soonish.web.access import RowId, Service, redirect
from pressbox.soonish.web.forms import PreferencesForm, Text, offset_seconds
from pressbox.soonish.web.subscription_page import SubscriptionPage

SUBSCRIPTIONS = f"{PATH}/subscriptions"

router = APIRouter(include_in_schema=False)


@router.get(SUBSCRIPTIONS)
async def subscriptions(request: Request, service: Service, identity: SignedInIdentity) -> HTMLResponse:
    found = await service.subscriptions.list(identity.user_id)
    return render(
        request,
        "soonish/subscriptions.html",
        identity=identity,
        subscriptions=found,
        offsets_of=lambda item: offset_seconds(item.offsets),
    )


def _go_on(next: str) -> Response | None:
    """Back to the page on which the button was: the list of subscriptions, or another one of ours."""
    if next == "list":
        return redirect(SUBSCRIPTIONS)
    target = safe_next(next, "")
    return redirect(target) if target else None


def _page(identity: Identity, subscription_id: int) -> SubscriptionPage:
    return SubscriptionPage(Holder(subscription_id, identity.user_id), f"{SUBSCRIPTIONS}/{subscription_id}", identity)


@router.get(f"{SUBSCRIPTIONS}/{{subscription_id}}")
async def subscription(
    request: Request, service: Service, identity: SignedInIdentity, subscription_id: RowId, done: str = ""
) -> Response:
    return await _page(identity, subscription_id).show(request, service, done)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}")
async def change_subscription(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    subscription_id: RowId,
    form: Annotated[PreferencesForm, Depends()],
) -> Response:
    return await _page(identity, subscription_id).change(request, service, form)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/mute")
async def mute(
    request: Request, service: Service, identity: SignedInIdentity, subscription_id: RowId, next: Text = ""
) -> Response:
    response = await _page(identity, subscription_id).mute(service)
    return _go_on(next) or response


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/unmute")
async def unmute(
    request: Request, service: Service, identity: SignedInIdentity, subscription_id: RowId, next: Text = ""
) -> Response:
    response = await _page(identity, subscription_id).unmute(service)
    return _go_on(next) or response


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/leave")
async def leave(service: Service, identity: SignedInIdentity, subscription_id: RowId, next: Text = "") -> Response:
    await _page(identity, subscription_id).leave(service)
    return _go_on(next) or redirect(SUBSCRIPTIONS)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/remind")
async def remind(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    subscription_id: RowId,
    amount: Text = "",
    unit: Annotated[int, Form()] = 60,
) -> Response:
    return await _page(identity, subscription_id).remind(request, service, amount, unit)


@router.post(f"{SUBSCRIPTIONS}/{{subscription_id}}/remind/{{reminder_id}}/cancel")
async def cancel_reminder(
    service: Service, identity: SignedInIdentity, subscription_id: RowId, reminder_id: RowId
) -> Response:
    return await _page(identity, subscription_id).cancel_reminder(service, reminder_id)
