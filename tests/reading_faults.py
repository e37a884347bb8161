"""Ingestion by workers that are killed again and again, and the judgement: nothing missing, nothing twice."""

import asyncio
import re
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text
from temporalio.client import Client, WorkflowFailureError

from pressbox.core.config import HttpSettings, Settings
from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.core.temporal.faults import list_planted
from pressbox.curator.cleanup.contracts import ENTRIES_CLEANUP, EntriesCleanupInput
from pressbox.curator.ingest.contracts import (
    PREVIEW_FETCH,
    REPROCESS_ENTRIES,
    SINGLE_FEED_INGESTION,
    PreviewFetchInput,
    ReprocessEntriesInput,
    SingleFeedIngestionInput,
    preview_key,
)
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.search.contracts import (
    EMBEDDING_BACKFILL,
    SEARCH_PRUNE,
    SEARCH_REINDEX,
    EmbeddingBackfillInput,
    SearchPruneInput,
    SearchReindexInput,
)
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.wiring import index_path
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.news.library import articles, variation
from pressbox.demo.simulators.distillation_script import write_distillation
from pressbox.demo.simulators.model import MODEL, ModelService
from pressbox.demo.simulators.news_site import NewsSite
from tests.conftest import TEST_KEY, Parts
from tests.patience import patience
from tests.reading_room import ReadingRoom, open_room, reading_resources, running

# The digest lists what the harbour lists: the same story twice, to be paid for once.
FEEDS = ("harbour", "umland", "digest")
SECTIONS = ("harbour", "umland")
FIRST_ARTICLES = 3
SETTLE_SECONDS = patience(400)
BETWEEN_LOOKS = 0.3
OLD_DAYS = 40
QUEUES = (
    f"{QUEUE}:workflows",
    f"{QUEUE}:activities",
    f"{QUEUE}:activities",
    HEAVY_QUEUE,
    # Only one process may write the index.
    INDEX_QUEUE,
)

_READ = text("""
    INSERT INTO curator.entry_states (user_id, entry_id, read_at)
    SELECT :reader, id, now() FROM curator.entries WHERE guid LIKE :guid
    ON CONFLICT DO NOTHING
""")
_MARK = re.compile(r"the mark ([0-9a-f]{12}) in the archive")
_PAID = text("SELECT count(*) FROM core.paid_requests WHERE outcome = 'answered'")


@dataclass
class Disturbed:
    """A reading room whose workers die, on a press that goes on publishing."""

    room: ReadingRoom
    site: NewsSite
    model: ModelService
    faults: Path
    published: int = 0
    old: list[str] = field(default_factory=list)

    @property
    def temporal(self) -> Client:
        return self.room.resources.temporal

    def publish(self) -> None:
        """One more article in each section, each with a mark that no other has."""
        for section in SECTIONS:
            self.site.publish(variation(self.published, section))
        self.published += 1

    def publish_old(self) -> None:
        article = variation(10_000 + len(self.old), "umland")
        self.site.publish(article, datetime.now(UTC) - timedelta(days=OLD_DAYS))
        self.old.append(article.slug)

    def left(self) -> list[str]:
        return [fault.filename for fault in list_planted(self.faults)]

    async def ingest(self) -> None:
        """As often as it takes: what a run could not do is for the next."""
        while True:
            with suppress(WorkflowFailureError):
                await self.room.ingest()
                return

    async def until_struck(self) -> None:
        """New articles in every round: each brings all steps again."""
        async with asyncio.timeout(SETTLE_SECONDS):
            while self.left():
                self.publish()
                await self.ingest()

    async def upkeep(self, number: int) -> None:
        """All that is not ingestion: one feed alone, entries again, preview, index, vectors, cleanup."""
        feed = (await self.room.feeds())[0]
        entries = await self.room.entries()
        policy = self.room.policy
        await self.do(SINGLE_FEED_INGESTION, SingleFeedIngestionInput(feed_id=feed.id, policy=policy))
        some = tuple(row.id for row in entries[:2])
        await self.do(REPROCESS_ENTRIES, ReprocessEntriesInput(entry_ids=some, policy=policy))
        key = preview_key(secrets.token_hex(4))
        await self.do(PREVIEW_FETCH, PreviewFetchInput(url=entries[0].url, preview_key=key))
        await self.do(SEARCH_REINDEX, SearchReindexInput(batch_size=5, clean=number % 2 == 0))
        await self.clean_up()
        await self.do(SEARCH_PRUNE, SearchPruneInput(batch_size=5))
        await self.do(EMBEDDING_BACKFILL, EmbeddingBackfillInput(batch_size=5))

    async def clean_up(self) -> None:
        """What was read and is old goes, and must not come back."""
        async with self.room.resources.database.unit_of_work() as work:
            for slug in self.old:
                await work.session.execute(_READ, {"reader": self.room.user_id, "guid": f"%:{slug}"})
        await self.do(ENTRIES_CLEANUP, EntriesCleanupInput(older_than_days=OLD_DAYS // 2))

    async def do(self, workflow: str, input: Contract) -> None:
        while True:
            with suppress(WorkflowFailureError):
                name = f"{workflow}-{secrets.token_hex(6)}"
                await self.temporal.execute_workflow(workflow, input, id=name, task_queue=QUEUE)
                return

    async def settle(self) -> None:
        """Until every entry went all the way; the schedule would do the same, every few minutes."""
        async with asyncio.timeout(SETTLE_SECONDS):
            while True:
                await self.ingest()
                unfinished = [
                    (row.title, row.fetch_state, row.fetch_reason, row.distil_state, row.indexed, row.embedded)
                    for row in await self.room.entries()
                    if (row.fetch_state, row.distil_state, row.indexed, row.embedded)
                    != ("fetched", "distilled", True, True)
                ]
                if not unfinished:
                    return
                await asyncio.sleep(BETWEEN_LOOKS)

    async def judge(self) -> None:
        """Every entry once, whole, in the ledger once, in the index once."""
        entries = await self.room.entries()
        by_id = {row.id: row.url for row in await self.room.feeds()}
        found = sorted((by_id[row.feed_id], row.title) for row in entries)
        kept = [
            (self.site.feed_url(name), article.title)
            for name in FEEDS
            for article in self.site.published(name)
            if article.slug not in self.old
        ]
        assert found == sorted(kept), "none is missing, doubled, or back after it was cleaned up"
        assert all(row.words > 100 for row in entries)
        asked = Counter(mark for call in self.model.asked for mark in _marks(" ".join(call.texts)))
        again = sum(times - 1 for times in asked.values())
        # Nobody knows what a model was answering when its worker died: one batch may be asked for again, and no more.
        assert again <= CuratorPolicy().distil_batch, {mark: times for mark, times in asked.items() if times > 1}
        async with self.room.resources.database.unit_of_work() as work:
            assert await work.session.scalar(_PAID) == len(asked), "every answer is in the ledger"
        documents = await _documents(self.room)
        assert sorted(documents) == sorted(row.id for row in entries), "each is in the index once"


def _marks(said: str) -> list[str]:
    """Which articles a model was asked about."""
    return _MARK.findall(said)


async def _documents(room: ReadingRoom) -> Sequence[int]:
    index = TantivyIndex(index_path(room.resources.settings))
    found: list[int] = []
    while batch := await index.document_ids(found[-1] if found else 0, 100):
        found.extend(batch)
    return found


@contextmanager
def workers(environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "tests.e2e.forking_worker", *QUEUES]
    process = subprocess.Popen(command, env=child_environment(**environment), stdout=subprocess.DEVNULL)
    try:
        yield process
        assert process.poll() is None, "the workers run, or are being started again"
    finally:
        process.terminate()
        process.wait(patience(20))


@asynccontextmanager
async def disturbed(
    parts: Parts, database_url: str, database: Database, temporal: Client, folder: Path
) -> AsyncIterator[Disturbed]:
    everything = [article.slug for article in articles()]
    async with NewsSite(held=everything) as site, ModelService(script=write_distillation) as model:
        allowed = (f"127.0.0.1:{site.port}", f"127.0.0.1:{model.port}")
        curator = CuratorSettings(host_delay_seconds=0.0)
        settings = Settings(
            home=folder / "home", secret_key=TEST_KEY, http=HttpSettings(allow=allowed), applications=(curator,)
        )
        environment = {
            "PRESSBOX_HOME": str(folder / "home"),
            "PRESSBOX_DATABASE_URL": database_url,
            "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
            "PRESSBOX_SECRET_KEY": TEST_KEY.get_secret_value(),
            "PRESSBOX_HTTP_ALLOW": ",".join(allowed),
            "PRESSBOX_TESTING_FAULTS_DIRECTORY": str(folder / "faults"),
            "PRESSBOX_WORKER_HEALTH_PORT": "0",
            "PRESSBOX_LOG_LEVEL": "error",
            "PRESSBOX_CURATOR_HOST_DELAY_SECONDS": "0",
            "PRESSBOX_CURATOR_DISTILLER": "llm",
            "PRESSBOX_CURATOR_MODEL_URL": model.base_url,
            "PRESSBOX_CURATOR_MODEL_NAME": MODEL,
            "PRESSBOX_CURATOR_TOKENS_PER_DAY": "100000000",
        }
        async with reading_resources(settings, database, temporal) as resources:
            for workflow_id in await running(temporal):
                await temporal.get_workflow_handle(workflow_id).terminate("left by another test")
            run = Disturbed(await open_room(resources), site, model, folder / "faults")
            for _ in range(FIRST_ARTICLES):
                run.publish()
            await run.room.subscribe([site.feed_url(name) for name in FEEDS])
            with workers(environment):
                yield run
