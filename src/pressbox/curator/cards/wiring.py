"""Cards: repositories from GitHub and pages behind links, and the tab of an article that shows them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.live.admission import audiences_by_id
from pressbox.core.temporal.pinning import pinned, upgrading
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.articles.wiring import extractor, parser_pool
from pressbox.curator.cards.activities import LinkedPageActivities, RepositoryActivities
from pressbox.curator.cards.choice import EvidentChooser, ModelChooser
from pressbox.curator.cards.github import GitHub
from pressbox.curator.cards.service import CardService, CardStarter
from pressbox.curator.cards.store import SqlEnrichments
from pressbox.curator.cards.workflows.collection import ContextCollectionWorkflow
from pressbox.curator.cards.workflows.links import DeleteEnrichmentWorkflow, FetchEntryLinksWorkflow
from pressbox.curator.context.store import SqlContexts
from pressbox.curator.ingest.wiring import rate_limiter
from pressbox.curator.library.audiences import ENTRY_READERS
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain import ENRICHMENT_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.settings import CuratorSettings, policy

if TYPE_CHECKING:
    from fastapi import APIRouter


def activities(resources: Resources) -> ActivitiesByQueue:
    curator, database = resources.settings.group(CuratorSettings), resources.database
    cards, limiter = SqlEnrichments(database), rate_limiter(resources)
    model = paid_model(resources)
    github = RepositoryActivities(
        SqlContexts(database),
        cards,
        GitHub(resources.http, curator.github_url, curator.github_key, parser_pool(resources)),
        EvidentChooser() if model is None else ModelChooser(model),
        resources.objects,
        limiter,
        curator.github_url,
    )
    pages = LinkedPageActivities(cards, GuardedPageReader(resources.http), extractor(resources), limiter)
    return {
        QUEUE: (github.search_github_candidates, github.save_github_enrichment, pages.delete_enrichment),
        HEAVY_QUEUE: (
            github.rerank_github_results,
            github.fetch_github_readme,
            pages.fetch_and_save_entry_links,
        ),
    }


def card_service(resources: Resources) -> CardService:
    starter = CardStarter(resources.temporal, QUEUE, policy(resources.settings))
    return CardService(SqlEnrichments(resources.database), starter)


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.cards import api, pages
    from pressbox.curator.reading.extensions import offer_tab

    offer_tab(pages.CONTEXT_TAB)
    return api.router, pages.router


SLICE = Slice(
    workflows=(upgrading(ContextCollectionWorkflow), pinned(FetchEntryLinksWorkflow), pinned(DeleteEnrichmentWorkflow)),
    activities=activities,
    topics=(change_topic(ENRICHMENT_CHANGED, audiences_by_id(ENTRY_READERS)),),
    routers=routers,
)
