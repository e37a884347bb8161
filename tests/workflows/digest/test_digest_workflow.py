"""DigestWorkflow on a real server: page after page, and again where the other side was away."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from sqlalchemy import func, select, update
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.app import AppManifest, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.digests import DigestLine, DigestSection, DigestSpan
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.digest.activities import Desk, DigestActivities
from pressbox.digest.contracts import DUE_WORKFLOW_ID, DigestPage, DigestWorkflowInput, DigestWorkflowResult
from pressbox.digest.domain import Choice, Rhythm
from pressbox.digest.looking import start_when_due
from pressbox.digest.rows import DigestIssueRow, DigestRow
from pressbox.digest.service import DigestDesk
from pressbox.digest.store import DigestStore
from pressbox.digest.workflow import DigestWorkflow
from tests.fakes.curator_rows import Rows
from tests.fakes.digest import FakeDesk


@asynccontextmanager
async def working(client: Client, desk: Desk, reports: list[ProgressUpdate] | None = None) -> AsyncIterator[str]:
    queue = f"digest-{secrets.token_hex(4)}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[DigestWorkflow],
        activities=activity_methods(DigestActivities(desk)),
        interceptors=[ErrorInterceptor(), ProgressInterceptor((reports if reports is not None else []).append)],
    ):
        yield queue


async def run(client: Client, queue: str) -> DigestWorkflowResult:
    return await client.execute_workflow(
        DigestWorkflow.run,
        DigestWorkflowInput(page_size=2),
        id=f"digest-{secrets.token_hex(4)}",
        task_queue=queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
    )


async def test_pages_follow_each_other_until_one_is_not_full(temporal: Client) -> None:
    desk = FakeDesk(
        [DigestPage(claimed=2, sent=2), DigestPage(claimed=2, sent=1, empty=1), DigestPage(claimed=1, sent=1)]
    )
    reports: list[ProgressUpdate] = []
    async with working(temporal, desk, reports=reports) as queue:
        assert await run(temporal, queue) == DigestWorkflowResult(sent=4, failed=0)
    assert len(desk.owners) == 3
    assert len(set(desk.owners)) == 3, "each page has a name of its own"
    assert not reports, "a run in which all is well is routine"


async def test_the_next_attempt_has_the_name_of_the_one_before(temporal: Client) -> None:
    desk = FakeDesk([DigestPage(claimed=1, sent=1)], failures=2)
    async with working(temporal, desk) as queue:
        assert (await run(temporal, queue)).sent == 1
    assert len(desk.owners) == 3
    assert len(set(desk.owners)) == 1


async def test_digests_that_could_not_be_written_are_shown_to_administrators(temporal: Client) -> None:
    desk = FakeDesk([DigestPage(claimed=1, failed=1, reason="The other side is away.")])
    reports: list[ProgressUpdate] = []
    async with working(temporal, desk, reports=reports) as queue:
        assert await run(temporal, queue) == DigestWorkflowResult(sent=0, failed=1)
    assert (reports[-1].state, reports[-1].error) == (ProgressState.INCOMPLETE, "The other side is away.")


async def _tell(_: Resources, viewer: Viewer, __: DigestSpan) -> DigestSection:
    return DigestSection("Hello", "One greeting for you.", [DigestLine(f"Hello {viewer.user_id}", "/")])


async def test_two_workers_send_what_is_due_and_nothing_starts_when_nothing_is(
    resources: Resources, temporal: Client
) -> None:
    told = AppManifest(name="hello", title="Hello", summary="Says hello.", digest=_tell)
    instance = replace(resources, manifests=(told,))
    store, rows = DigestStore(resources.database), Rows(resources.database)
    people: Sequence[int] = [await rows.user() for _ in range(25)]
    long_ago = datetime.now(UTC) - timedelta(days=1)
    for user_id in people:
        await store.save(user_id, Choice(Rhythm.DAILY, time(7, 30), "Europe/Berlin"), long_ago)
    async with resources.database.unit_of_work() as work:
        await work.session.execute(update(DigestRow).values(due_at=datetime.now(UTC) - timedelta(minutes=1)))
    async with working(temporal, DigestDesk(instance)) as queue, working(temporal, DigestDesk(instance)) as other:
        assert await start_when_due(resources, queue=queue)
        due = temporal.get_workflow_handle(DUE_WORKFLOW_ID, result_type=DigestWorkflowResult)
        results = await asyncio.gather(due.result(), run(temporal, other))
        assert sum(result.sent for result in results) == len(people)
        assert not await start_when_due(resources, queue=queue)
    async with resources.database.unit_of_work() as work:
        sent = (await work.session.execute(select(DigestIssueRow.user_id, func.count()).group_by("user_id"))).tuples()
        assert dict(sent.all()) == dict.fromkeys(people, 1)
