"""The digest in a browser: the choice, what it would say now, and what was sent. All of it works without scripts."""

from datetime import time
from functools import cache
from typing import Annotated
from zoneinfo import available_timezones

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.clock import utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.core.web.pages.access import Parts, Reader, WorkViewer
from pressbox.core.web.rendering import render
from pressbox.core.web.times import ZONE_COOKIE
from pressbox.digest.domain import Choice, Rhythm, read_stamp, stamp
from pressbox.digest.service import PATH, DigestDesk, issue_path
from pressbox.digest.store import DigestStore, Issue

# People know the names with a continent; the rest are abbreviations and relics.
_CONTINENTS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")

router = APIRouter(include_in_schema=False)


def _store(parts: Parts) -> DigestStore:
    return DigestStore(parts.database)


def _desk(parts: Parts) -> DigestDesk:
    return DigestDesk(parts)


Store = Annotated[DigestStore, Depends(_store)]
Desk = Annotated[DigestDesk, Depends(_desk)]
Text = Annotated[str, Form(max_length=100)]


@cache
def offered_zones() -> tuple[str, ...]:
    return ("UTC", *sorted(name for name in available_timezones() if name.startswith(_CONTINENTS)))


def make_choice(rhythm: str, at: str, zone: str, weekday: int | str) -> Choice:
    """The choice that these words make, or what is wrong with them."""
    if rhythm not in set(Rhythm):
        raise InvalidInputError("Choose off, daily or weekly.", field="rhythm")
    try:
        clock = time.fromisoformat(at)
    except ValueError as error:
        raise InvalidInputError("Write the time as 07:30.", field="at") from error
    if clock.tzinfo is not None:
        raise InvalidInputError("Write the time as 07:30.", field="at")
    if zone not in available_timezones():
        raise InvalidInputError(f"{zone!r} is not a time zone. Use a name such as Europe/Berlin.", field="zone")
    if str(weekday) not in tuple("0123456"):
        raise InvalidInputError("Choose a day of the week.", field="weekday")
    return Choice(Rhythm(rhythm), clock.replace(second=0, microsecond=0), zone, int(weekday))


def browser_choice(request: Request) -> Choice:
    """What somebody begins with: off, in the zone of their browser."""
    zone = request.cookies.get(ZONE_COOKIE, "")
    return Choice(zone=zone if zone in available_timezones() else "UTC")


@router.get(PATH)
async def settings_page(
    request: Request,
    store: Store,
    identity: Reader,
    saved: Annotated[bool, Query()] = False,
    empty: Annotated[bool, Query()] = False,
) -> HTMLResponse:
    return await _show(request, store, identity.user_id, saved=saved, empty=empty)


@router.post(PATH)
async def save(
    request: Request,
    store: Store,
    identity: Reader,
    rhythm: Text = "off",
    at: Text = "07:30",
    zone: Text = "UTC",
    weekday: Text = "0",
) -> Response:
    try:
        choice = make_choice(rhythm, at, zone, weekday)
    except InvalidInputError as error:
        return await _show(request, store, identity.user_id, error=error, status=422)
    await store.save(identity.user_id, choice, utc_now())
    return RedirectResponse(f"{PATH}?saved=true", status_code=303)


@router.get(f"{PATH}/preview")
async def preview(request: Request, store: Store, desk: Desk, identity: Reader, viewer: WorkViewer) -> HTMLResponse:
    known = await store.load(identity.user_id)
    choice = known.choice if known else browser_choice(request)
    view = await desk.preview(identity.user_id, choice, viewer, identity.language)
    return render(request, "digest/issue.html", identity=identity, issue=view, shown=view.sections, is_preview=True)


@router.post(f"{PATH}/send")
async def send_now(request: Request, desk: Desk, identity: Reader) -> RedirectResponse:
    issue = await desk.send_now(identity.user_id, browser_choice(request))
    return RedirectResponse(issue_path(issue.period) if issue else f"{PATH}?empty=true", status_code=303)


@router.get(f"{PATH}/{{name}}")
async def issue_page(request: Request, store: Store, desk: Desk, identity: Reader, name: str) -> HTMLResponse:
    issue = await find_issue(store, identity.user_id, name)
    shown = await desk.show(identity.user_id, issue.sections)
    return render(request, "digest/issue.html", identity=identity, issue=issue, shown=shown, is_preview=False)


async def find_issue(store: DigestStore, user_id: int, name: str) -> Issue:
    period = read_stamp(name)
    issue = await store.load_issue(user_id, period) if period else None
    if issue is None:
        raise NotFoundError("There is no such digest of yours. They are kept for 90 days.")
    return issue


async def _show(
    request: Request,
    store: DigestStore,
    user_id: int,
    *,
    error: InvalidInputError | None = None,
    status: int = 200,
    saved: bool = False,
    empty: bool = False,
) -> HTMLResponse:
    known = await store.load(user_id)
    choice = known.choice if known else browser_choice(request)
    zones = offered_zones()
    return render(
        request,
        "digest/digest.html",
        status,
        choice=choice,
        due_at=known.due_at if known else None,
        issues=await store.list_issues(user_id),
        zones=zones if choice.zone in zones else (choice.zone, *zones),
        stamp=stamp,
        error=error.message if error else "",
        field=error.details.get("field") if error else "",
        saved=saved,
        empty=empty,
    )
