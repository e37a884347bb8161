"""What all messages of the curator share: task queues, camelCase on the wire, the fields of every progress."""

from datetime import datetime

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.curator.library.domain.entries import EntryStatus
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.names import HEAVY_QUEUE as HEAVY_QUEUE
from pressbox.curator.names import INDEX_QUEUE as INDEX_QUEUE
from pressbox.curator.names import QUEUE as QUEUE


def heavy_queue(queue: str) -> str:
    """The queue for models and heavy computation that belongs to a queue: `curator` → `curator-heavy`."""
    return f"{queue}-heavy"


def index_queue(queue: str) -> str:
    """The queue that writes the search index: `curator` → `curator-index`."""
    return f"{queue}-index"


class CamelContract(Contract):
    """Base of the inputs and results of workflows: camelCase on the wire, snake_case in the code."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class CuratorProgress(Progress):
    """Base of the progress of every workflow."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    workflow_id: str = ""
    workflow_type: str = ""
    status: str = "running"
    current_step: str = ""
    started_at: datetime | None = None
    updated_at: datetime | None = None
    error: str = ""
    parent_workflow_id: str = ""


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
