"""A worker is killed before it wrote what its workflows reported; the next one that starts finds them."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from sqlalchemy import select
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.config import TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.rows import ProgressRow
from pressbox.core.temporal.client import connect
from pressbox.demo.contracts import DemoTreeWorkflowInput
from pressbox.demo.ids import QUEUE, tree_workflow_id
from pressbox.demo.workflows.tree import DemoTreeWorkflow
from pressbox.embedded.ports import free_port
from tests.conftest import Parts
from tests.waiting import look_until

PROGRAM = Path(sys.executable).with_name("pressbox")
REPOSITORY = Path(__file__).parents[2]


@asynccontextmanager
async def killed_at_the_end(*command: str | Path, **settings: str) -> AsyncIterator[Process]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")}
    process = await asyncio.create_subprocess_exec(
        *command, env={**clean, **settings}, cwd=REPOSITORY, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_what_a_killed_worker_did_not_write_is_found_by_the_next(
    parts: Parts, namespace: str, database: Database, database_url: str, tmp_path: Path
) -> None:
    settings = {
        "PRESSBOX_DEMO": "1",
        "PRESSBOX_HOME": str(tmp_path / "home"),
        "PRESSBOX_DATABASE_URL": database_url,
        "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
        "PRESSBOX_TEMPORAL_NAMESPACE": namespace,
    }
    client = await connect(TemporalSettings(namespace=namespace), parts.temporal_address, lazy=False)
    workflow_id = tree_workflow_id("unreported")

    async def find_states() -> list[ProgressState]:
        async with database.unit_of_work() as work:
            return list(
                await work.session.scalars(select(ProgressRow.state).where(ProgressRow.workflow_id == workflow_id))
            )

    silent = (sys.executable, "-m", "tests.fakes.silent_worker", QUEUE)
    async with killed_at_the_end(*silent, HEALTH_PORT=str(free_port()), **settings):
        await client.execute_workflow(
            DemoTreeWorkflow.run,
            DemoTreeWorkflowInput(title="Toy", depth=0, steps=1),
            id=workflow_id,
            task_queue=QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
    assert await find_states() == []
    async with killed_at_the_end(PROGRAM, "worker", "--queue", QUEUE, HEALTH_PORT=str(free_port()), **settings):
        assert await look_until(find_states, what="a row of the workflow") == [ProgressState.COMPLETED]
