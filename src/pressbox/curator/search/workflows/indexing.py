"""Bringing the search index up to what is shown, in the middle of another workflow."""

from pressbox.core.temporal.calls import call_best_effort
from pressbox.curator.search.activities.index import IndexActivities
from pressbox.curator.search.contracts import IndexBatchInput, RemoveDocumentsInput

# More than one run should do; the next one goes on.
MOST_ROUNDS = 40


async def catch_up(batch: int) -> int:
    """Entries that are not indexed as they are shown, and documents of entries that are gone. By state, so any time."""
    indexed = 0
    for _ in range(MOST_ROUNDS):
        done = await call_best_effort(IndexActivities.index_entries_batch, IndexBatchInput(limit=batch))
        if done is None or not done.indexed:
            break
        indexed += done.indexed
    await forget_removed()
    return indexed


async def forget_removed() -> int:
    removed = 0
    for _ in range(MOST_ROUNDS):
        gone = await call_best_effort(IndexActivities.remove_documents_from_index, RemoveDocumentsInput())
        if gone is None:
            break
        removed += gone.removed
        if not gone.more:
            break
    return removed
