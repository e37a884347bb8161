"""The page of a person's own apps: passwords for them, lists as feeds; and these feeds themselves."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import RedirectResponse, Response

from pressbox.core.accounts.models import Actor
from pressbox.core.config import Settings
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError
from pressbox.core.web.identity import Identity, actor_of, is_secure
from pressbox.core.web.pages.access import provide
from pressbox.core.web.proof import ProvedIdentity
from pressbox.core.web.rendering import render
from pressbox.curator.apps.formats import Told, atom, newest_of
from pressbox.curator.apps.service import AppService, ViewService
from pressbox.curator.apps.wiring import app_service, view_service
from pressbox.curator.reading.access import LARGEST_ID, PATH, Here, Place, Reader
from pressbox.curator.reading.domain import Selection

router = APIRouter(include_in_schema=False)

Apps = Annotated[AppService, Depends(provide(app_service))]
Views = Annotated[ViewService, Depends(provide(view_service))]
By = Annotated[Actor, Depends(actor_of)]
APPS_PATH = f"{PATH}/apps"
OUT_PATH = f"{PATH}/out"
# Carries a new password over the redirect, for this page of this browser and a minute at most.
NEW_PASSWORD_COOKIE = "pressbox_new_app_password"  # noqa: S105 - the name of a cookie
NEW_PASSWORD_SECONDS = 60
LONGEST_PASSWORD = 40

Number = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Text = Annotated[str, Form(max_length=500)]


@dataclass(frozen=True)
class NamedList:
    """A list and what it is called, as templates ask for it."""

    selection: Selection
    name: str


@router.get(APPS_PATH)
async def apps_page(request: Request, apps: Apps, views: Views, identity: Reader, place: Here) -> Response:
    carried = request.cookies.get(NEW_PASSWORD_COOKIE, "")
    page = await _page(request, apps, views, identity, place, new_password=carried[:LONGEST_PASSWORD])
    if carried:
        page.delete_cookie(NEW_PASSWORD_COOKIE, path=APPS_PATH, httponly=True, samesite="strict")
    return page


@router.post(f"{APPS_PATH}/passwords")
async def add_password(
    request: Request, apps: Apps, views: Views, by: By, identity: ProvedIdentity, place: Here, name: Text = ""
) -> Response:
    try:
        made = await apps.add_password(identity.user_id, name, by=by)
    except (InvalidInputError, ConflictError) as error:
        return await _page(request, apps, views, identity, place, problem=error)
    answer = RedirectResponse(f"{APPS_PATH}#passwords", status_code=HTTPStatus.SEE_OTHER)
    answer.set_cookie(
        NEW_PASSWORD_COOKIE,
        made.secret,
        max_age=NEW_PASSWORD_SECONDS,
        path=APPS_PATH,
        secure=is_secure(request.app.state.settings),
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post(f"{APPS_PATH}/passwords/{{password_id}}/revoke")
async def revoke_password(apps: Apps, by: By, identity: Reader, password_id: Number) -> Response:
    await apps.revoke_password(identity.user_id, password_id, by=by)
    return RedirectResponse(f"{APPS_PATH}#passwords", status_code=HTTPStatus.SEE_OTHER)


@router.post(f"{APPS_PATH}/views")
async def add_view(
    request: Request, apps: Apps, views: Views, by: By, identity: ProvedIdentity, place: Here, full: Text = ""
) -> Response:
    try:
        made = await views.create(identity.user_id, place.selection, full_text=full == "yes", by=by)
    except ConflictError as error:
        return await _page(request, apps, views, identity, place, problem=error)
    return RedirectResponse(f"{APPS_PATH}#view-{made.id}", status_code=HTTPStatus.SEE_OTHER)


@router.post(f"{APPS_PATH}/views/{{view_id}}/revoke")
async def revoke_view(views: Views, by: By, identity: Reader, view_id: Number) -> Response:
    await views.revoke(identity.user_id, view_id, by=by)
    return RedirectResponse(f"{APPS_PATH}#views", status_code=HTTPStatus.SEE_OTHER)


@router.get(f"{OUT_PATH}/{{token}}.xml")
async def view_as_feed(request: Request, views: Views, token: Annotated[str, Path(max_length=100)]) -> Response:
    """Whoever has the address, which nobody can guess, may read; no session is needed, and no search engine invited."""
    feed, contents = await views.read(token)
    title = f"{feed.name}: {feed.selection.query}" if feed.selection.query else feed.name
    about = Told(
        id=f"urn:pressbox:view:{feed.id}",
        title=f"{title} · Pressbox",
        address=f"{_base(request)}{OUT_PATH}/{token}.xml",
        html_address=f"{_base(request)}{PATH}",
        full_text=feed.full_text,
    )
    content = atom(about, contents.items)
    newest = newest_of(contents.items)
    headers = {
        "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        "Last-Modified": format_datetime(newest, usegmt=True),
        "Cache-Control": "private, no-cache",
        "X-Robots-Tag": "noindex, nofollow",
        "Referrer-Policy": "no-referrer",
    }
    if _is_known(request, headers["ETag"], newest):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type="application/atom+xml; charset=utf-8", headers=headers)


async def _page(
    request: Request,
    apps: Apps,
    views: Views,
    identity: Identity,
    place: Place,
    *,
    new_password: str = "",
    problem: PressboxError | None = None,
) -> Response:
    chosen = place.selection
    return render(
        request,
        "curator/apps.html",
        problem.status if problem else HTTPStatus.OK,
        identity=identity,
        passwords=await apps.passwords(identity.user_id),
        views=await views.all(identity.user_id),
        wanted=NamedList(chosen, await views.name(identity.user_id, chosen)),
        query=place.query(keep_moment=False),
        new_password=new_password,
        error=problem.message if problem else "",
        base=_base(request),
        out=OUT_PATH,
    )


def _base(request: Request) -> str:
    settings: Settings = request.app.state.settings
    return (settings.web.public_url or str(request.base_url)).rstrip("/")


def _is_known(request: Request, tag: str, newest: datetime) -> bool:
    """By the tag when there is one: it also knows what is gone; the date is for those who keep nothing else."""
    known = request.headers.get("if-none-match")
    if known is not None:
        return known.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in known.split(","))
    since = request.headers.get("if-modified-since", "")
    try:
        moment = parsedate_to_datetime(since)
    except ValueError:
        return False
    # A date without a zone is one that says -0000, and means UTC.
    return newest.replace(microsecond=0) <= (moment if moment.tzinfo else moment.replace(tzinfo=UTC))
