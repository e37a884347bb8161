"""A worker that crawls for real and is killed by one feed, as by a library that crashes or never comes back.

Arguments: the address of Temporal, the task queue, the id of the feed, and a file with a line for each crawl of it. The
database is in the environment.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio import workflow
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.workflow import ActivityConfig

from pressbox.core.clock import utc_now
from pressbox.core.config import TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.temporal.calls import call
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BOUNDED, PAGES
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.activities import CrawlActivities
from pressbox.curator.ingest.contracts import CrawledPage, CrawlFeedInput, CrawlFeedResult, CrawlPageInput
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetch_store import SqlFetchStore
from pressbox.curator.ingest.fetcher import FeedProber, HostRateLimiter
from pressbox.curator.ingest.page_activities import CrawlPages
from pressbox.curator.ingest.queues import SqlCrawlQueue, SqlHostRateLimits
from tests.fakes.curator_rows import ComparerHere, entry, read

# In seconds.
MISSED = 10.0
BEAT = 0.3


def hurried(config: ActivityConfig) -> ActivityConfig:
    """What is waited for after a death is not what is tested."""
    changed = ActivityConfig(**config)
    changed["heartbeat_timeout"] = timedelta(seconds=MISSED)
    return changed


@workflow.defn
class CrawlAll:
    @workflow.run
    async def run(self, input: CrawlPageInput) -> int:
        """Return how many failed."""
        failed, page = 0, CrawledPage(waiting=1)
        while page.waiting:
            page = await call(CrawlPages.crawl_due_feeds, input, hurried(PAGES))
            failed += page.failed
        return failed


@workflow.defn
class CrawlOne:
    @workflow.run
    async def run(self, input: CrawlFeedInput) -> CrawlFeedResult:
        return await call(CrawlActivities.crawl_single_feed, input, hurried(BOUNDED))


class Deadly:
    def __init__(self, feed_id: int, told: Path) -> None:
        self._feed_id = feed_id
        self._told = told

    async def crawl(self, feed: FeedToCrawl) -> Crawl:
        if feed.feed_id == self._feed_id:
            with self._told.open("a") as file:
                file.write("begun\n")
            # Until Temporal knows that it was begun.
            await asyncio.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        return read(entry(1))


async def main(address: str, queue: str, feed_id: int, told: Path) -> None:
    client = await connect(TemporalSettings(), address, lazy=False)
    database = Database(os.environ["PRESSBOX_DATABASE_URL"])
    feeds, crawler = SqlFeeds(database, ComparerHere()), Deadly(feed_id, told)
    limiter = HostRateLimiter(SqlHostRateLimits(database), utc_now)
    pages = CrawlPages(SqlCrawlQueue(database), FeedProber(feeds, crawler, limiter))
    one = CrawlActivities(feeds, SqlFetchStore(database), crawler, limiter)
    await Worker(
        client,
        task_queue=queue,
        workflows=[CrawlAll, CrawlOne],
        activities=[pages.crawl_due_feeds, one.crawl_single_feed],
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_heartbeat_throttle_interval=timedelta(seconds=BEAT),
    ).run()


if __name__ == "__main__":
    defaults = Heartbeat.__init__.__kwdefaults__
    assert defaults is not None
    defaults["every_seconds"] = BEAT
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))
