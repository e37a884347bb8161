"""A feed that kills the worker is tried twice, named on its page, and costs the others nothing but a little time."""

import asyncio
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.curator.ingest.contracts import CrawlFeedInput, CrawlPageInput
from pressbox.curator.ingest.fetcher import SET_ASIDE
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy
from tests.conftest import Parts
from tests.e2e.curator.deadly_worker import CrawlAll, CrawlOne
from tests.fakes.curator_rows import Rows

POLICY = CuratorPolicy(feed_delay=timedelta(0))


@asynccontextmanager
async def kept_alive(*arguments: str, database_url: str) -> AsyncIterator[list[int]]:
    """A worker that is started again whenever it dies, and how each one ended."""
    ends: list[int] = []
    running: list[asyncio.subprocess.Process] = []

    async def keep() -> None:
        while True:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.e2e.curator.deadly_worker",
                *arguments,
                env=child_environment(PRESSBOX_DATABASE_URL=database_url),
            )
            running[:] = [process]
            ends.append(await process.wait())

    keeping = asyncio.create_task(keep())
    try:
        yield ends
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        for process in running:
            if process.returncode is None:
                process.kill()
                await process.wait()


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_a_feed_that_kills_the_worker_twice_is_set_aside_and_the_others_are_read(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    rows = Rows(database)
    reader = await rows.user()
    before, deadly, after = [await rows.feed(reader) for _ in range(3)]
    queue, told = f"deadly-{secrets.token_hex(4)}", tmp_path / "told"
    arguments = (parts.temporal_address, queue, str(deadly), str(told))
    async with kept_alive(*arguments, database_url=database_url) as ends:
        failed = await temporal.execute_workflow(
            CrawlAll.run, CrawlPageInput(policy=POLICY), id=f"{queue}-all", task_queue=queue
        )
        assert ends == [-signal.SIGKILL] * 2
        assert told.read_text().split() == ["begun"] * 2
        assert failed == 1
        for feed_id in (before, after):
            assert (await rows.state(feed_id)).outcome == CrawlOutcome.NEW
            assert len(await rows.ids(feed_id)) == 1
        state = await rows.state(deadly)
        assert (state.outcome, state.reason, state.next_crawl_at) == (SET_ASIDE.outcome, SET_ASIDE.reason, None)

        # Whoever asks gets an answer, after no more deaths than that.
        asked = await temporal.execute_workflow(
            CrawlOne.run, CrawlFeedInput(feed_id=deadly, policy=POLICY), id=f"{queue}-one", task_queue=queue
        )
        assert (asked.outcome, asked.reason) == (SET_ASIDE.outcome, SET_ASIDE.reason)
        assert ends == [-signal.SIGKILL] * 4
        assert told.read_text().split() == ["begun"] * 4
