"""The work on texts by itself, without a database or a worker: what benchmarks measure of it."""

from pressbox.curator.articles.extraction import article_of as article_of
from pressbox.curator.articles.extractor import PooledExtractor
from pressbox.curator.articles.html_text import text_of as text_of
from pressbox.curator.articles.ports import Extractor
from pressbox.curator.context.offline import OfflineContextExtractor
from pressbox.curator.context.ports import ContextExtractor
from pressbox.curator.distil.summary import summarise as summarise
from pressbox.curator.feeds.reader import FeedReader as FeedReader
from pressbox.curator.library.parser_pool import ParserPool as ParserPool
from pressbox.curator.text.plain_text import plain_text as plain_text


def context_finder(parsers: ParserPool) -> ContextExtractor:
    """Without a model."""
    return OfflineContextExtractor(parsers)


def extractor(parsers: ParserPool) -> Extractor:
    return PooledExtractor(parsers)
