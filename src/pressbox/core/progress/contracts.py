"""What a workflow says of itself while it runs. Light enough for the workflow sandbox."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pressbox.core.contracts import Contract


class ProgressState(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self is not ProgressState.RUNNING


class Progress(Contract):
    """The part that every workflow shares; an application adds its own counters in a subclass.

    `title` is for people ("Ingesting 48 feeds"). `total` is None while it is not known. A `routine` run, such as a
    sweep every minute, is shown only when something is wrong with it: it would bury what people look for.
    """

    title: str
    done: int = 0
    total: int | None = None
    message: str = ""
    routine: bool = False


class ProgressUpdate(Contract):
    """One report on its way from a workflow to the sink of its worker."""

    workflow_id: str
    run_id: str
    workflow_type: str
    task_queue: str
    parent_workflow_id: str | None
    state: ProgressState
    title: str
    done: int
    total: int | None
    message: str
    error: str
    detail: dict[str, Any]
    started_at: datetime
    updated_at: datetime
