"""The work on texts by itself, without a database or a worker: what benchmarks measure of it."""

from pressbox.curator.adapters.context.offline import OfflineContextExtractor
from pressbox.curator.adapters.distillers.summarising import summarise as summarise
from pressbox.curator.adapters.extraction.extractor import WorkshopExtractor
from pressbox.curator.adapters.extraction.finding import article_of as article_of
from pressbox.curator.adapters.feeds.reading import FeedReader as FeedReader
from pressbox.curator.adapters.plain_text import plain_text as plain_text
from pressbox.curator.adapters.sanitising.text import text_of as text_of
from pressbox.curator.adapters.workshop.pool import Workshop as Workshop
from pressbox.curator.ports.enriching import ContextExtractor
from pressbox.curator.ports.outside import Extractor


def context_finder(workshop: Workshop) -> ContextExtractor:
    """Without a model."""
    return OfflineContextExtractor(workshop)


def extractor(workshop: Workshop) -> Extractor:
    return WorkshopExtractor(workshop)
