"""Everything that the curator serves: the reader's pages, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import provide_service
from pressbox.curator.reading.access import MakeService
from pressbox.curator.slices import SLICES


def build_router(make: MakeService) -> APIRouter:
    """The routes on the service that `make` gives for the connected parts."""
    router = APIRouter(dependencies=[Depends(provide_service("curator", make))])
    for part in SLICES:
        for one in part.routers():
            router.include_router(one)
    return router
