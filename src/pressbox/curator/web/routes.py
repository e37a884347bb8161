"""Everything that the curator serves: the reader's pages, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import giving
from pressbox.curator.web import (
    acting,
    adding,
    api,
    api_asking,
    api_enriching,
    api_graph,
    api_research,
    api_translating,
    apps,
    asking,
    costs,
    enriching,
    evaluations,
    graph,
    outlines,
    reading,
    research,
    sources,
    translating,
)
from pressbox.curator.web.access import MakeService
from pressbox.curator.web.reader_api import routes as reader_api


def build_router(make: MakeService) -> APIRouter:
    """The routes on the service that `make` gives for the connected parts."""
    router = APIRouter(dependencies=[Depends(giving("curator", make))])
    for part in (
        api,
        api_asking,
        api_enriching,
        api_graph,
        api_research,
        api_translating,
        translating,
        reading,
        asking,
        acting,
        adding,
        sources,
        outlines,
        apps,
        costs,
        enriching,
        evaluations,
        graph,
        research,
    ):
        router.include_router(part.router)
    router.include_router(reader_api.build_router())
    return router
