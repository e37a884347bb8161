"""The workflows, activities and schedule of ingestion, and the rate limiter that all slices share."""

from datetime import timedelta

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.clock import utc_now
from pressbox.core.live.admission import audiences_by_id
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.articles.wiring import extractor, parser_pool
from pressbox.curator.distil.store import SqlDistilStore
from pressbox.curator.feeds.crawler import FeedCrawler
from pressbox.curator.feeds.parser import FeedParser
from pressbox.curator.ingest.activities import CrawlActivities, FetchActivities, LeftoverActivities
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetch_store import SqlFetchStore
from pressbox.curator.ingest.rate_limit_store import SqlHostRateLimits
from pressbox.curator.ingest.rate_limits import HostRateLimiter
from pressbox.curator.ingest.workflows.all_feeds import AllFeedsIngestionWorkflow
from pressbox.curator.ingest.workflows.domain_fetch import DomainFetchWorkflow
from pressbox.curator.ingest.workflows.preview import PreviewFetchWorkflow
from pressbox.curator.ingest.workflows.reprocess import ReprocessEntriesWorkflow
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain.audiences import ENTRY_READERS, FEED_READERS
from pressbox.curator.library.domain.changes import ENTRY_CHANGED, FEED_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.library.visibility import AUDIENCES
from pressbox.curator.search.store import SqlEmbeddingStore, SqlIndexStore
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings, policy


def activities(resources: Resources) -> ActivitiesByQueue:
    settings, database = resources.settings, resources.database
    feeds, entries, summaries = SqlFeeds(database), SqlFetchStore(database), SqlDistilStore(database)
    limiter = rate_limiter(resources)
    crawler = FeedCrawler(resources.http, FeedParser(parser_pool(resources)), policy(settings))
    embedding_model = embedder(settings.group(CuratorSettings)).model
    crawl = CrawlActivities(feeds, entries, crawler, limiter)
    leftovers = LeftoverActivities(
        feeds, summaries, SqlIndexStore(database), SqlEmbeddingStore(database), embedding_model
    )
    fetch = FetchActivities(
        entries, summaries, GuardedPageReader(resources.http), extractor(resources), limiter, resources.objects
    )
    return {
        QUEUE: (
            crawl.list_feeds,
            crawl.probe_feeds,
            crawl.crawl_single_feed,
            crawl.get_entries_to_fetch,
            leftovers.get_leftovers,
            fetch.get_entries,
            # For previews: people do not wait behind the articles of all feeds.
            fetch.fetch_single_content,
        ),
        HEAVY_QUEUE: (fetch.fetch_single_content, fetch.fetch_contents),
    }


def rate_limiter(resources: Resources) -> HostRateLimiter:
    curator = resources.settings.group(CuratorSettings)
    delays = {host: timedelta(seconds=seconds / curator.speed) for host, seconds in curator.host_delays.items()}
    return HostRateLimiter(SqlHostRateLimits(resources.database), utc_now, delays)


SLICE = Slice(
    workflows=(
        AllFeedsIngestionWorkflow,
        SingleFeedIngestionWorkflow,
        ScheduleFetchWorkflow,
        DomainFetchWorkflow,
        ReprocessEntriesWorkflow,
        PreviewFetchWorkflow,
    ),
    activities=activities,
    topics=(
        change_topic(FEED_CHANGED, audiences_by_id(FEED_READERS)),
        change_topic(ENTRY_CHANGED, audiences_by_id(ENTRY_READERS)),
    ),
    audiences=AUDIENCES,
)
