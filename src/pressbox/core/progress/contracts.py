"""What a workflow says of itself while it runs. Light enough for the workflow sandbox."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from pressbox.core.audiences.contracts import Audience
from pressbox.core.contracts import Contract


class ProgressState(StrEnum):
    """PLANNED waits for its time and does nothing until then; INCOMPLETE ended, but part of its work failed."""

    PLANNED = "planned"
    RUNNING = "running"
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self not in OPEN_STATES

    @property
    def is_trouble(self) -> bool:
        return self in TROUBLE_STATES


OPEN_STATES = (ProgressState.PLANNED, ProgressState.RUNNING)
TROUBLE_STATES = (ProgressState.FAILED, ProgressState.INCOMPLETE)


class Progress(Contract):
    """The part that every workflow shares; an application adds its own counters in a subclass.

    `title` is for people ("Ingesting 48 feeds"). `total` is None while it is not known. A `routine` run, such as a
    sweep every minute, is shown only when something is wrong with it: it would bury what people look for.

    A `planned` run, such as an event in three months, is not counted as running. A run that ends with a `problem` has
    done only a part of its work: the words say which.

    `starter` is the workflow it belongs to, where an activity of that one started it and not the workflow itself.

    `audience` says who may read this; administrators see of all other work only that it exists and how it fares.
    """

    title: str
    audience: Audience
    done: int = 0
    total: int | None = None
    message: str = ""
    routine: bool = False
    planned: bool = False
    problem: str = ""
    starter: str = ""

    def state_of(self, state: ProgressState) -> ProgressState:
        """What people are shown for a run that is running or has completed."""
        if state is ProgressState.RUNNING and self.planned:
            return ProgressState.PLANNED
        if state is ProgressState.COMPLETED and self.problem:
            return ProgressState.INCOMPLETE
        return state

    def ended(self, state: ProgressState, error: str) -> Self:
        """Return what it says of itself when it is over; kinds of progress with a state of their own override this."""
        return self


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
