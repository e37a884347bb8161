"""OPML in, with progress and the broken ones by name, and out."""

from typing import Annotated

from fastapi import APIRouter, Depends, File, Path, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.library.domain.changes import FEED_CHANGED
from pressbox.curator.reading.access import PATH, Reader, cursor
from pressbox.curator.sources.outlines import MOST_BYTES, OutlineService
from pressbox.curator.sources.wiring import outline_service

router = APIRouter(include_in_schema=False)

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
