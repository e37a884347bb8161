"""The parser pool of a process, and the extractor that uses it."""

from weakref import WeakKeyDictionary

from pressbox.core.app import Resources
from pressbox.core.db.database import Database
from pressbox.curator.articles.extraction import PooledExtractor
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.settings import CuratorSettings

_POOLS: WeakKeyDictionary[Database, ParserPool] = WeakKeyDictionary()


def parser_pool(resources: Resources) -> ParserPool:
    """The one pool of these resources, so that all slices together start no more processes than the settings allow."""
    if resources.database not in _POOLS:
        size = resources.settings.group(CuratorSettings).heavy_concurrency
        pool = _POOLS[resources.database] = ParserPool(size)
        resources.exits.push_async_callback(pool.close)
    return _POOLS[resources.database]


def extractor(resources: Resources) -> PooledExtractor:
    return PooledExtractor(parser_pool(resources))
