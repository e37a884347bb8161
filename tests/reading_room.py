"""A curator with its real stores, index and workflows, for tests that read the simulated press."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text
from temporalio.client import Client

from pressbox.core.app import Resources
from pressbox.core.config import ObjectsSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.factory import open_store
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.worker import build_workers
from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.ingest.contracts import ALL_FEEDS_INGESTION, INGEST_WORKFLOW, AllFeedsIngestionInput
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.manifest import APP
from pressbox.curator.settings import policy
from pressbox.curator.sources.store import SqlSubscriptions
from pressbox.demo.standstill import describe_running
from tests.patience import patience

_FEEDS = text("""
    SELECT feed.id, feed.url, state.outcome, state.reason, state.status, state.failures, state.next_crawl_at,
        (SELECT count(*) FROM curator.feed_errors AS error WHERE error.feed_id = feed.id) AS errors
    FROM curator.feeds AS feed LEFT JOIN curator.feed_state AS state ON state.feed_id = feed.id
    ORDER BY feed.id
""")
_ENTRIES = text("""
    SELECT entry.id, entry.feed_id, entry.guid, entry.url, entry.title, entry.published_at, entry.dated,
        entry.first_seen_at, entry.fetch_state, entry.fetch_reason, entry.distil_state, entry.summary, entry.words,
        entry.story_id, entry.indexed_hash = entry.shown_hash AS indexed, body.full_content, body.feed_content,
        EXISTS (SELECT FROM curator.entry_embeddings AS vector WHERE vector.entry_id = entry.id) AS embedded
    FROM curator.entries AS entry LEFT JOIN curator.entry_bodies AS body ON body.entry_id = entry.id
    ORDER BY entry.id
""")
# Ids are parts of workflow ids, and all tests share one server.
_SEQUENCES = ("curator.feeds_id_seq", "curator.entries_id_seq")

# A busy machine is not a wrong one. Shorter than what tests around it allow, so that a failure says what it waited for.
SETTLE_SECONDS = patience(300)
BETWEEN_LOOKS = 0.4


@dataclass(frozen=True)
class ReadingRoom:
    """One reader and the workflows that read for them."""

    resources: Resources
    user_id: int

    @property
    def policy(self) -> CuratorPolicy:
        return policy(self.resources.settings)

    async def subscribe(self, urls: Iterable[str]) -> dict[str, int]:
        """Feeds by address, due at once. Nothing is started."""
        feeds = [OutlineFeed(url) for url in urls]
        await SqlSubscriptions(self.resources.database).subscribe_many(self.user_id, feeds, datetime.now(UTC))
        return {row.url: row.id for row in await self.feeds()}

    async def ingest(self, *, only_due: bool = False) -> None:
        """One run over all feeds, until it and all that it left to itself are at their end."""
        input = AllFeedsIngestionInput(only_due=only_due, policy=self.policy)
        await self.resources.temporal.execute_workflow(ALL_FEEDS_INGESTION, input, id=INGEST_WORKFLOW, task_queue=QUEUE)
        await self.until_nothing_runs()

    async def until_nothing_runs(self) -> None:
        """Lists of workflows lag behind, so twice."""
        quiet = 0
        deadline = asyncio.get_running_loop().time() + SETTLE_SECONDS
        while quiet < 2:
            quiet = 0 if await running(self.resources.temporal) else quiet + 1
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"It does not end:\n{await describe_running(self.resources.temporal)}")
            await asyncio.sleep(BETWEEN_LOOKS)

    async def pause(self, feed_id: int) -> None:
        await SqlSubscriptions(self.resources.database).pause(self.user_id, feed_id, True, datetime.now(UTC))

    async def feeds(self) -> Sequence[Any]:
        async with self.resources.database.unit_of_work() as work:
            return (await work.session.execute(_FEEDS)).all()

    async def entries(self) -> Sequence[Any]:
        async with self.resources.database.unit_of_work() as work:
            return (await work.session.execute(_ENTRIES)).all()


async def open_room(resources: Resources) -> ReadingRoom:
    """On an empty database."""
    async with resources.database.unit_of_work() as work:
        for sequence in _SEQUENCES:
            await work.session.execute(text(f"ALTER SEQUENCE {sequence} RESTART WITH {random.randrange(10**6, 10**9)}"))
        user_id = await work.session.scalar(
            text(
                "INSERT INTO core.users (email, name, password_hash, role)"
                " VALUES ('reader@example.org', '', 'unusable', 'member') RETURNING id"
            )
        )
    assert isinstance(user_id, int)
    return ReadingRoom(resources, user_id)


@asynccontextmanager
async def reading_resources(settings: Settings, database: Database, temporal: Client) -> AsyncIterator[Resources]:
    store = open_store(ObjectsSettings(), settings.home / "objects")
    async with GuardedClient(settings.http) as http:
        yield Resources(settings, database, temporal, store, http)


@asynccontextmanager
async def working(resources: Resources) -> AsyncIterator[None]:
    """All workers of the curator, in this process."""
    sink = ProgressSink(resources.database)
    writing = asyncio.create_task(sink.run())
    workers = build_workers(resources, [APP], sink)
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        yield
    finally:
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        writing.cancel()
        await asyncio.gather(*running, writing, return_exceptions=True)


async def running(temporal: Client) -> list[str]:
    query = f"TaskQueue = '{QUEUE}' AND ExecutionStatus = 'Running'"
    return [found.id async for found in temporal.list_workflows(query)]
