"""Research: who plans, reads and writes, what is retrieved and read, and where runs are kept."""

from collections.abc import Mapping

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.curator.activities.researching import ResearchActivities
from pressbox.curator.activities.turns import Turns
from pressbox.curator.adapters.extraction.extractor import WorkshopExtractor
from pressbox.curator.adapters.host_turns import SqlHostTurns
from pressbox.curator.adapters.pages.reading import GuardedPageReader
from pressbox.curator.adapters.research_starter import ResearchStarter
from pressbox.curator.adapters.research_store import SqlReadings, SqlResearch
from pressbox.curator.adapters.researchers.links import GuardedLinkedPages
from pressbox.curator.adapters.researchers.model import ModelResearcher
from pressbox.curator.adapters.researchers.neighbours import GraphNeighbours
from pressbox.curator.adapters.researchers.offline import OfflineResearcher
from pressbox.curator.adapters.workshop.pool import Workshop
from pressbox.curator.domain.research import Limits
from pressbox.curator.ids import HEAVY_QUEUE, QUEUE
from pressbox.curator.ports.research import Researcher
from pressbox.curator.service.research import ResearchService
from pressbox.curator.wiring.asking import retriever
from pressbox.curator.wiring.graph import graph_store
from pressbox.curator.wiring.models import has_model, paid_model
from pressbox.curator.wiring.parts import Functions, policy


def activities(resources: Resources) -> Mapping[str, Functions]:
    database = resources.database
    pages = GuardedLinkedPages(
        GuardedPageReader(resources.http),
        # Its process starts with the first page that somebody wants read.
        WorkshopExtractor(Workshop(1)),
        Turns(SqlHostTurns(database), utc_now),
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


def service(resources: Resources) -> ResearchService:
    settings = resources.settings.curator
    starter = ResearchStarter(resources.temporal, QUEUE, policy(resources.settings), evaluate=settings.evaluation)
    limits = Limits(settings.research_rounds, settings.research_tokens, settings.research_minutes)
    return ResearchService(SqlResearch(resources.database), starter, limits, has_model=has_model(settings))
