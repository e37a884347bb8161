"""The worker's end of progress: many reports in, one latest row per workflow out, and a change for the browsers.

Reports are kept in memory, newest per workflow, and written every 300 ms; final states at once. When the database is
away they wait here, bounded by the number of workflows, and nothing that runs is disturbed.
"""

import asyncio
import json
import threading
from collections.abc import Iterable
from typing import Any

from prometheus_client import Counter
from sqlalchemy import text

from pressbox.core.addresses import hide_addresses
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger, redact
from pressbox.core.progress.contracts import ProgressUpdate
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow

log = get_logger(__name__)

THROTTLE_SECONDS = 0.3
RETRY_SECONDS = 2.0

REPORTS = Counter("pressbox_progress_reports", "Reports that workflows gave to the sink")
WRITES = Counter("pressbox_progress_writes", "Progress rows that were written")


class ProgressSink:
    """`offer` may be called from any thread and never blocks; `run` writes until it is cancelled."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._latest: dict[str, ProgressUpdate] = {}
        self._lock = threading.Lock()
        self._urgent = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def offer(self, update: ProgressUpdate) -> None:
        REPORTS.inc()
        with self._lock:
            self._latest[update.workflow_id] = _newest(self._latest.get(update.workflow_id), update)
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
        WRITES.inc(len(batch))
        try:
            async with self._database.unit_of_work() as work:
                await store(work, batch.values())
        # Cancelled or failed, the reports must not get lost: they go back, behind newer ones.
        except BaseException:
            with self._lock:
                for workflow_id, newer in self._latest.items():
                    batch[workflow_id] = _newest(batch.get(workflow_id), newer)
                self._latest = batch
            raise

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._urgent.wait(), seconds)
        except TimeoutError:
            return
        self._urgent.clear()


def _newest(known: ProgressUpdate | None, update: ProgressUpdate) -> ProgressUpdate:
    """An end stays an end: what still goes on in a workflow when it ends may report once more, in the same instant."""
    ended = known is not None and known.run_id == update.run_id and known.state.final and not update.state.final
    return known if known is not None and ended else update


_COLUMNS = [column.name for column in ProgressRow.__table__.columns if not column.primary_key]
# One statement for a whole flush: built row by row it would cost the worker milliseconds for each report. The rows are
# sorted, because two workers that lock them in different orders would wait for each other.
_UPSERT = text(
    f"""
    INSERT INTO core.workflow_progress AS kept
    SELECT * FROM jsonb_populate_recordset(NULL::core.workflow_progress, CAST(:reports AS jsonb)) ORDER BY workflow_id
    ON CONFLICT (workflow_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)}
    WHERE kept.updated_at < excluded.updated_at
       -- The last report and the end often share one instant of workflow time: an end always wins.
       OR (kept.updated_at = excluded.updated_at AND kept.closed_at IS NULL)
    RETURNING workflow_id
    """  # noqa: S608 - only names of our own columns
)


async def store(work: UnitOfWork, updates: Iterable[ProgressUpdate]) -> None:
    """Upsert the newest state of each workflow; what is older than the row is dropped."""
    reports = [_to_row(update) for update in updates]
    written = await work.session.scalars(_UPSERT, {"reports": json.dumps(reports)})
    for workflow_id in written:
        work.changed(WORKFLOW_CHANGED, workflow_id)


def _to_row(update: ProgressUpdate) -> dict[str, Any]:
    """Without secrets, and of addresses only the hosts: what is shown to many must not open anything."""
    detail = json.dumps(update.detail)
    return update.model_dump(mode="json", exclude={"audience"}) | {
        "title": redact(hide_addresses(update.title)),
        "message": redact(hide_addresses(update.message)),
        "error": redact(hide_addresses(update.error)),
        "detail": json.loads(redact(hide_addresses(detail))) if "://" in detail else update.detail,
        "audience": update.audience.kind,
        "audience_id": update.audience.id,
        "closed_at": update.updated_at.isoformat() if update.state.final else None,
    }
