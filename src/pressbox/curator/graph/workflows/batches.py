"""What update and rebuild of the graph share: a batch goes in as far as it can, and the rest waits for its model."""

from collections.abc import Awaitable, Callable

from temporalio import workflow

from pressbox.core.temporal.calls import Method, call
from pressbox.curator.graph.contracts import GraphBatchInput, GraphBatchResult
from pressbox.curator.models.waiting import WAITING, sleep_until

# Ids, hashes and titles of this many entries are one message, which stays below 10 kB.
LARGEST_BATCH = 50


async def added_in_rounds(
    method: "Method[GraphBatchInput, GraphBatchResult]",
    batch: GraphBatchInput,
    take: Callable[[GraphBatchResult], Awaitable[None]],
    show: Callable[..., None],
) -> bool:
    """What is in is taken note of at once, however long the others have to wait.

    False when the history grew long with waiting: the rest is for the next run, which finds it by state.
    """
    left = batch.entry_ids
    while left:
        result = await call(method, batch.model_copy(update={"entry_ids": left}))
        await take(result)
        if result.retry_at is None:
            return True
        dealt_with = result.dealt_with
        left = tuple(entry_id for entry_id in left if entry_id not in dealt_with)
        show(current_step=WAITING, message=result.reason)
        await sleep_until(result.retry_at)
        if workflow.info().is_continue_as_new_suggested():
            return False
    return True
