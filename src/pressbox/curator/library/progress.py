"""How the curator's workflows report their progress."""

from typing import Generic, TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from pressbox.core.contracts import Contract
from pressbox.core.progress.report import report
from pressbox.core.temporal.calls import failure_reason
from pressbox.curator.library.contracts import CuratorProgress, EntryProgressState
from pressbox.curator.library.domain import EntryStatus

ProgressT = TypeVar("ProgressT", bound=CuratorProgress)

COMPLETED = "completed"


class ProgressReporter(Generic[ProgressT]):
    """Holds the `current` progress of a workflow and reports every change of it."""

    def __init__(self, first: ProgressT, parent_workflow_id: str = "") -> None:
        info = workflow.info()
        parent = parent_workflow_id or (info.parent.workflow_id if info.parent else "")
        self.current: ProgressT = first.model_copy(
            update={
                "workflow_id": info.workflow_id,
                "workflow_type": info.workflow_type.removesuffix("Workflow"),
                "started_at": info.start_time,
                "updated_at": info.start_time,
                "parent_workflow_id": parent,
            }
        )

    def update(self, **changes: object) -> None:
        self.current = self.current.model_copy(update={**changes, "updated_at": workflow.now()})
        report(self.current)

    def complete(self, **changes: object) -> None:
        """Report the last state; the interceptor announces the end itself."""
        self.update(**changes, status=COMPLETED, current_step="")


class EntryStates:
    """The states of single entries inside a run."""

    def __init__(self) -> None:
        self.states: dict[str, EntryProgressState] = {}

    def put(self, entry_id: int, status: EntryStatus, title: str = "", error: str = "") -> None:
        known = self.states.get(str(entry_id))
        self.states[str(entry_id)] = EntryProgressState(
            entry_id=entry_id, title=title or (known.title if known else ""), status=status, error=error
        )

    def copy(self) -> dict[str, EntryProgressState]:
        return dict(self.states)


async def signal_parent(name: str, message: Contract) -> None:
    """Tell the parent of this workflow, if it has one, and is still there; what the parent misses is found by state."""
    parent = workflow.info().parent
    if parent is None:
        return
    try:
        await workflow.get_external_workflow_handle(parent.workflow_id).signal(name, message)
    except ApplicationError as error:
        workflow.logger.warning("The parent of %s is gone: %s", workflow.info().workflow_id, failure_reason(error))
