"""Sources: feeds that people follow, OPML, and the preview of extraction rules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import Resources
from pressbox.core.quotas.store import QuotaUses
from pressbox.curator.articles.wiring import parser_pool
from pressbox.curator.feeds.discovery import FeedDiscovery
from pressbox.curator.ingest.starter import ingest_starter
from pressbox.curator.library.slice import Slice
from pressbox.curator.settings import policy
from pressbox.curator.sources.service import OutlineService, SourceService
from pressbox.curator.sources.store import SqlCategories, SqlSubscriptions


def source_service(resources: Resources) -> SourceService:
    database = resources.database
    limits = policy(resources.settings)
    discovery = FeedDiscovery(resources.http, parser_pool(resources), limits.feed_bytes)
    return SourceService(
        SqlSubscriptions(database, limits.unread_at_start),
        SqlCategories(database),
        discovery,
        ingest_starter(resources),
        resources.objects,
        quotas=QuotaUses(database),
        shortest_interval=limits.shortest_interval,
    )


def outline_service(resources: Resources) -> OutlineService:
    subscriptions = SqlSubscriptions(resources.database, policy(resources.settings).unread_at_start)
    return OutlineService(subscriptions, resources.objects, ingest_starter(resources), parser_pool(resources))


if TYPE_CHECKING:
    from fastapi import APIRouter


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.sources import api, pages

    return api.router, pages.adding, pages.router


SLICE = Slice(routers=routers)
