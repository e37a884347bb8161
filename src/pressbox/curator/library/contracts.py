"""What all messages of the curator share: task queues, camelCase on the wire, the fields of every progress."""

from datetime import datetime
from typing import Self

from pressbox.core.contracts import CamelContract, Contract
from pressbox.core.progress.contracts import Progress, ProgressState
from pressbox.curator.library.domain import CuratorPolicy, EntryStatus
from pressbox.curator.names import HEAVY_QUEUE as HEAVY_QUEUE
from pressbox.curator.names import INDEX_QUEUE as INDEX_QUEUE
from pressbox.curator.names import QUEUE as QUEUE

# Since then rows are the queue and workflows take pages of them; histories from before go on as they began.
ROWS_ARE_THE_QUEUE = "2026-11-rows-are-the-queue"


def heavy_queue(queue: str) -> str:
    """The queue for models and heavy computation that belongs to a queue: `curator` → `curator-heavy`."""
    return f"{queue}-heavy"


def index_queue(queue: str) -> str:
    """The queue that writes the search index: `curator` → `curator-index`."""
    return f"{queue}-index"


class CuratorProgress(CamelContract, Progress):
    """Base of the progress of every workflow."""

    workflow_id: str = ""
    workflow_type: str = ""
    status: str = "running"
    current_step: str = ""
    started_at: datetime | None = None
    updated_at: datetime | None = None
    error: str = ""
    parent_workflow_id: str = ""

    def ended(self, state: ProgressState, error: str) -> Self:
        return self.model_copy(update={"status": state.value, "error": error})


class EntryProgressState(CamelContract):
    entry_id: int
    title: str = ""
    status: EntryStatus = EntryStatus.PENDING
    error: str = ""


class EntryIds(Contract):
    entry_ids: tuple[int, ...]
    policy: CuratorPolicy = CuratorPolicy()


class DeferrableResult(Contract):
    """Base of results of activities that a model or a budget may put off until `retry_at`. Nothing is lost."""

    retry_at: datetime | None = None
    reason: str = ""
