"""Context: who finds out what an entry is about, and where that is stored."""

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.errors import ConfigurationError
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.articles.wiring import parser_pool
from pressbox.curator.context.activities import ContextActivities, ContextExtractor, ContextMaker, Contexts
from pressbox.curator.context.domain import ContextMethod
from pressbox.curator.context.finder import VERSION, OfflineContextExtractor, PooledLinks
from pressbox.curator.context.model import PROMPT_VERSION, ModelContextExtractor
from pressbox.curator.context.store import SqlContexts
from pressbox.curator.context.workflow import ExtractEntryContextWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.settings import ContextKind, CuratorSettings


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


def context_maker(resources: Resources) -> ContextMaker:
    """How contexts are made by these settings."""
    curator = resources.settings.group(CuratorSettings)
    if curator.context is ContextKind.OFFLINE:
        return ContextMaker(ContextMethod.OFFLINE, "", VERSION)
    return ContextMaker(ContextMethod.LLM, curator.model_name or "", PROMPT_VERSION)


def activities(resources: Resources) -> ActivitiesByQueue:
    store = SqlContexts(resources.database)
    context = ContextActivities(
        store,
        context_extractor(resources),
        resources.objects,
        PooledLinks(parser_pool(resources)),
        store,
        context_maker(resources),
    )
    return {
        QUEUE: (context.get_entry, context.save_entry_context),
        HEAVY_QUEUE: (context.extract_entry_context, context.save_entry_links),
    }


SLICE = Slice(workflows=(upgrading(ExtractEntryContextWorkflow),), activities=activities)
