"""What a workflow says of itself while it runs. Light enough for the workflow sandbox."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Any

from pressbox.core.audiences.contracts import Audience
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

    `audience` says who may read this; administrators see of all other work only that it exists and how it fares.
    """

    title: str
    audience: Audience
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
    audience: Audience
    started_at: datetime
    updated_at: datetime


def title_of(workflow_type: str) -> str:
    """`SearchPruneWorkflow` → `Search prune`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", workflow_type.removesuffix("Workflow"))
    return words[:1] + words[1:].lower() if words else workflow_type
