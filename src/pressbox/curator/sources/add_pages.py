"""Adding sources: by an address, which may lead to several feeds, or by an OPML file."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Path, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError, PermanentError, PressboxError, TransientError
from pressbox.core.web.identity import Identity
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.library.domain.changes import FEED_CHANGED
from pressbox.curator.reading.access import PATH, Reader, cursor
from pressbox.curator.sources.domain import FoundFeedView
from pressbox.curator.sources.opml import MOST_BYTES, OutlineService
from pressbox.curator.sources.pages import Sources, category_of
from pressbox.curator.sources.service import SourceService
from pressbox.curator.sources.wiring import outline_service

router = APIRouter(include_in_schema=False)

ADD_PATH = f"{PATH}/add"
Address = Annotated[str, Query(max_length=2000)]
Text = Annotated[str, Form(max_length=2000)]


@router.get(ADD_PATH)
async def add_page(request: Request, service: Sources, identity: Reader, address: Address = "") -> HTMLResponse:
    """Without an address the empty form; with one what was found there."""
    if not address.strip():
        return await _page(request, service, identity, address)
    try:
        found = await service.discover(identity.user_id, address)
    except (InvalidInputError, PermanentError, TransientError) as error:
        return await _page(request, service, identity, address, problem=error)
    return await _page(request, service, identity, address, found=found)


@router.post(ADD_PATH)
async def add(
    request: Request,
    service: Sources,
    identity: Reader,
    url: Text,
    title: Text = "",
    category: Text = "",
    new_category: Text = "",
) -> Response:
    try:
        category_id = await category_of(service, identity, category, new_category)
        feed = await service.subscribe(identity.user_id, url, title=title, category_id=category_id)
    except InvalidInputError as error:
        return await _page(request, service, identity, url, problem=error)
    return RedirectResponse(f"{PATH}?list=feed&id={feed.id}", status_code=303)


async def _page(
    request: Request,
    service: SourceService,
    identity: Identity,
    address: str,
    *,
    found: Sequence[FoundFeedView] = (),
    problem: PressboxError | None = None,
) -> HTMLResponse:
    return render(
        request,
        "curator/add.html",
        problem.status if problem else 200,
        identity=identity,
        address=address,
        found=found,
        error=problem.message if problem else "",
        categories=(await service.sources(identity.user_id)).categories,
    )


Outlines = Annotated[OutlineService, Depends(provide(outline_service))]
IMPORT_PATH = f"{PATH}/import"
ImportId = Annotated[str, Path(max_length=20)]
# Of the failing ones the page names so many; the page of sources has all.
FAILING_SHOWN = 50


@router.get(IMPORT_PATH)
async def import_page(request: Request, identity: Reader) -> HTMLResponse:
    return render(request, "curator/import.html", identity=identity, error="")


@router.post(IMPORT_PATH)
async def take(request: Request, service: Outlines, identity: Reader, file: Annotated[UploadFile, File()]) -> Response:
    try:
        report = await service.take(identity.user_id, await file.read(MOST_BYTES + 1))
    except InvalidInputError as error:
        return render(request, "curator/import.html", error.status, identity=identity, error=error.message)
    return RedirectResponse(f"{IMPORT_PATH}/{report.id}", status_code=303)


@router.get(f"{IMPORT_PATH}/{{import_id}}")
async def report_page(request: Request, service: Outlines, identity: Reader, import_id: ImportId) -> HTMLResponse:
    return await _report(request, service, identity, import_id, "curator/imported.html")


@router.get(f"{IMPORT_PATH}/{{import_id}}/live")
async def report_part(request: Request, service: Outlines, identity: Reader, import_id: ImportId) -> HTMLResponse:
    """The part of the page that follows changes, alone."""
    return await _report(request, service, identity, import_id, "curator/_imported.html")


async def _report(request: Request, service: Outlines, identity: Reader, import_id: str, template: str) -> HTMLResponse:
    at = await cursor(request)
    report = await service.progress(identity.user_id, import_id)
    return render(
        request,
        template,
        identity=identity,
        report=report,
        failing=report.failing[:FAILING_SHOWN],
        cursor=at,
        follow=FEED_CHANGED,
    )
