"""Everything that footy serves: its pages, the files of clips, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import giving
from pressbox.footy.web import api, clips, days, follow, matches
from pressbox.footy.web.access import MakeService


def build_router(make: MakeService) -> APIRouter:
    """The routes on the service that `make` gives for the connected parts."""
    router = APIRouter(dependencies=[Depends(giving("footy", make))])
    # Addresses with a fixed word come before the one that takes any day.
    for part in (api, clips, matches, follow, days):
        router.include_router(part.router)
    return router
