"""Everything that soonish serves: its pages, the pages behind signed links, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import giving
from pressbox.soonish.web import (
    api_announcements,
    api_channels,
    api_events,
    api_subscriptions,
    board,
    events,
    links,
    people,
)
from pressbox.soonish.web.access import MakeService


def build_router(make: MakeService) -> APIRouter:
    """The routes on the service that `make` gives for the connected parts."""
    router = APIRouter(dependencies=[Depends(giving("soonish", make))])
    # Addresses with a fixed word come before the one that takes any slug.
    apis = (api_events, api_announcements, api_subscriptions, api_channels)
    for part in (*apis, links, people, board, events):
        router.include_router(part.router)
    return router
