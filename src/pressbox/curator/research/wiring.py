"""Research: who plans, reads and writes, what is retrieved and read, and where runs are kept."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.audiences.members import AudienceKind
from pressbox.core.live.admission import audiences_by_id
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.articles.wiring import extractor
from pressbox.curator.ask.wiring import retriever
from pressbox.curator.graph.wiring import graph_store
from pressbox.curator.ingest.wiring import rate_limiter
from pressbox.curator.library.audiences import RESEARCHER
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain import RESEARCH_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.models.wiring import has_model, paid_model
from pressbox.curator.research.activities import ResearchActivities
from pressbox.curator.research.domain import Limits
from pressbox.curator.research.ports import GuardedLinkedPages, Researcher
from pressbox.curator.research.researchers import GraphNeighbours, ModelResearcher, OfflineResearcher
from pressbox.curator.research.service import ResearchService, ResearchStarter
from pressbox.curator.research.store import SqlReadings, SqlResearch, owns_run
from pressbox.curator.research.workflow import DeepResearchWorkflow
from pressbox.curator.settings import CuratorSettings, policy

if TYPE_CHECKING:
    from fastapi import APIRouter


def activities(resources: Resources) -> ActivitiesByQueue:
    database = resources.database
    pages = GuardedLinkedPages(
        GuardedPageReader(resources.http),
        extractor(resources),
        rate_limiter(resources),
    )
    research = ResearchActivities(
        SqlResearch(database), retriever(resources), SqlReadings(database), researcher(resources), pages
    )
    return {
        QUEUE: (research.open_research, research.close_research),
        HEAVY_QUEUE: (
            research.plan_research,
            research.search_for_research,
            research.read_for_research,
            research.check_research,
            research.write_research,
        ),
    }


def researcher(resources: Resources) -> Researcher:
    model = paid_model(resources)
    if model is not None:
        return ModelResearcher(model)
    graph = graph_store(resources.database)[1]
    return OfflineResearcher(GraphNeighbours(graph))


def research_service(resources: Resources) -> ResearchService:
    settings = resources.settings.group(CuratorSettings)
    starter = ResearchStarter(resources.temporal, QUEUE, policy(resources.settings), evaluate=settings.evaluation)
    limits = Limits(settings.research_rounds, settings.research_tokens, settings.research_minutes)
    return ResearchService(SqlResearch(resources.database), starter, limits, has_model=has_model(settings))


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.research import api, pages

    return api.router, pages.router


SLICE = Slice(
    workflows=(upgrading(DeepResearchWorkflow),),
    activities=activities,
    topics=(change_topic(RESEARCH_CHANGED, audiences_by_id(RESEARCHER), by_name=True),),
    audiences=(AudienceKind(RESEARCHER, owns_run),),
    routers=routers,
)
