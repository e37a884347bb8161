"""The line "fetch 3/5, distil 2/5": counted by children, for everybody who may see the source, across reloads."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic.alias_generators import to_camel

from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import Database
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.sink import store
from pressbox.curator.reading.panes import load_progress

NOW = datetime.now(UTC).replace(microsecond=0)

ANYBODY = Viewer(user_id=1)


async def report(
    database: Database,
    workflow_id: str,
    kind: str,
    parent: str | None = None,
    state: ProgressState = ProgressState.RUNNING,
    at: datetime = NOW,
    **detail: Any,
) -> None:
    update = ProgressUpdate(
        workflow_id=workflow_id,
        run_id="run",
        workflow_type=f"{kind}Workflow",
        task_queue="curator",
        parent_workflow_id=parent,
        state=state,
        title="Example News",
        done=0,
        total=None,
        message="",
        error="",
        detail={to_camel(name): value for name, value in detail.items()},
        audience=EVERYONE,
        started_at=at,
        updated_at=at,
    )
    async with database.unit_of_work() as work:
        await store(work, [update])


async def ingestion(database: Database, state: ProgressState = ProgressState.RUNNING) -> None:
    await report(
        database, "ingest-feed-7", "SingleFeedIngestion", state=state, feed_id=7, feed_name="News", total_entries=5
    )
    await report(database, "fetch-feed-7-1", "ScheduleFetch", "ingest-feed-7", state)
    await report(database, "fetch-feed-7-1-a", "DomainFetch", "fetch-feed-7-1", state, entries_fetched=2)
    await report(database, "fetch-feed-7-1-b", "DomainFetch", "fetch-feed-7-1", state, entries_fetched=1)
    await report(database, "distil-1", "ContentDistillation", "fetch-feed-7-1", entries_distilled=2)


async def test_children_count_for_their_source_while_it_runs(database: Database) -> None:
    await ingestion(database)
    (line,) = await load_progress(database, ANYBODY, {7}, None)
    assert (line.title, line.total, line.fetched, line.distilled) == ("News", 5, 3, 2)


async def test_shards_count_for_all_sources_while_they_fetch(database: Database) -> None:
    await report(database, "curator-ingest-1", "AllFeedsIngestion", entries_created=5, feeds_total=1, feeds_completed=1)
    await report(database, "curator-fetch-0", "ScheduleFetch", "curator-ingest-1", entries_fetched=3)
    await report(database, "curator-distil-0", "ContentDistillation", "curator-ingest-1", entries_distilled=1)
    (line,) = await load_progress(database, ANYBODY, {7}, None)
    assert (line.feeds_done, line.feeds_total, line.total, line.fetched, line.distilled) == (1, 1, 5, 3, 1)


async def test_summaries_that_outlive_the_fetching_are_still_shown(database: Database) -> None:
    await ingestion(database, ProgressState.COMPLETED)
    (line,) = await load_progress(database, ANYBODY, {7}, 7)
    assert (line.fetched, line.distilled, line.failed) == (3, 2, False)


async def test_what_an_earlier_run_under_the_same_ids_counted_is_not_counted_again(database: Database) -> None:
    before = NOW - timedelta(hours=1)
    await report(
        database, "distil-9", "ContentDistillation", "fetch-feed-7-1", ProgressState.COMPLETED, before,
        entries_distilled=9,
    )  # fmt: skip
    await ingestion(database)
    (line,) = await load_progress(database, ANYBODY, {7}, None)
    assert line.distilled == 2


async def test_work_on_sources_that_somebody_does_not_read_is_not_theirs_to_see(database: Database) -> None:
    await ingestion(database)
    assert await load_progress(database, ANYBODY, {8}, None) == []


async def test_nothing_is_shown_when_all_is_done(database: Database) -> None:
    await ingestion(database, ProgressState.COMPLETED)
    later = NOW + timedelta(seconds=1)
    await report(
        database, "distil-1", "ContentDistillation", "fetch-feed-7-1", ProgressState.COMPLETED, later,
        entries_distilled=5,
    )  # fmt: skip
    assert await load_progress(database, ANYBODY, {7}, None) == []
