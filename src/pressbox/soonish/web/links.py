"""Pages behind private links, for people without an account. A GET changes nothing: programs open links too."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.web.rendering import render
from pressbox.soonish.domain.links import Purpose
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import Holder
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import RowId, Service, base_url, path_of, redirect
from pressbox.soonish.web.calendar import CALENDAR_NAME, calendar_response
from pressbox.soonish.web.forms import PreferencesForm, Text
from pressbox.soonish.web.subscription_page import SubscriptionPage

router = APIRouter(include_in_schema=False)

MESSAGES = {
    "muted": "Muted. Nothing about this event is sent to you.",
    "unmuted": "You will be told about it again.",
}


@router.get(f"{PATH}/confirm/{{token}}")
async def confirm_page(request: Request, service: Service, token: str) -> Response:
    found = await service.subscriptions.get(_holder(service, Purpose.CONFIRM, token))
    if found.state is not SubscriptionState.PENDING:
        return redirect(path_of(service.links.manage_url(found.id)))
    return render(request, "soonish/confirm.html", event=found.event)


@router.post(f"{PATH}/confirm/{{token}}")
async def confirm(service: Service, token: str) -> Response:
    confirmed = await service.guests.confirm(_holder(service, Purpose.CONFIRM, token))
    return redirect(f"{path_of(confirmed.manage_url)}?done=confirmed")


@router.get(f"{PATH}/unsubscribe/{{token}}")
async def unsubscribe_page(request: Request, service: Service, token: str) -> HTMLResponse:
    found = await service.subscriptions.get(_holder(service, Purpose.UNSUBSCRIBE, token))
    has_left = found.state is SubscriptionState.LEFT
    return render(request, "soonish/unsubscribe.html", event=found.event, done=has_left)


@router.post(f"{PATH}/unsubscribe/{{token}}")
async def unsubscribe(request: Request, service: Service, token: str) -> HTMLResponse:
    """Also takes the one-click POST of RFC 8058, which a mail server sends without cookies or a page before."""
    holder = _holder(service, Purpose.UNSUBSCRIBE, token)
    found = await service.subscriptions.get(holder)
    await service.subscriptions.leave(holder)
    return render(request, "soonish/unsubscribe.html", event=found.event, done=True)


@router.get(f"{PATH}/why/{{token}}")
async def why_page(request: Request, service: Service, token: str, done: str = "") -> HTMLResponse:
    why = await service.board.explain(service.links.read_token(Purpose.WHY, token))
    return render(
        request,
        "soonish/why.html",
        why=why,
        event_url=f"{PATH}/{why.event_slug}" if why.event_visible else None,
        message=MESSAGES.get(done),
    )


@router.post(f"{PATH}/why/{{token}}/mute")
async def mute_from_message(service: Service, token: str) -> Response:
    why = await service.board.explain(service.links.read_token(Purpose.WHY, token))
    if why.subscription_state is SubscriptionState.ACTIVE:
        await service.subscriptions.mute(Holder(why.subscription_id))
    return redirect(f"{PATH}/why/{token}?done=muted")


@router.post(f"{PATH}/why/{{token}}/unmute")
async def unmute_from_message(service: Service, token: str) -> Response:
    why = await service.board.explain(service.links.read_token(Purpose.WHY, token))
    if why.subscription_state is SubscriptionState.MUTED:
        await service.subscriptions.unmute(Holder(why.subscription_id))
    return redirect(f"{PATH}/why/{token}?done=unmuted")


@router.get(f"{PATH}/calendar/{{token}}.ics")
async def personal_calendar(request: Request, service: Service, token: str) -> Response:
    events = await service.events.list_for_calendar(await service.calendars.find_owner(token))
    return calendar_response(CALENDAR_NAME, events, base_url(request))


def _holder(service: Soonish, purpose: Purpose, token: str) -> Holder:
    return Holder(service.links.read_token(purpose, token))


def _page(service: Soonish, token: str) -> SubscriptionPage:
    return SubscriptionPage(_holder(service, Purpose.MANAGE, token), f"{PATH}/manage/{token}")


@router.get(f"{PATH}/manage/{{token}}")
async def manage(request: Request, service: Service, token: str, done: str = "") -> Response:
    return await _page(service, token).show(request, service, done)


@router.post(f"{PATH}/manage/{{token}}")
async def change(
    request: Request, service: Service, token: str, form: Annotated[PreferencesForm, Depends()]
) -> Response:
    return await _page(service, token).change(request, service, form)


@router.post(f"{PATH}/manage/{{token}}/mute")
async def mute(service: Service, token: str) -> Response:
    return await _page(service, token).mute(service)


@router.post(f"{PATH}/manage/{{token}}/unmute")
async def unmute(service: Service, token: str) -> Response:
    return await _page(service, token).unmute(service)


@router.post(f"{PATH}/manage/{{token}}/leave")
async def leave(service: Service, token: str) -> Response:
    return await _page(service, token).leave(service)


@router.post(f"{PATH}/manage/{{token}}/remind")
async def remind(
    request: Request, service: Service, token: str, amount: Text = "", unit: Annotated[int, Form()] = 60
) -> Response:
    return await _page(service, token).remind(request, service, amount, unit)


@router.post(f"{PATH}/manage/{{token}}/remind/{{reminder_id}}/cancel")
async def cancel_reminder(service: Service, token: str, reminder_id: RowId) -> Response:
    return await _page(service, token).cancel_reminder(service, reminder_id)
