"""The workflows, activities and schedule of ingestion, and the rate limiter that all slices share."""

from datetime import timedelta

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.clock import utc_now
from pressbox.core.live.admission import audiences_by_id
from pressbox.core.temporal.pinning import pinned, upgrading
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.articles.wiring import extractor, parser_pool
from pressbox.curator.distil.store import SqlDistilQueue, SqlDistilStore
from pressbox.curator.feeds.crawler import FeedCrawler
from pressbox.curator.feeds.parser import FeedParser
from pressbox.curator.ingest.activities import CrawlActivities, FetchActivities, LeftoverActivities, WorkQueues
from pressbox.curator.ingest.comparer import PooledComparer
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetch_store import SqlFetchStore
from pressbox.curator.ingest.fetcher import ArticleFetcher, FeedProber, HostRateLimiter
from pressbox.curator.ingest.page_activities import CrawlPages, FetchPages
from pressbox.curator.ingest.queues import SqlCrawlQueue, SqlFetchQueue, SqlHostRateLimits
from pressbox.curator.ingest.workflows.all_feeds import AllFeedsIngestionWorkflow
from pressbox.curator.ingest.workflows.fetch import DomainFetchWorkflow, PreviewFetchWorkflow
from pressbox.curator.ingest.workflows.reprocess import ReprocessEntriesWorkflow
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.audiences import ENTRY_READERS, FEED_READERS
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain import ENTRY_CHANGED, FEED_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.library.store import AUDIENCES
from pressbox.curator.search.store import SqlEmbeddingStore, SqlIndexStore
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings, policy


def activities(resources: Resources) -> ActivitiesByQueue:
    settings, database = resources.settings, resources.database
    feeds, entries, summaries = (
        SqlFeeds(database, PooledComparer(parser_pool(resources))),
        SqlFetchStore(database),
        SqlDistilStore(database),
    )
    limiter = rate_limiter(resources)
    crawler = FeedCrawler(resources.http, FeedParser(parser_pool(resources)), policy(settings))
    embedding_model = embedder(settings.group(CuratorSettings)).model
    crawl = CrawlActivities(feeds, entries, crawler, limiter)
    queues = WorkQueues(
        SqlCrawlQueue(database), SqlFetchQueue(database, own_paces(resources)), SqlDistilQueue(database)
    )
    leftovers = LeftoverActivities(
        feeds, summaries, SqlIndexStore(database), SqlEmbeddingStore(database), embedding_model, queues
    )
    fetcher = ArticleFetcher(GuardedPageReader(resources.http), extractor(resources), limiter)
    fetch = FetchActivities(entries, summaries, fetcher, resources.objects)
    crawl_pages = CrawlPages(queues.crawl, FeedProber(feeds, crawler, limiter))
    fetch_pages = FetchPages(queues.fetch, fetcher)
    return {
        QUEUE: (
            crawl.list_feeds,
            crawl.probe_feeds,
            crawl.crawl_single_feed,
            crawl.get_entries_to_fetch,
            crawl_pages.crawl_due_feeds,
            leftovers.get_leftovers,
            leftovers.find_due_work,
            fetch.get_entries,
            # For previews: people do not wait behind the articles of all feeds.
            fetch.fetch_single_content,
        ),
        HEAVY_QUEUE: (fetch.fetch_single_content, fetch.fetch_contents, fetch_pages.fetch_due_contents),
    }


def rate_limiter(resources: Resources) -> HostRateLimiter:
    return HostRateLimiter(SqlHostRateLimits(resources.database), utc_now, own_paces(resources))


def own_paces(resources: Resources) -> dict[str, timedelta]:
    """The delays of domains that want another one than the rest."""
    curator = resources.settings.group(CuratorSettings)
    return {host: timedelta(seconds=seconds / curator.speed) for host, seconds in curator.host_delays.items()}


SLICE = Slice(
    workflows=(
        upgrading(AllFeedsIngestionWorkflow),
        pinned(SingleFeedIngestionWorkflow),
        upgrading(ScheduleFetchWorkflow),
        pinned(DomainFetchWorkflow),
        pinned(ReprocessEntriesWorkflow),
        pinned(PreviewFetchWorkflow),
    ),
    activities=activities,
    topics=(
        change_topic(FEED_CHANGED, audiences_by_id(FEED_READERS)),
        change_topic(ENTRY_CHANGED, audiences_by_id(ENTRY_READERS)),
    ),
    audiences=AUDIENCES,
)
