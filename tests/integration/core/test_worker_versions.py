"""Workers of two versions on one real Temporal: who begins new runs, and what becomes of those that are open."""

import dataclasses
import secrets
from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.config import WorkerSettings
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.versions import Deployments, deployment_config, own_version, workflow_runner
from pressbox.core.temporal.worker import build_workers
from pressbox.demo.contracts import DemoTreeWorkflowInput
from pressbox.demo.ids import QUEUE
from pressbox.demo.manifest import APP as DEMO
from tests.fakes.version_probes import Moving, Pinned
from tests.waiting import look_until


class Stage:
    """A queue of its own, and workers of any version on it."""

    def __init__(self, client: Client, deployment: str) -> None:
        self.client, self.deployment, self.queue = client, deployment, f"versions-{secrets.token_hex(4)}"

    def settings(self, build_id: str) -> WorkerSettings:
        return WorkerSettings(deployment=self.deployment, build_id=build_id)

    def version(self, build_id: str) -> WorkerDeploymentVersion:
        found = own_version(self.settings(build_id))
        assert found is not None
        return found

    def worker(self, build_id: str | None) -> Worker:
        settings = self.settings(build_id) if build_id else WorkerSettings()
        # Without a cache every step is a task that any worker of the right version may take.
        return Worker(
            self.client,
            task_queue=self.queue,
            workflows=[Pinned, Moving],
            deployment_config=deployment_config(settings),
            workflow_runner=workflow_runner(settings),
            max_cached_workflows=0,
        )

    async def start(self, kind: type[Pinned]) -> WorkflowHandle[Pinned, str]:
        name = f"probe-{secrets.token_hex(6)}"
        handle = await self.client.start_workflow(kind.run, id=name, task_queue=self.queue)
        # Its first task is done: now it belongs to a version.
        await look_until(handle.fetch_history, lambda history: any(event.event_id == 4 for event in history.events))
        return handle

    async def ends(self, handles: Iterable[WorkflowHandle[Pinned, str]]) -> list[str]:
        ended = []
        for handle in handles:
            await handle.signal(Pinned.end)
            ended.append(await handle.result())
        return ended


@pytest.fixture
def stage(temporal: Client) -> Stage:
    return Stage(temporal, f"press-{secrets.token_hex(4)}")


async def test_old_runs_go_on_and_new_ones_begin_on_the_new_version(stage: Stage) -> None:
    deployments = Deployments(stage.client)
    await deployments.promote(stage.version("1.0"))
    async with stage.worker("1.0"):
        before = [await stage.start(Pinned), await stage.start(Moving)]
        async with stage.worker("2.0"):
            await look_until(
                lambda: deployments.versions(stage.deployment), lambda found: len(found) == 2, "both versions are known"
            )
            await deployments.promote(stage.version("2.0"), unseen=False)
            await look_until(
                lambda: deployments.versions(stage.deployment),
                lambda found: {one.build_id: one.state for one in found}["1.0"] == "runs of it are open",
                "the old version still has runs",
            )
            after = await stage.start(Pinned)
            assert await stage.ends([*before, after]) == ["1.0", "2.0", "2.0"]
            current = {found.build_id: found.current for found in await deployments.versions(stage.deployment)}
            assert current == {"1.0": False, "2.0": True}


async def test_a_version_whose_workers_are_gone_is_taken_over(stage: Stage) -> None:
    """As at a restart of one process with a new version: `up` does exactly this."""
    deployments = Deployments(stage.client)
    await deployments.settle(stage.version("1.0"))
    async with stage.worker("1.0"):
        pinned, moving = await stage.start(Pinned), await stage.start(Moving)
    await look_until(lambda: listed(stage), lambda found: found == {pinned.id}, "the pinned run can be found")
    await deployments.settle(stage.version("2.0"))
    async with stage.worker("2.0"):
        assert await stage.ends([pinned, moving, await stage.start(Pinned)]) == ["2.0", "2.0", "2.0"]


async def test_versions_can_be_left_again(stage: Stage) -> None:
    deployments = Deployments(stage.client)
    await deployments.settle(stage.version("1.0"))
    async with stage.worker("1.0"):
        pinned, moving = await stage.start(Pinned), await stage.start(Moving)
    await look_until(lambda: listed(stage), lambda found: found == {pinned.id}, "the pinned run can be found")
    await deployments.settle(None)
    async with stage.worker(None):
        # The SDK makes up a name for the code of a worker without a version.
        assert "1.0" not in await stage.ends([pinned, moving, await stage.start(Moving)])


async def test_runs_from_before_versions_are_continued_by_the_first(stage: Stage) -> None:
    async with stage.worker(None):
        before = [await stage.start(Pinned), await stage.start(Moving)]
    await Deployments(stage.client).settle(stage.version("1.0"))
    async with stage.worker("1.0"):
        assert await stage.ends(before) == ["1.0", "1.0"]


async def test_a_version_that_nobody_runs_is_not_promoted_by_mistake(stage: Stage) -> None:
    deployments = Deployments(stage.client)
    with pytest.raises(NotFoundError, match="has polled yet"):
        await deployments.versions(stage.deployment)
    async with AsyncExitStack() as exits:
        await exits.enter_async_context(stage.worker("1.0"))
        await look_until(lambda: seen(deployments, stage.deployment), what="the deployment is known")
        with pytest.raises(ConflictError, match=r"No worker of version 2\.0 polls yet"):
            await deployments.promote(stage.version("2.0"), unseen=False)


async def seen(deployments: Deployments, name: str) -> bool:
    try:
        return bool(await deployments.versions(name))
    except NotFoundError:
        return False


async def listed(stage: Stage) -> set[str]:
    query = f"TaskQueue = '{stage.queue}' AND TemporalWorkflowVersioningBehavior = 'Pinned'"
    return {run.id async for run in stage.client.list_workflows(query)}


async def test_our_own_workers_tell_temporal_what_each_type_said(resources: Resources) -> None:
    worker = WorkerSettings(deployment=f"press-{secrets.token_hex(4)}", build_id="1.0")
    versioned = dataclasses.replace(resources, settings=resources.settings.model_copy(update={"worker": worker}))
    own = own_version(worker)
    assert own is not None
    deployments = Deployments(resources.temporal)
    await deployments.settle(own)
    async with AsyncExitStack() as exits:
        for each in build_workers(versioned, [DEMO], ProgressSink(resources.database)):
            await exits.enter_async_context(each)
        handle = await resources.temporal.start_workflow(
            "DemoTreeWorkflow",
            DemoTreeWorkflowInput(title="Toy", children=1, steps=1, pause=timedelta(0)),
            id=f"demo-{secrets.token_hex(4)}",
            task_queue=QUEUE,
        )
        await handle.result()
    described = (await handle.describe()).raw_description.workflow_execution_info.versioning_info
    assert described.behavior == VersioningBehavior.PINNED.value
    assert described.deployment_version.build_id == "1.0"
    await deployments.settle(None)
