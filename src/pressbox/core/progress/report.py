"""How a workflow reports: like a log line, outside replay, without a trace in its history.

The sink lives in the worker, outside the sandbox. It is reached through an extern function that the
ProgressInterceptor puts there, so no module global is shared between workers.
"""

from temporalio import workflow

from pressbox.core.audiences.contracts import NOBODY
from pressbox.core.errors import shorten
from pressbox.core.progress.contracts import Progress, ProgressState, ProgressUpdate, title_of

EXTERN = "__pressbox_progress"


def report(progress: Progress) -> None:
    """Show this progress to people. Call it whenever the workflow's own progress changed."""
    publish(progress, ProgressState.RUNNING)


def publish(progress: Progress, state: ProgressState, error: str = "") -> None:
    sink = workflow.extern_functions().get(EXTERN)
    if sink is None or workflow.unsafe.is_replaying() or (progress.routine and not error):
        return
    info = workflow.info()
    # What waits for its time and cannot go on needs somebody, so it is not hidden among what is planned.
    shown = state if error else progress.state_of(state)
    problem = progress.problem if shown is ProgressState.INCOMPLETE else ""
    sink(
        ProgressUpdate(
            workflow_id=info.workflow_id,
            run_id=info.run_id,
            workflow_type=info.workflow_type,
            task_queue=info.task_queue,
            parent_workflow_id=info.parent.workflow_id if info.parent else progress.starter or None,
            state=shown,
            title=progress.title,
            done=progress.done,
            total=progress.total,
            message=shorten(progress.message),
            error=shorten(error or problem),
            detail=progress.model_dump(mode="json", exclude={"audience", "starter"}, by_alias=True),
            audience=progress.audience,
            started_at=info.start_time,
            updated_at=workflow.now(),
        )
    )


def current_progress() -> Progress:
    """What the running workflow says of itself, or its type in words when it has no progress of its own."""
    get_progress = getattr(workflow.instance(), "get_progress", None)
    if get_progress is not None:
        progress = get_progress()
        if isinstance(progress, Progress):
            return progress
    return Progress(title=title_of(workflow.info().workflow_type), audience=NOBODY)
