"""Everything that the curator serves: the reader's pages, and its API."""

from fastapi import APIRouter, Depends

from pressbox.core.web.pages.access import giving
from pressbox.curator.apps import pages as apps
from pressbox.curator.apps.reader_api import routes as reader_api
from pressbox.curator.ask import api as api_asking
from pressbox.curator.ask import pages as asking
from pressbox.curator.context import api as api_enriching
from pressbox.curator.context import pages as enriching
from pressbox.curator.evaluate import pages as evaluations
from pressbox.curator.graph import api as api_graph
from pressbox.curator.graph import pages as graph
from pressbox.curator.operations import cost_pages as costs
from pressbox.curator.reading import actions as acting
from pressbox.curator.reading import api
from pressbox.curator.reading import pages as reading
from pressbox.curator.reading.access import MakeService
from pressbox.curator.research import api as api_research
from pressbox.curator.research import pages as research
from pressbox.curator.sources import add_pages as adding
from pressbox.curator.sources import opml_pages as outlines
from pressbox.curator.sources import pages as sources
from pressbox.curator.translate import api as api_translating
from pressbox.curator.translate import pages as translating


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
