"""Messages of the cleanup of old entries."""

from datetime import datetime

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress

CLEANUP_WORKFLOW = "curator-cleanup"
ENTRIES_CLEANUP = "EntriesCleanupWorkflow"


class EntriesCleanupInput(CamelContract):
    older_than_days: int = 7
    dry_run: bool = False
    routine: bool = False


class EntriesCleanupProgress(CuratorProgress):
    deleted: int = 0


class CleanupInput(Contract):
    before: datetime
    dry_run: bool = False
    limit: int = 500


class CleanupResult(Contract):
    """`removed` are those whose documents must leave the search index."""

    deleted: int = 0
    more: bool = False
    removed: tuple[int, ...] = ()


class EntriesCleanupOutput(CamelContract):
    deleted_count: int
    cutoff_date: datetime
