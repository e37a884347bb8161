"""What crosses Temporal for maintenance: names, inputs, results and progress."""

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress


class Kind(StrEnum):
    """What grows old, in the order in which it is removed."""

    SESSIONS = "sessions"
    TOKENS = "tokens"
    RATE_LIMITS = "rate limits"
    CHANGES = "changes"
    PROGRESS = "progress"
    SCRATCH = "scratch objects"
    ACCOUNTS = "accounts, devices and links"
    AUDIT_LOG = "lines of the audit log"
    NOTICES = "notices"


class MaintenancePolicy(Contract):
    """How long things are kept. The schedule puts settings here; the workflow never reads any."""

    keep_changes: timedelta
    keep_progress: timedelta
    keep_scratch: timedelta
    # None in runs that began before there was an audit log.
    keep_audit_log: timedelta | None = None
    # None in runs that began before there was an inbox.
    keep_notices: timedelta | None = None

    def cutoffs(self, now: datetime) -> dict[Kind, datetime]:
        """Everything of a kind from before its instant goes. Sessions, tokens, limits, accounts carry their own end."""
        cutoffs = {
            Kind.SESSIONS: now,
            Kind.TOKENS: now,
            Kind.RATE_LIMITS: now,
            Kind.CHANGES: now - self.keep_changes,
            Kind.PROGRESS: now - self.keep_progress,
            Kind.SCRATCH: now - self.keep_scratch,
        }
        if self.keep_audit_log is not None:
            cutoffs |= {Kind.ACCOUNTS: now, Kind.AUDIT_LOG: now - self.keep_audit_log}
        if self.keep_notices is not None:
            cutoffs |= {Kind.NOTICES: now - self.keep_notices}
        return cutoffs


class MaintenanceWorkflowInput(Contract):
    policy: MaintenancePolicy


class PruneInput(Contract):
    """Remove what is older than this instant. A retry repeats the same instant, so it removes nothing more."""

    before: datetime


class PruneResult(Contract):
    removed: int


class ScratchCursor(Contract):
    """How many scratch objects the running activity has removed so far."""

    removed: int = 0


class MaintenanceProgress(Progress):
    """Counts what was removed, by kind."""

    removed: dict[str, int] = Field(default_factory=dict)


class MaintenanceWorkflowResult(Contract):
    removed: dict[str, int]
