"""Messages of the cleanup of old entries."""

from datetime import datetime

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress

CLEANUP_WORKFLOW = "curator-cleanup"
ENTRIES_CLEANUP = "EntriesCleanupWorkflow"


class EntriesCleanupInput(CamelContract):
    """What nobody read goes after `unread_older_than_days`; 0 keeps it for ever."""

    older_than_days: int = 7
    unread_older_than_days: int = 0
    dry_run: bool = False
    routine: bool = False


class EntriesCleanupProgress(CuratorProgress):
    deleted: int = 0


class CleanupInput(Contract):
    """Without `unread_before` nothing goes that somebody has not read."""

    before: datetime
    unread_before: datetime | None = None
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
