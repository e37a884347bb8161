"""How the curator's workflows tell of themselves: one progress in memory, reported whenever it changes."""

from typing import Generic, TypeVar

from temporalio import workflow

from pressbox.core.progress.report import report
from pressbox.curator.library.contracts import CuratorProgress, EntryProgressState
from pressbox.curator.library.domain.entries import EntryStatus

ProgressT = TypeVar("ProgressT", bound=CuratorProgress)

RUNNING = "running"
COMPLETED = "completed"


class Shown(Generic[ProgressT]):
    """`now` is the progress as people see it."""

    def __init__(self, first: ProgressT, parent_workflow_id: str = "") -> None:
        info = workflow.info()
        parent = parent_workflow_id or (info.parent.workflow_id if info.parent else "")
        self.now: ProgressT = first.model_copy(
            update={
                "workflow_id": info.workflow_id,
                "workflow_type": info.workflow_type.removesuffix("Workflow"),
                "started_at": info.start_time,
                "updated_at": info.start_time,
                "parent_workflow_id": parent,
            }
        )

    def show(self, **changes: object) -> None:
        self.now = self.now.model_copy(update={**changes, "updated_at": workflow.now()})
        report(self.now)

    def done(self, **changes: object) -> None:
        """The last word; the end itself is announced by the interceptor."""
        self.show(**changes, status=COMPLETED, current_step="")


class Articles:
    """The states of single articles inside a run."""

    def __init__(self) -> None:
        self.states: dict[str, EntryProgressState] = {}

    def put(self, entry_id: int, status: EntryStatus, title: str = "", error: str = "") -> None:
        known = self.states.get(str(entry_id))
        self.states[str(entry_id)] = EntryProgressState(
            entry_id=entry_id, title=title or (known.title if known else ""), status=status, error=error
        )

    def copy(self) -> dict[str, EntryProgressState]:
        return dict(self.states)
