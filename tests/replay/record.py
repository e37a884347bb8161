"""`make record`: runs each workflow in its named cases on real parts and writes the histories for replay.

Not a test: it is run by hand after a workflow got a new branch. A new case gets a new name; what was recorded before is
left alone, because runs like it may still be open somewhere.
"""

import asyncio
import json
import secrets
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.config import ObjectsSettings, TemporalSettings
from pressbox.core.contracts import Contract
from pressbox.core.errors import PermanentError
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.delivery.activities.notices import NoticeActivities
from pressbox.delivery.adapters.notice_wording import NoticeWords
from pressbox.delivery.contracts import SendNoticesInput
from pressbox.delivery.workflows.notices import SendNoticesWorkflow
from pressbox.demo.activities import DemoActivities
from pressbox.demo.contracts import DemoTreeWorkflowInput
from pressbox.demo.workflows.tree import DemoTreeWorkflow
from pressbox.digest.activities import DigestActivities
from pressbox.digest.contracts import DigestPage, DigestWorkflowInput
from pressbox.digest.workflow import DigestWorkflow
from pressbox.embedded.home import Home
from pressbox.embedded.temporal_server import EmbeddedTemporal
from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.contracts import Kind, MaintenanceWorkflowInput
from pressbox.maintenance.settings import MaintenanceSettings
from pressbox.maintenance.workflow import MaintenanceWorkflow
from pressbox.matchday.activities import MatchdayActivities
from pressbox.matchday.contracts import MatchdayWorkflowInput
from pressbox.matchday.workflow import MatchdayWorkflow
from tests.fakes.digest import FakeDesk
from tests.fakes.maintenance import FakeStore
from tests.fakes.matchday import FakeChanges, FakeMatchday
from tests.fakes.notice_sending import NobodySends, PagesOfNotices
from tests.replay import (
    answer_cases,
    context_cases,
    curator_cases,
    evaluation_cases,
    footy_cases,
    graph_cases,
    research_cases,
    soonish_cases,
    translation_cases,
)
from tests.replay.keeping import HISTORIES, keep_new_ones

ANONYMOUS = {"identity": "recorder", "stackTrace": ""}
# Each plays its cases on a stage of its own.
READER_CASES: tuple[Any, ...] = (curator_cases, context_cases, graph_cases, research_cases, translation_cases)
MAINTENANCE_INPUT = MaintenanceWorkflowInput(policy=MaintenanceSettings().policy)

DIGESTS = {
    "digests-none-due": FakeDesk([]),
    "digests-in-pages": FakeDesk([DigestPage(claimed=2, sent=2), DigestPage(claimed=1, empty=1)]),
    "digests-some-failed": FakeDesk([DigestPage(claimed=1, failed=1, reason="Planted for the recording.")], failures=1),
}


class BrokenStore(FakeStore):
    async def delete_rows(self, kind: Kind, before: datetime) -> int:
        if kind is Kind.CHANGES:
            raise PermanentError("Planted for the recording.")
        return await super().delete_rows(kind, before)


async def record(
    client: Client, case: str, workflow: type, input: Contract, activities: Sequence[Callable[..., Any]]
) -> None:
    queue = f"record-{secrets.token_hex(4)}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[workflow],
        activities=[*activities],
        interceptors=[ErrorInterceptor()],
    ):
        handle = await client.start_workflow(
            workflow.__name__,
            input,
            id=f"recorded-{case}",
            task_queue=queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
        try:
            await handle.result()
        except WorkflowFailureError as error:
            print(f"{case}: ended in failure, as it should when its name says so: {error.cause}")
    await keep(handle, workflow, case)


def path_of(workflow: type, case: str) -> Path:
    return HISTORIES / workflow.__name__ / f"{case}.json"


async def keep(handle: WorkflowHandle[Any, Any], workflow: type, case: str) -> None:
    file = path_of(workflow, case)
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    history = json.loads((await handle.fetch_history()).to_json())
    file.write_text(json.dumps(anonymous(history), indent=1) + "\n")


def anonymous(value: object) -> object:
    """The same history without names and paths of the machine that recorded it; replay reads neither."""
    if isinstance(value, dict):
        return {key: ANONYMOUS.get(key, anonymous(item)) for key, item in value.items()}
    return [anonymous(item) for item in value] if isinstance(value, list) else value


def maintenance(store: FakeStore) -> Sequence[Callable[..., Any]]:
    store.scratch = ["scratch/a", "scratch/b"]
    return activity_methods(MaintenanceActivities(store))


async def record_matchday(client: Client) -> None:
    changed = FakeMatchday([FakeChanges([1, 2], 7, more=True), FakeChanges([3], 9)])
    lost = FakeMatchday([FakeChanges(lost=True)], list(range(1, 52)))
    for case, store in (("changed", changed), ("lost", lost)):
        activities = activity_methods(MatchdayActivities(store))
        await record(client, case, MatchdayWorkflow, MatchdayWorkflowInput(), activities)


def sends_notices() -> Sequence[Callable[..., Any]]:
    # After the first page 1,200 wait, so three run side by side.
    ledger = PagesOfNotices(1200, 0, 700, 0, 0, 0)
    return activity_methods(NoticeActivities(ledger, NobodySends(), NoticeWords("")))


async def record_reader(client: Client) -> None:
    for workflow, case, judge in evaluation_cases.CASES:
        async with evaluation_cases.playing(client) as (press, bench):
            await keep(await judge(press, bench), workflow, case)
    for workflow, case, ask in answer_cases.CASES:
        await keep(await ask(answer_cases.Asking(client)), workflow, case)
    for part in READER_CASES:
        for workflow, case, play in part.CASES:
            async with part.playing(client) as stage:
                await keep(await play(stage), workflow, case)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.create()
        server = EmbeddedTemporal(home)
        server.start()
        try:
            client = await connect(TemporalSettings(), server.address, lazy=False)
            toy = [DemoActivities(open_store(ObjectsSettings(), home.path / "objects")).take_demo_step]
            tree = DemoTreeWorkflowInput(title="Toy", children=2, steps=2, pause=timedelta(0))
            await record(
                client, "completed", MaintenanceWorkflow, MAINTENANCE_INPUT, maintenance(FakeStore({Kind.SESSIONS: 2}))
            )
            await record(client, "failed", MaintenanceWorkflow, MAINTENANCE_INPUT, maintenance(BrokenStore()))
            await record_matchday(client)
            await record(client, "pages-side-by-side", SendNoticesWorkflow, SendNoticesInput(), sends_notices())
            await record(client, "tree", DemoTreeWorkflow, tree, [*toy])
            failing = tree.model_copy(update={"failing": (2,)})
            await record(client, "tree-with-failing-leaf", DemoTreeWorkflow, failing, [*toy])
            for case, desk in DIGESTS.items():
                wanted = DigestWorkflowInput(page_size=2)
                await record(client, case, DigestWorkflow, wanted, activity_methods(DigestActivities(desk)))
            for event_id, (workflow, case, play) in enumerate(soonish_cases.CASES, start=1):
                async with soonish_cases.playing(client, event_id) as stage:
                    await keep(await play(stage), workflow, case)
            for fixture_id, (workflow, case, act) in enumerate(footy_cases.CASES, start=1001):
                if path_of(workflow, case).exists():
                    continue
                async with footy_cases.playing(client, fixture_id) as day:
                    await keep(await act(day), workflow, case)
            await record_reader(client)
            keep_new_ones()
        finally:
            server.stop()


if __name__ == "__main__":
    asyncio.run(main())
