"""Context, cards from GitHub and pages behind links: what is made of an entry beside its summary."""

from pressbox.core.app import Resources
from pressbox.curator.adapters.context.offline import OfflineContextExtractor
from pressbox.curator.adapters.context_store import SqlContexts
from pressbox.curator.adapters.workshop.pool import Workshop
from pressbox.curator.ports.enriching import ContextExtractor, Contexts


def context_extractor(resources: Resources, workshop: Workshop | None = None) -> ContextExtractor:
    """The one of the settings. Processes start with the first piece of work."""
    return OfflineContextExtractor(workshop or Workshop(resources.settings.curator.heavy_concurrency))


def contexts(resources: Resources) -> Contexts:
    return SqlContexts(resources.database)
