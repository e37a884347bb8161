"""Context, cards from GitHub and pages behind links: what is made of an entry beside its summary."""

from collections.abc import Sequence

from fastapi import APIRouter

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.clock import utc_now
from pressbox.core.errors import ConfigurationError
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.articles.wiring import extractor, parser_pool
from pressbox.curator.cards.choice import EvidentChooser, ModelChooser
from pressbox.curator.cards.github import GitHub
from pressbox.curator.cards.github_activities import RepositoryActivities
from pressbox.curator.cards.link_activities import LinkedPageActivities
from pressbox.curator.cards.store import SqlEnrichments
from pressbox.curator.cards.workflows.delete_enrichment import DeleteEnrichmentWorkflow
from pressbox.curator.cards.workflows.entry_links import FetchEntryLinksWorkflow
from pressbox.curator.context.activities import ContextActivities, Way
from pressbox.curator.context.domain.context import ContextMethod
from pressbox.curator.context.finder import VERSION
from pressbox.curator.context.model import ModelContextExtractor
from pressbox.curator.context.offline import OfflineContextExtractor, PooledLinks
from pressbox.curator.context.ports import ContextExtractor, Contexts
from pressbox.curator.context.prompt import PROMPT_VERSION
from pressbox.curator.context.service import EnrichingService
from pressbox.curator.context.starter import TemporalContextWorkflows
from pressbox.curator.context.store import SqlContexts
from pressbox.curator.context.workflows.collection import ContextCollectionWorkflow
from pressbox.curator.context.workflows.context import ExtractEntryContextWorkflow
from pressbox.curator.ingest.rate_limit_store import SqlHostTurns
from pressbox.curator.ingest.rate_limits import Turns
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain.changes import ENRICHMENT_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.settings import ContextKind, CuratorSettings, policy


def context_extractor(resources: Resources) -> ContextExtractor:
    """The extractor that the settings ask for."""
    curator = resources.settings.group(CuratorSettings)
    offline = OfflineContextExtractor(parser_pool(resources))
    if curator.context is ContextKind.OFFLINE:
        return offline
    model = paid_model(resources)
    if model is None:
        raise ConfigurationError(
            "PRESSBOX_CURATOR_CONTEXT=llm needs PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME. "
            "Set them, or PRESSBOX_CURATOR_CONTEXT=offline."
        )
    return ModelContextExtractor(model, offline)


def contexts(resources: Resources) -> Contexts:
    return SqlContexts(resources.database)


def context_way(resources: Resources) -> Way:
    """How contexts are made by these settings."""
    curator = resources.settings.group(CuratorSettings)
    if curator.context is ContextKind.OFFLINE:
        return Way(ContextMethod.OFFLINE, "", VERSION)
    return Way(ContextMethod.LLM, curator.model_name or "", PROMPT_VERSION)


def activities(resources: Resources) -> ActivitiesByQueue:
    curator, database = resources.settings.group(CuratorSettings), resources.database
    store, cards, turns = SqlContexts(database), SqlEnrichments(database), Turns(SqlHostTurns(database), utc_now)
    model = paid_model(resources)
    context = ContextActivities(
        store,
        context_extractor(resources),
        resources.objects,
        PooledLinks(parser_pool(resources)),
        store,
        context_way(resources),
    )
    github = RepositoryActivities(
        store,
        cards,
        GitHub(resources.http, curator.github_url, curator.github_key, parser_pool(resources)),
        EvidentChooser() if model is None else ModelChooser(model),
        resources.objects,
        turns,
        curator.github_url,
    )
    pages = LinkedPageActivities(cards, GuardedPageReader(resources.http), extractor(resources), turns)
    return {
        QUEUE: (
            context.get_entry,
            context.save_entry_context,
            github.search_github_candidates,
            github.save_github_enrichment,
            pages.delete_enrichment,
        ),
        HEAVY_QUEUE: (
            context.extract_entry_context,
            context.save_entry_links,
            github.rerank_github_results,
            github.fetch_github_readme,
            pages.fetch_and_save_entry_links,
        ),
    }


def service(resources: Resources) -> EnrichingService:
    starter = TemporalContextWorkflows(resources.temporal, QUEUE, policy(resources.settings))
    return EnrichingService(SqlEnrichments(resources.database), starter)


def routers() -> Sequence[APIRouter]:
    from pressbox.curator.context import api, pages

    return api.router, pages.router


SLICE = Slice(
    workflows=(
        ExtractEntryContextWorkflow,
        ContextCollectionWorkflow,
        FetchEntryLinksWorkflow,
        DeleteEnrichmentWorkflow,
    ),
    activities=activities,
    topics=(change_topic(ENRICHMENT_CHANGED),),
    routers=routers,
)
