"""What crosses Temporal for maintenance."""

from datetime import datetime, timedelta

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress


class MaintenancePolicy(Contract):
    """How long things are kept. The service puts settings here; the workflow never reads any."""

    keep_changes: timedelta
    keep_progress: timedelta
    keep_scratch: timedelta


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
    """Counts what was removed, by step."""

    removed: dict[str, int] = Field(default_factory=dict)


class MaintenanceWorkflowResult(Contract):
    removed: dict[str, int]
