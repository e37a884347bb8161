"""EntriesCleanupWorkflow: deletes what everybody has read, or could have for long, and nobody kept."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.temporal.calls import call
    from pressbox.curator.cleanup.activities import CleanupActivities
    from pressbox.curator.cleanup.contracts import (
        CleanupInput,
        EntriesCleanupInput,
        EntriesCleanupOutput,
        EntriesCleanupProgress,
    )
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.search.workflows import remove_orphans

MOST_ROUNDS = 500


@workflow.defn
class EntriesCleanupWorkflow:
    """Deletes old entries that everybody has read and nobody starred, marked up, noted or labelled.

    What nobody reads goes too, after half a year or as the settings say.

    Id `curator-cleanup-…`; started daily by the schedule `curator-cleanup`, or by hand. A dry run only counts. What was
    deleted does not come back with the next crawl, and leaves the search index.
    """

    @workflow.init
    def __init__(self, input: EntriesCleanupInput) -> None:
        first = EntriesCleanupProgress(title="Old articles", audience=ADMINISTRATORS, routine=input.routine)
        self._progress = ProgressReporter(first)

    @workflow.query
    def get_progress(self) -> EntriesCleanupProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: EntriesCleanupInput) -> EntriesCleanupOutput:
        began = workflow.info().start_time
        before = began - timedelta(days=input.older_than_days)
        unread_before = began - timedelta(days=input.unread_older_than_days) if input.unread_older_than_days else None
        deleted = 0
        for _ in range(MOST_ROUNDS):
            wanted = CleanupInput(before=before, unread_before=unread_before, dry_run=input.dry_run)
            cleaned = await call(CleanupActivities.cleanup_old_entries, wanted)
            deleted += cleaned.deleted
            self._progress.update(done=deleted, deleted=deleted, message=f"{deleted} deleted")
            if input.dry_run or not cleaned.more:
                break
        if not input.dry_run:
            await remove_orphans()
        self._progress.complete(message="Nothing was deleted" if input.dry_run else f"{deleted} deleted")
        return EntriesCleanupOutput(deleted_count=deleted, cutoff_date=before)
