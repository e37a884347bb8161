"""Progress rows: one per workflow, newest wins, ends always win, and silence is closed from visibility."""

import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.audiences.members import Viewer
from pressbox.core.config import ObjectsSettings
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.objects.factory import open_store
from pressbox.core.progress import closing
from pressbox.core.progress.closing import close_silent
from pressbox.core.progress.contracts import Progress, ProgressState, ProgressUpdate
from pressbox.core.progress.reader import activity, node
from pressbox.core.progress.recovery import add_missing, find_start
from pressbox.core.progress.rows import ProgressRow
from pressbox.core.progress.sink import ProgressSink, store
from pressbox.demo.activities import DemoActivities
from pressbox.demo.contracts import DemoTreeWorkflowInput
from pressbox.demo.workflows.tree import DemoTreeWorkflow
from tests.waiting import look_until

ANYBODY = Viewer(user_id=1)
NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def update(workflow_id: str = "a", **changes: object) -> ProgressUpdate:
    values: dict[str, object] = {
        "workflow_id": workflow_id,
        "run_id": "run",
        "workflow_type": "ToyWorkflow",
        "task_queue": "core",
        "parent_workflow_id": None,
        "state": ProgressState.RUNNING,
        "title": "Toy",
        "done": 0,
        "total": 3,
        "message": "",
        "error": "",
        "detail": {},
        "audience": EVERYONE,
        "started_at": NOW,
        "updated_at": NOW,
        **changes,
    }
    return ProgressUpdate.model_validate(values)


async def row(database: Database, workflow_id: str = "a") -> ProgressRow:
    async with database.unit_of_work() as work:
        return await work.session.get_one(ProgressRow, workflow_id)


async def write(database: Database, *updates: ProgressUpdate) -> None:
    for item in updates:
        async with database.unit_of_work() as work:
            await store(work, [item])


async def test_a_hundred_reports_leave_one_row(database: Database) -> None:
    sink = ProgressSink(database)
    for done in range(100):
        sink.offer(update(done=done, updated_at=NOW + timedelta(milliseconds=done)))
    await sink.flush()
    async with database.unit_of_work() as work:
        assert await work.session.scalar(select(func.count()).select_from(ProgressRow)) == 1
        assert await work.session.scalar(select(func.count()).select_from(ChangeRow)) == 1
    assert (await row(database)).done == 99


async def test_a_late_older_report_is_dropped(database: Database) -> None:
    await write(database, update(done=2, updated_at=NOW + timedelta(seconds=2)), update(done=1, updated_at=NOW))
    assert (await row(database)).done == 2


async def test_the_end_wins_over_a_report_of_the_same_instant_in_either_order(database: Database) -> None:
    end = update(state=ProgressState.COMPLETED, done=3)
    await write(database, update(done=3), end, update(done=3))
    closed = await row(database)
    assert (closed.state, closed.closed_at) == (ProgressState.COMPLETED, NOW)


async def test_what_is_reported_after_the_end_of_a_run_changes_nothing(database: Database) -> None:
    sink = ProgressSink(database)
    sink.offer(update(state=ProgressState.COMPLETED, done=3))
    sink.offer(update(done=2))
    await sink.flush()
    assert (await row(database)).state == ProgressState.COMPLETED
    sink.offer(update(done=2))
    await sink.flush()
    assert (await row(database)).done == 3


async def test_a_new_run_of_the_same_workflow_opens_the_row_again(database: Database) -> None:
    await write(
        database,
        update(state=ProgressState.FAILED, error="broken"),
        update(run_id="second", updated_at=NOW + timedelta(minutes=1)),
    )
    opened = await row(database)
    assert (opened.state, opened.run_id, opened.error, opened.closed_at) == (ProgressState.RUNNING, "second", "", None)


async def test_reports_wait_while_the_database_is_away() -> None:
    sink = ProgressSink(Database("postgresql://nobody:none@127.0.0.1:1/none"))
    sink.offer(update())
    with pytest.raises(TransientError):
        await sink.flush()
    assert list(sink._latest) == ["a"]


async def test_the_tree_nests_children_and_shows_orphans_on_their_own(database: Database) -> None:
    await write(
        database,
        update("child", parent_workflow_id="parent"),
        update("parent"),
        update("grandchild", parent_workflow_id="child", state=ProgressState.COMPLETED),
        update("orphan", parent_workflow_id="never-reported"),
        update("broken", state=ProgressState.FAILED, error="no route"),
    )
    view = await activity(database, ANYBODY)
    assert view.nodes[0].workflow_id == "broken", "failed ones come first"
    parent = next(item for item in view.nodes if item.workflow_id == "parent")
    assert parent.children[0].workflow_id == "child"
    assert parent.children[0].children[0].workflow_id == "grandchild"
    assert "orphan" in [item.workflow_id for item in view.nodes]
    assert (view.running, view.failed) == (3, 1)
    assert view.cursor == 5


async def test_what_waits_for_its_time_does_not_run_and_what_failed_in_part_has_failed(database: Database) -> None:
    await write(
        database,
        update("event", state=ProgressState.PLANNED),
        update("message", state=ProgressState.INCOMPLETE, error="0 sent, 2 failed"),
    )
    view = await activity(database, ANYBODY)
    assert (view.running, view.failed) == (0, 1)
    assert [(item.workflow_id, item.closed_at) for item in view.nodes] == [("message", NOW), ("event", None)]


async def test_a_single_node_comes_with_its_children(database: Database) -> None:
    await write(database, update("child", parent_workflow_id="parent"), update("parent"))
    found = await node(database, ANYBODY, "parent")
    assert found is not None
    assert [child.workflow_id for child in found.children] == ["child"]
    assert await node(database, ANYBODY, "unknown") is None


async def test_what_was_terminated_without_a_word_is_closed_from_visibility(
    database: Database, temporal: Client, tmp_path: Path
) -> None:
    queue = f"test-{secrets.token_hex(4)}"
    workflow_id = f"demo-tree-{secrets.token_hex(4)}"
    sink = ProgressSink(database)
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[DemoTreeWorkflow],
        activities=[DemoActivities(open_store(ObjectsSettings(), tmp_path)).take_demo_step],
    ):
        handle = await temporal.start_workflow(
            DemoTreeWorkflow.run,
            DemoTreeWorkflowInput(title="Toy", depth=0, steps=100),
            id=workflow_id,
            task_queue=queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
        sink.offer(update(workflow_id))
        sink.offer(update("never-existed"))
        await sink.flush()
        assert await close_silent(database, temporal, silent_after=timedelta(seconds=1)) == 1
        assert (await row(database, workflow_id)).state == ProgressState.RUNNING, "it does run"
        await handle.terminate()
        assert await close_silent(database, temporal, silent_after=timedelta(seconds=1)) == 1
    assert (await row(database, workflow_id)).error == "It was terminated."
    assert (await row(database, "never-existed")).error == "Temporal no longer knows it."


async def test_an_ended_workflow_is_closed_however_many_others_wait(
    database: Database, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when more wait, and have been silent for longer, than are looked at together."""
    monkeypatch.setattr(closing, "AT_ONCE", 2)
    queue = f"test-{secrets.token_hex(4)}"
    waiting = [f"waiting{number}-{queue}" for number in range(4)]
    ended, quoted = f"ended-{queue}", f"it's-{queue}"
    handles = {
        workflow_id: await temporal.start_workflow(RoutineWorkflow.run, id=workflow_id, task_queue=queue)
        for workflow_id in (*waiting, ended, quoted)
    }
    sink = ProgressSink(database)
    for number, workflow_id in enumerate((*waiting, ended, quoted)):
        sink.offer(update(workflow_id, updated_at=NOW + timedelta(seconds=number)))
    await sink.flush()
    await handles[ended].terminate()

    async def is_listed() -> bool:
        query = f"ExecutionStatus = 'Running' AND TaskQueue = '{queue}'"
        return len([run async for run in temporal.list_workflows(query)]) == 5

    await look_until(is_listed)
    assert await close_silent(database, temporal, silent_after=timedelta(seconds=1)) == 1
    assert (await row(database, ended)).state == ProgressState.CANCELLED
    for workflow_id in (*waiting, quoted):
        assert (await row(database, workflow_id)).state == ProgressState.RUNNING
        await handles[workflow_id].terminate()


@workflow.defn
class OlderWorkflow:
    @workflow.run
    async def run(self) -> None:
        return

    @workflow.query
    def get_progress(self) -> dict[str, str]:
        return {"words": "of another version"}


@workflow.defn
class RoutineWorkflow:
    @workflow.run
    async def run(self) -> None:
        return

    @workflow.query
    def get_progress(self) -> Progress:
        return Progress(title="Routine", audience=EVERYONE, routine=True)


async def test_what_ran_unreported_is_found_when_a_worker_starts(
    database: Database, temporal: Client, tmp_path: Path
) -> None:
    queue = f"test-{secrets.token_hex(4)}"
    ended, waiting, routine, older = (f"{name}-{queue}" for name in ("ended", "waiting", "routine", "older"))
    # Without the interceptor nothing is reported, as if the reports had died with their worker.
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[DemoTreeWorkflow, RoutineWorkflow, OlderWorkflow],
        activities=[DemoActivities(open_store(ObjectsSettings(), tmp_path)).take_demo_step],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        for workflow_id, steps in ((ended, 1), (waiting, 10_000)):
            toy = DemoTreeWorkflowInput(title="Toy", depth=0, steps=steps, pause=timedelta(0))
            await temporal.start_workflow(
                DemoTreeWorkflow.run,
                toy,
                id=workflow_id,
                task_queue=queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            )
        for kind, workflow_id in ((RoutineWorkflow, routine), (OlderWorkflow, older)):
            await temporal.execute_workflow(
                kind.run,
                id=workflow_id,
                task_queue=queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            )
        await temporal.get_workflow_handle(ended).result()
        await look_until(lambda: ended_in(temporal, queue), lambda names: names == {ended, routine, older})
        since = await find_start(database)
        assert await add_missing(database, temporal, [queue], since) == 3
        assert await add_missing(database, temporal, [queue], since) == 0, "a second worker finds nothing to add"
        await temporal.get_workflow_handle(waiting).terminate()
    found = await row(database, ended)
    assert (found.state, found.title, found.closed_at is None) == (ProgressState.COMPLETED, "Toy", False)
    assert (await row(database, waiting)).state == ProgressState.RUNNING
    assert (await row(database, older)).title == "Older"


async def ended_in(temporal: Client, queue: str) -> set[str]:
    query = f"TaskQueue = '{queue}' AND ExecutionStatus = 'Completed'"
    return {run.id async for run in temporal.list_workflows(query)}
