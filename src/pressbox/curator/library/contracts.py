"""What every message of the curator shares: camelCase on the wire, and the document's fields of progress."""

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

CLEANUP_SCHEDULE = "curator-cleanup"
CLEANUP_WORKFLOW = "curator-cleanup"
ENTRIES_CLEANUP = "EntriesCleanupWorkflow"


def heavy_queue(queue: str) -> str:
    """Where the workflows of a queue have models and processors used: `curator` → `curator-heavy`."""
    return f"{queue}-heavy"


def index_queue(queue: str) -> str:
    """Where the search index is written: `curator` → `curator-index`."""
    return f"{queue}-index"


class CamelContract(Contract):
    """Inputs and results of workflows: the document's names on the wire, ours in the code."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class CuratorProgress(Progress):
    """Base of the progress of every workflow here, with the document's fields."""

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


class Waits(Contract):
    """Base of results of activities that need somebody who may be away: come back at `retry_at`, nothing is lost."""

    retry_at: datetime | None = None
    reason: str = ""
