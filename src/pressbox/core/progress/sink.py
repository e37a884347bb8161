"""The worker's end of progress: many reports in, one latest row per workflow out, and a change for the browsers.

Reports are kept in memory, newest per workflow, and written every 300 ms; final states at once. When the database is
away they wait here, bounded by the number of workflows, and nothing that runs is disturbed.
"""

import asyncio
import threading
from collections.abc import Iterable

from sqlalchemy import or_
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger, redact
from pressbox.core.progress.contracts import ProgressUpdate
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow

log = get_logger(__name__)

THROTTLE_SECONDS = 0.3
RETRY_SECONDS = 2.0


class ProgressSink:
    """`offer` may be called from any thread and never blocks; `run` writes until it is cancelled."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._latest: dict[str, ProgressUpdate] = {}
        self._lock = threading.Lock()
        self._urgent = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def offer(self, update: ProgressUpdate) -> None:
        with self._lock:
            self._latest[update.workflow_id] = update
        if update.state.final:
            self._loop.call_soon_threadsafe(self._urgent.set)

    async def run(self) -> None:
        try:
            while True:
                await self._pause(THROTTLE_SECONDS)
                try:
                    await self.flush()
                except TransientError as error:
                    log.warning("progress_waits", msg=error.message, workflows=len(self._latest))
                    await asyncio.sleep(RETRY_SECONDS)
        finally:
            # The last reports of a stopping worker; if the database is away too, visibility closes them later.
            await self.flush()

    async def flush(self) -> None:
        with self._lock:
            batch, self._latest = self._latest, {}
        if not batch:
            return
        try:
            async with self._database.unit_of_work() as work:
                await store(work, batch.values())
        # Cancelled or failed, the reports must not get lost: they go back, behind newer ones.
        except BaseException:
            with self._lock:
                self._latest = {**batch, **self._latest}
            raise

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._urgent.wait(), seconds)
        except TimeoutError:
            return
        self._urgent.clear()


async def store(work: UnitOfWork, updates: Iterable[ProgressUpdate]) -> None:
    """Upsert the newest state of each workflow; what is older than the row is dropped."""
    # Sorted, because two workers that lock the same rows in different orders would wait for each other.
    for update in sorted(updates, key=lambda item: item.workflow_id):
        values = update.model_dump() | {
            "message": redact(update.message),
            "error": redact(update.error),
            "closed_at": update.updated_at if update.state.final else None,
        }
        statement = insert(ProgressRow).values(values)
        statement = statement.on_conflict_do_update(
            index_elements=[ProgressRow.workflow_id],
            set_={name: statement.excluded[name] for name in values if name != "workflow_id"},
            where=or_(
                ProgressRow.updated_at < statement.excluded.updated_at,
                # The last report and the end often share one instant of workflow time: an end always wins.
                (ProgressRow.updated_at == statement.excluded.updated_at) & ProgressRow.closed_at.is_(None),
            ),
        )
        written = await work.session.execute(statement.returning(ProgressRow.workflow_id))
        if written.first() is not None:
            work.changed(WORKFLOW_CHANGED, update.workflow_id)
