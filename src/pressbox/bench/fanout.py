"""How long it takes until every browser knows of a commit, compared with the same number of clients that poll."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from urllib.parse import urlsplit
from uuid import uuid4

from sqlalchemy import select

from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow
from pressbox.core.progress.sink import store

OPEN_SECONDS = 60.0
HEAR_SECONDS = 30.0
OPEN_AT_ONCE = 50


@dataclass(frozen=True)
class FanOut:
    """Seconds from the commit until the last client knew of it, or until the last poll was answered."""

    last: float
    median: float
    polled: float


class StreamClient:
    """A minimal reader of an event stream, so that the cost of the server is measured and not ours."""

    def __init__(self, web_url: str) -> None:
        self._address = urlsplit(web_url)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> "StreamClient":
        host, port = self._address.hostname, self._address.port
        self._reader, self._writer = await asyncio.open_connection(host, port)
        request = f"GET /api/stream?topics={WORKFLOW_CHANGED} HTTP/1.1\r\nHost: {self._address.netloc}\r\n\r\n"
        self._writer.write(request.encode())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    async def wait_for(self, word: str) -> float:
        """Return when a line with this word arrived."""
        assert self._reader is not None
        sought = word.encode()
        async for line in self._reader:
            if sought in line:
                return time.perf_counter()
        raise TransientError("The event stream ended early. Look at the log of the web process.")


async def measure_fan_out(web_url: str, database: Database, *, clients: int) -> FanOut:
    async with AsyncExitStack() as stack:
        places = asyncio.Semaphore(OPEN_AT_ONCE)

        async def open_one() -> StreamClient:
            async with places:
                client = await stack.enter_async_context(StreamClient(web_url))
                await client.wait_for("event: hello")
                return client

        async with asyncio.timeout(OPEN_SECONDS):
            streams = await asyncio.gather(*(open_one() for _ in range(clients)))
        workflow_id = f"bench-fanout-{uuid4()}"
        hearing = [asyncio.create_task(stream.wait_for(workflow_id)) for stream in streams]
        committed = await _commit_change(database, workflow_id)
        async with asyncio.timeout(HEAR_SECONDS):
            heard = sorted(await asyncio.gather(*hearing))
    return FanOut(
        last=heard[-1] - committed,
        median=heard[len(heard) // 2] - committed,
        polled=await _measure_polling(database, workflow_id, clients),
    )


async def _commit_change(database: Database, workflow_id: str) -> float:
    now = datetime.now(UTC)
    async with database.unit_of_work() as work:
        await store(
            work,
            [
                ProgressUpdate(
                    workflow_id=workflow_id,
                    run_id=workflow_id,
                    workflow_type="BenchStepsWorkflow",
                    task_queue="bench",
                    parent_workflow_id=None,
                    state=ProgressState.COMPLETED,
                    title="Measuring",
                    done=1,
                    total=1,
                    message="",
                    error="",
                    detail={},
                    audience=EVERYONE,
                    started_at=now,
                    updated_at=now,
                )
            ],
        )
    return time.perf_counter()


async def _measure_polling(database: Database, workflow_id: str, clients: int) -> float:
    """Let every client query the table once at the same time: the least that polling could cost."""

    async def ask() -> None:
        async with database.unit_of_work() as work:
            await work.session.scalar(select(ProgressRow.state).where(ProgressRow.workflow_id == workflow_id))

    began = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(clients)))
    return time.perf_counter() - began
