"""All routes of soonish: its pages, the pages behind private links, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import provide_service
from pressbox.soonish.web import (
    agenda,
    api_announcements,
    api_channels,
    api_events,
    api_subscriptions,
    board,
    calendar_link,
    channels,
    editing,
    events,
    ledger,
    links,
    organisers,
    subscriptions,
)
from pressbox.soonish.web.access import MakeService


def build_router(make: MakeService) -> APIRouter:
    """The routes, on the service that `make` builds from the resources of the process."""
    router = APIRouter(dependencies=[Depends(provide_service("soonish", make))])
    # Routes with a fixed word come before the one that takes any slug.
    apis = (api_events, api_announcements, api_subscriptions, api_channels)
    for part in (
        *apis,
        links,
        calendar_link,
        agenda,
        subscriptions,
        channels,
        board,
        ledger,
        editing,
        organisers,
        events,
    ):
        router.include_router(part.router)
    return router
