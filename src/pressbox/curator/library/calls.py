"""How the curator's workflows call activities: by the table of limits, on the queue that can do them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, TimeoutError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ActivityConfig, ChildWorkflowHandle, ParentClosePolicy

from pressbox.core.contracts import Contract
from pressbox.core.progress.interceptor import reason
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.ids import heavy_queue, index_queue

InputT = TypeVar("InputT", bound=Contract)
ResultT = TypeVar("ResultT")
# An activity as a workflow names it: the method of its class.
Method = Callable[[Any, InputT], Awaitable[ResultT]]

# For what one page or one text can break: after some tries that ended in silence it is given up.
BOUNDED = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1), maximum_attempts=8
    ),
)
# For judging: a score that cannot be had is no reason to go on for long. The document names these two figures.
JUDGED = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=5), maximum_attempts=2),
)
# For what is found again by state: an index that is broken or has no worker holds nobody up.
FORGOTTEN_SOON = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=5),
    schedule_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30), maximum_attempts=4
    ),
)


@dataclass(frozen=True)
class Place:
    options: ActivityConfig
    queue: Callable[[str], str] | None = None


PLACES: Mapping[str, Place] = {
    "list_feeds": Place(QUICK),
    "probe_feeds": Place(LONG),
    "crawl_single_feed": Place(BOUNDED),
    "get_entries_to_fetch": Place(QUICK),
    "get_leftovers": Place(QUICK),
    "get_entries": Place(QUICK),
    "fetch_single_content": Place(BOUNDED, heavy_queue),
    "fetch_contents": Place(LONG, heavy_queue),
    "get_entries_for_distillation": Place(QUICK),
    "distill_entry_content": Place(BOUNDED, heavy_queue),
    "save_distilled_entries": Place(QUICK),
    "get_entry_ids_for_indexing": Place(QUICK),
    "init_search_index": Place(LONG, index_queue),
    "clear_search_index": Place(LONG, index_queue),
    "swap_search_index": Place(LONG, index_queue),
    "index_entries_batch": Place(LONG, index_queue),
    "get_orphaned_document_ids": Place(LONG, index_queue),
    "remove_documents_from_index": Place(LONG, index_queue),
    "get_entries_for_embedding": Place(QUICK),
    "compute_embeddings": Place(LONG, heavy_queue),
    "cleanup_old_entries": Place(QUICK),
    "get_entries_for_translation": Place(QUICK),
    "deepl_translate_articles": Place(LONG, heavy_queue),
    "ms_translate_articles": Place(LONG, heavy_queue),
    "llm_translate_articles": Place(LONG, heavy_queue),
    "save_translations": Place(QUICK),
    "get_entry": Place(QUICK),
    "extract_entry_context": Place(BOUNDED, heavy_queue),
    "save_entry_context": Place(QUICK),
    "save_entry_links": Place(BOUNDED, heavy_queue),
    "search_github_candidates": Place(BOUNDED),
    "rerank_github_results": Place(BOUNDED, heavy_queue),
    "fetch_github_readme": Place(BOUNDED, heavy_queue),
    "save_github_enrichment": Place(QUICK),
    "fetch_and_save_entry_links": Place(BOUNDED, heavy_queue),
    "delete_enrichment": Place(QUICK),
    "get_entries_for_graph_update": Place(QUICK),
    "add_to_global_graph_bulk": Place(LONG, heavy_queue),
    "mark_entries_graph_added": Place(QUICK),
    "reset_global_graph": Place(LONG),
    "fetch_and_add_to_graph_bulk": Place(LONG, heavy_queue),
    "swap_global_graph": Place(LONG),
    "prune_global_graph": Place(LONG),
    "open_research": Place(QUICK),
    "plan_research": Place(BOUNDED, heavy_queue),
    "search_for_research": Place(BOUNDED, heavy_queue),
    "read_for_research": Place(BOUNDED, heavy_queue),
    "check_research": Place(BOUNDED, heavy_queue),
    "write_research": Place(BOUNDED, heavy_queue),
    "close_research": Place(QUICK),
    "retrieve_passages": Place(BOUNDED, heavy_queue),
    "write_answer": Place(BOUNDED, heavy_queue),
    "end_answer": Place(QUICK),
    "evaluate_ragas": Place(JUDGED, heavy_queue),
    "evaluate_summarization": Place(JUDGED, heavy_queue),
}


async def act(method: "Method[InputT, ResultT]", input: InputT, options: ActivityConfig | None = None) -> ResultT:
    """One activity with the limits of its name, or with others."""
    place = PLACES[method.__name__]
    config = ActivityConfig(**(options or place.options))
    if place.queue is not None:
        config["task_queue"] = place.queue(workflow.info().task_queue)
    result: ResultT = await workflow.execute_activity_method(method, input, **config)
    return result


async def attempted(method: "Method[InputT, ResultT]", input: InputT) -> ResultT | None:
    """Something that the next run finds again by state: None when it cannot be done now."""
    try:
        return await act(method, input, FORGOTTEN_SOON)
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        workflow.logger.warning("%s is left for the next run: %s", method.__name__, explained(error))
        return None


async def start_alone(
    kind: type, input: Contract, workflow_id: str, result_type: type[Contract] | None = None
) -> ChildWorkflowHandle[Any, Any] | None:
    """Start a child that outlives us. None when one of its id runs already: that one, or state, takes care of this."""
    try:
        return await workflow.start_child_workflow(
            kind.__name__,
            input,
            id=workflow_id,
            result_type=result_type,
            parent_close_policy=ParentClosePolicy.ABANDON,
        )
    except WorkflowAlreadyStartedError:
        workflow.logger.info("%s runs already", workflow_id)
        return None


def went_silent(error: ActivityError) -> bool:
    """Its worker died or hung again and again: it is this piece of work that does it."""
    return isinstance(error.cause, TimeoutError)


def explained(error: BaseException) -> str:
    return "it was cancelled" if is_cancelled_exception(error) else reason(error)
