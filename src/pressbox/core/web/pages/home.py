"""The first page: what somebody wants to see in ten seconds, in the order that they like."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from pressbox.core.today.arrangement import Step
from pressbox.core.today.front_page import arrange, declared_sections, load_arrangement, load_front_page, reset
from pressbox.core.web.pages.access import Parts, Reader, WorkViewer
from pressbox.core.web.rendering import render

ARRANGE_PATH = "/today/arrange"
# As long as the name of a section may be.
Key = Annotated[str, Form(max_length=40)]

router = APIRouter(include_in_schema=False)


@router.get("/")
async def home(request: Request, parts: Parts, identity: Reader, viewer: WorkViewer) -> HTMLResponse:
    page = await load_front_page(parts, viewer, request.app.state.manifests)
    return render(request, "home.html", identity=identity, view=page)


@router.get("/today/live")
async def today_part(request: Request, parts: Parts, identity: Reader, viewer: WorkViewer) -> HTMLResponse:
    """Only what may change: the first page asks for it again when something of it does."""
    page = await load_front_page(parts, viewer, request.app.state.manifests)
    return render(request, "_today.html", identity=identity, view=page)


@router.get(ARRANGE_PATH)
async def arrange_page(
    request: Request, parts: Parts, identity: Reader, moved: Annotated[str, Query(max_length=80)] = ""
) -> HTMLResponse:
    """`moved` is the button that was pressed last, which keeps the focus."""
    declared = declared_sections(request.app.state.manifests)
    order = await load_arrangement(parts.database, identity.user_id, tuple(declared))
    return render(request, "arrange.html", identity=identity, order=order, declared=declared, moved=moved)


@router.post(ARRANGE_PATH)
async def arrange_section(
    request: Request, parts: Parts, identity: Reader, key: Key, step: Annotated[Step, Form()]
) -> RedirectResponse:
    declared = declared_sections(request.app.state.manifests)
    known = key if key in declared else ""
    if known:
        await arrange(parts.database, identity.user_id, tuple(declared), known, step)
    return RedirectResponse(f"{ARRANGE_PATH}?moved={known}.{step}", status_code=303)


@router.post(f"{ARRANGE_PATH}/reset")
async def reset_page(parts: Parts, identity: Reader) -> RedirectResponse:
    await reset(parts.database, identity.user_id)
    return RedirectResponse(ARRANGE_PATH, status_code=303)
