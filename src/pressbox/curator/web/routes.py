"""Everything that the curator serves: the reader's pages, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import giving
from pressbox.curator.web import acting, adding, api, outlines, reading, sources
from pressbox.curator.web.access import MakeService


def build_router(make: MakeService) -> APIRouter:
    """The routes on the service that `make` gives for the connected parts."""
    router = APIRouter(dependencies=[Depends(giving("curator", make))])
    for part in (api, reading, acting, adding, sources, outlines):
        router.include_router(part.router)
    return router
