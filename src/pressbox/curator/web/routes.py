"""Everything that the curator serves: the reader's pages, and its API."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.pages.access import giving
from pressbox.core.web.rendering import render
from pressbox.curator.web import acting, adding, api, outlines, reading, sources
from pressbox.curator.web.access import PATH, MakeService, Reader

# Stands in until the manifest has a service to build the routes on.
router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def index(request: Request, identity: Reader) -> HTMLResponse:
    return render(request, "curator/index.html", identity=identity)


def build_router(make: MakeService) -> APIRouter:
    """The routes on the service that `make` gives for the connected parts."""
    built = APIRouter(dependencies=[Depends(giving("curator", make))])
    for part in (api, reading, acting, adding, sources, outlines):
        built.include_router(part.router)
    return built
