"""Pages behind signed links, for people without an account. A GET changes nothing: programs open links too."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.web.rendering import render
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import PATH, RowId, Service, base_url, path_of, see
from pressbox.soonish.web.calendar import calendar_response
from pressbox.soonish.web.forms import Text
from pressbox.soonish.web.subscription import ChoiceForm, SubscriptionPages

router = APIRouter(include_in_schema=False)

CALENDAR_NAME = "Pressbox"
MUTED = "Muted. Nothing about this event is sent to you."


@router.get(f"{PATH}/confirm/{{token}}")
async def confirm_page(request: Request, service: Service, token: str) -> Response:
    found = await service.subscriptions.pending(token)
    if found.state is not SubscriptionState.PENDING:
        return see(path_of(service.subscriptions.manage_url(found.id)))
    return render(request, "soonish/confirm.html", event=found.event)


@router.post(f"{PATH}/confirm/{{token}}")
async def confirm(service: Service, token: str) -> Response:
    joined = await service.subscriptions.confirm(token)
    return see(f"{path_of(joined.manage_url)}?done=confirmed")


@router.get(f"{PATH}/unsubscribe/{{token}}")
async def unsubscribe_page(request: Request, service: Service, token: str) -> HTMLResponse:
    found = await service.subscriptions.to_unsubscribe(token)
    left = found.state is SubscriptionState.LEFT
    return render(request, "soonish/unsubscribe.html", event=found.event, done=left)


@router.post(f"{PATH}/unsubscribe/{{token}}")
async def unsubscribe(request: Request, service: Service, token: str) -> HTMLResponse:
    """Also the one-click POST of RFC 8058: it comes from a mail server, without cookies, and needs no page before."""
    found = await service.subscriptions.to_unsubscribe(token)
    await service.subscriptions.unsubscribe(token)
    return render(request, "soonish/unsubscribe.html", event=found.event, done=True)


@router.get(f"{PATH}/why/{{token}}")
async def why_page(request: Request, service: Service, token: str, done: str = "") -> HTMLResponse:
    why = await service.board.why(token)
    return render(
        request,
        "soonish/why.html",
        why=why,
        event_url=f"{PATH}/{why.event_slug}" if why.event_visible else None,
        message=MUTED if done == "muted" else None,
    )


@router.post(f"{PATH}/why/{{token}}/mute")
async def mute_from_message(service: Service, token: str) -> Response:
    await service.board.mute(token)
    return see(f"{PATH}/why/{token}?done=muted")


@router.get(f"{PATH}/calendar/{{token}}.ics")
async def personal_calendar(request: Request, service: Service, token: str) -> Response:
    entries = await service.events.calendar_by_token(token)
    return calendar_response(CALENDAR_NAME, entries, base_url(request))


def _pages(service: Soonish, token: str) -> SubscriptionPages:
    return SubscriptionPages(service.subscriptions.holder(token), f"{PATH}/manage/{token}")


@router.get(f"{PATH}/manage/{{token}}")
async def manage(request: Request, service: Service, token: str, done: str = "") -> Response:
    return await _pages(service, token).show(request, service, done)


@router.post(f"{PATH}/manage/{{token}}")
async def change(request: Request, service: Service, token: str, form: Annotated[ChoiceForm, Depends()]) -> Response:
    return await _pages(service, token).change(request, service, form)


@router.post(f"{PATH}/manage/{{token}}/mute")
async def mute(service: Service, token: str) -> Response:
    return await _pages(service, token).mute(service)


@router.post(f"{PATH}/manage/{{token}}/unmute")
async def unmute(service: Service, token: str) -> Response:
    return await _pages(service, token).unmute(service)


@router.post(f"{PATH}/manage/{{token}}/leave")
async def leave(service: Service, token: str) -> Response:
    return await _pages(service, token).leave(service)


@router.post(f"{PATH}/manage/{{token}}/remind")
async def remind(
    request: Request, service: Service, token: str, amount: Text = "", unit: Annotated[int, Form()] = 60
) -> Response:
    return await _pages(service, token).remind(request, service, amount, unit)


@router.post(f"{PATH}/manage/{{token}}/remind/{{reminder_id}}/cancel")
async def cancel_reminder(service: Service, token: str, reminder_id: RowId) -> Response:
    return await _pages(service, token).cancel_reminder(service, reminder_id)
