"""Pages with which an organiser creates, edits, publishes, cancels and deletes an event."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response
from starlette.datastructures import UploadFile

from pressbox.core.clock import utc_now
from pressbox.core.errors import ConflictError, PressboxError, TransientError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity, SignedInIdentity
from pressbox.core.web.rendering import render
from pressbox.core.web.times import ZONE_COOKIE
from pressbox.soonish.domain.agenda import may_reopen
from pressbox.soonish.domain.calendar_files import CalendarFile
from pressbox.soonish.domain.sentences import read_sentence
from pressbox.soonish.domain.times import load_zone
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import FORM_ERRORS, Service, error_field, error_text, redirect
from pressbox.soonish.web.event_form import Difference, EventForm, FileNotes, offered_zones

router = APIRouter(include_in_schema=False)

# What the page asks before one of these, and what its button says.
ACTS = {
    "cancel": ("Cancel the event?", "Cancel event"),
    "reopen": ("Reopen the event?", "Reopen event"),
    "delete": ("Delete the event?", "Delete event"),
}


Shared = Annotated[str, Query(max_length=10_000)]


@router.get(f"{PATH}/new")
async def new_form(
    request: Request,
    identity: SignedInIdentity,
    name: Shared = "",
    description: Shared = "",
    say: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """The empty form; or filled in with what somebody shared with Pressbox from another application.

    `say` is a sentence such as “Dinner with Anna on Friday at 19:30”, from which name and time are taken.
    """
    cookie = request.cookies.get(ZONE_COOKIE, "")
    zone = cookie if cookie in offered_zones() else "UTC"
    said = read_sentence(say, utc_now().astimezone(load_zone(zone)).replace(tzinfo=None))
    values = EventForm(
        name=name or said.name,
        start_date=said.start.isoformat(timespec="minutes") if said.start else "",
        description=description,
        timezone=zone,
        key=secrets.token_hex(8),
    )
    return _form(request, identity, values)


@router.post(f"{PATH}/new")
async def create(
    request: Request, service: Service, identity: SignedInIdentity, values: Annotated[EventForm, Depends()]
) -> Response:
    try:
        event = await service.events.create(identity.user_id, values.to_input())
    except FORM_ERRORS as error:
        return _form(request, identity, values, error=error)
    return redirect(f"{PATH}/{event.slug}/board?done=created")


@router.post(f"{PATH}/new/file")
async def fill_from_file(request: Request, service: Service, identity: SignedInIdentity) -> Response:
    """Show the form of a new event, filled from an .ics file; or the events of the file to choose one."""
    zone = request.cookies.get(ZONE_COOKIE, "")
    default = zone if zone in offered_zones() else "UTC"
    async with request.form(max_files=1, max_fields=10) as form:
        upload = form.get("calendar")
        data = await upload.read() if isinstance(upload, UploadFile) else b""
    try:
        file = await service.calendar_reader.read(identity.user_id, data, default, utc_now())
    except (*FORM_ERRORS, TransientError) as error:
        return _form(request, identity, EventForm(timezone=default, key=secrets.token_hex(8)), error=error)
    if file.count > 1:
        return _choice(request, identity, file)
    [entry] = file.offered
    return _filled(request, identity, EventForm.from_calendar(entry), FileNotes.of(entry))


@router.post(f"{PATH}/new/choice")
async def fill_from_choice(
    request: Request,
    identity: SignedInIdentity,
    values: Annotated[EventForm, Depends()],
    notes: Annotated[FileNotes, Depends()],
) -> Response:
    """Show the form of a new event, filled with the event of a file that was chosen."""
    return _filled(request, identity, values, notes)


@router.get(f"{PATH}/{{slug}}/edit")
async def edit_form(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> Response:
    event = await service.events.get_organised(identity.user_id, slug)
    return _form(request, identity, EventForm.of(event), event)


@router.post(f"{PATH}/{{slug}}/edit")
async def edit(
    request: Request, service: Service, identity: SignedInIdentity, slug: str, values: Annotated[EventForm, Depends()]
) -> Response:
    event = await service.events.get_organised(identity.user_id, slug)
    try:
        await service.events.edit(identity.user_id, slug, values.to_input(event))
    except FORM_ERRORS as error:
        saved = await service.events.get_organised(identity.user_id, slug)
        if not isinstance(error, ConflictError):
            return _form(request, identity, values, saved, error=error)
        opened = await service.events.get_version(identity.user_id, slug, values.opened_version or 0)
        if opened is not None:
            values = values.with_saved(EventForm.of(opened), EventForm.of(saved))
        # Saving again replaces what was saved meanwhile: by now both have been seen.
        again = replace(values, version=str(saved.version))
        return _form(request, identity, again, saved, error=error, differences=values.list_differences(saved))
    return redirect(f"{PATH}/{slug}/board?done=changed")


@router.post(f"{PATH}/{{slug}}/publish")
async def publish(service: Service, identity: SignedInIdentity, slug: str) -> Response:
    await service.events.activate(identity.user_id, slug)
    return redirect(f"{PATH}/{slug}/board")


@router.get(f"{PATH}/{{slug}}/cancel")
async def confirm_cancel(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> HTMLResponse:
    return await _confirm_end(request, service, identity, slug, "cancel")


@router.post(f"{PATH}/{{slug}}/cancel")
async def cancel(service: Service, identity: SignedInIdentity, slug: str) -> Response:
    await service.events.cancel(identity.user_id, slug)
    return redirect(f"{PATH}/{slug}/board?done=cancelled")


@router.get(f"{PATH}/{{slug}}/reopen")
async def confirm_reopen(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> HTMLResponse:
    return await _confirm_end(request, service, identity, slug, "reopen")


@router.post(f"{PATH}/{{slug}}/reopen")
async def reopen(service: Service, identity: SignedInIdentity, slug: str) -> Response:
    await service.events.reopen(identity.user_id, slug)
    return redirect(f"{PATH}/{slug}/board?done=reopened")


@router.get(f"{PATH}/{{slug}}/delete")
async def confirm_delete(request: Request, service: Service, identity: SignedInIdentity, slug: str) -> HTMLResponse:
    return await _confirm_end(request, service, identity, slug, "delete")


@router.post(f"{PATH}/{{slug}}/delete")
async def delete(service: Service, identity: SignedInIdentity, slug: str) -> Response:
    await service.events.delete(identity.user_id, slug)
    return redirect(PATH)


def _choice(request: Request, identity: Identity, file: CalendarFile) -> Response:
    choices = [(entry, EventForm.from_calendar(entry).fields_of_file()) for entry in file.offered]
    return render(request, "soonish/calendar_choice.html", identity=identity, file=file, choices=choices)


def _filled(request: Request, identity: Identity, values: EventForm, notes: FileNotes) -> Response:
    return _form(request, identity, replace(values, key=secrets.token_hex(8)), notes=notes)


def _form(
    request: Request,
    identity: Identity,
    values: EventForm,
    event: EventView | None = None,
    *,
    error: PressboxError | None = None,
    differences: Sequence[Difference] = (),
    notes: FileNotes | None = None,
) -> Response:
    zones = offered_zones()
    page = render(
        request,
        "soonish/event_form.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        values=values,
        zones=zones if values.timezone in zones else (values.timezone, *zones),
        action=f"{PATH}/{event.slug}/edit" if event else f"{PATH}/new",
        differences=differences,
        notes=notes,
        error=error_text(error),
        field=error_field(error),
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


async def _confirm_end(request: Request, service: Soonish, identity: Identity, slug: str, act: str) -> HTMLResponse:
    event = await service.events.get_organised(identity.user_id, slug)
    reach = await service.board.preview_reach(identity.user_id, slug)
    title, button = ACTS[act]
    return render(
        request,
        "soonish/event_end.html",
        identity=identity,
        event=event,
        act=act,
        title=title,
        button=button,
        reach=reach,
        may_reopen=may_reopen(event, utc_now()),
    )
