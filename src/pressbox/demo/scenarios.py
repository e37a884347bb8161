"""The scenarios of the demo: each one drives the real product and compares the result with what it expects."""

import asyncio

from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.progress.reader import ActivityNode, node
from pressbox.demo.contracts import DemoTreeWorkflowInput
from pressbox.demo.football_day.one_goal import play_goal
from pressbox.demo.football_day.scenario import play_footy
from pressbox.demo.ids import QUEUE, STEPS_PREFIX, tree_workflow_id
from pressbox.demo.organiser_day import play_soonish
from pressbox.demo.reading_day import play_curator
from pressbox.demo.stage import Finding, Scenario, Stage
from pressbox.demo.workflows.tree import DemoTreeWorkflow

MAINTENANCE_SCHEDULE = "core-maintenance"
SETTLE_SECONDS = 60.0
# The toy work is for everybody to see.
ANYBODY = Viewer(user_id=0)


async def play_maintenance(stage: Stage) -> tuple[Finding, ...]:
    """Run the hourly clean-up now, through its schedule, as a person on the status page would."""
    handle = stage.resources.temporal.get_schedule_handle(MAINTENANCE_SCHEDULE)
    before = (await handle.describe()).info.num_actions
    await handle.trigger()
    ended = 0
    async with asyncio.timeout(SETTLE_SECONDS):
        while not ended:
            info = (await handle.describe()).info
            if info.num_actions > before and not info.running_actions:
                ended = info.num_actions - before
            await asyncio.sleep(0.2)
    return (Finding(name="maintenance runs", expected=1, found=ended),)


async def play_tree(stage: Stage) -> tuple[Finding, ...]:
    """Run a tree of toy work in which one leaf fails on purpose."""
    workflow_id = tree_workflow_id(f"round-{stage.round}")
    input = DemoTreeWorkflowInput(
        title=f"Sorting sample files, round {stage.round}", children=4, steps=6, pause=stage.time(1.5), failing=(3,)
    )
    handle = await stage.resources.temporal.start_workflow(
        DemoTreeWorkflow.run,
        input,
        id=workflow_id,
        task_queue=QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    await handle.result()
    leaf_prefix = f"{STEPS_PREFIX}{workflow_id}-"
    steps = [item async for item in stage.resources.objects.list(STEPS_PREFIX) if item.key.startswith(leaf_prefix)]
    leaves = await _wait_for_leaves(stage.resources, workflow_id, input.children)
    completed = sum(1 for leaf in leaves if leaf.state == "completed")
    return (
        Finding(name="toy leaves completed", expected=input.children - 1, found=completed),
        Finding(
            name="toy leaves failed on purpose", expected=1, found=sum(1 for leaf in leaves if leaf.state == "failed")
        ),
        Finding(name="toy steps done", expected=input.children * input.steps - 1, found=len(steps)),
    )


async def _wait_for_leaves(resources: Resources, workflow_id: str, wanted: int) -> tuple[ActivityNode, ...]:
    """Wait until the progress of all leaves has arrived: it is reported like a log line, after the workflow ended."""
    leaves: tuple[ActivityNode, ...] = ()
    for _ in range(50):
        root = await node(resources.database, ANYBODY, workflow_id)
        leaves = root.children if root else ()
        if len(leaves) == wanted and all(leaf.state.final for leaf in leaves):
            break
        await asyncio.sleep(0.1)
    return leaves


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("maintenance", "the clean-up that runs every hour", play_maintenance),
    Scenario("tree", "a tree of toy work with a failing leaf", play_tree),
    Scenario("footy", "a match day with goals, corrections and clips", play_footy),
    Scenario("curator", "the day of a reader, with newspapers that publish, fail and refuse", play_curator),
    Scenario("soonish", "the day of an organiser, with three people who follow an event", play_soonish),
)
# Only when asked for by name: it has the fixtures API for itself, and the match day has goals enough.
ON_REQUEST: tuple[Scenario, ...] = (
    Scenario("goal", "one goal by mail, chat and push: told, with its clip, taken back", play_goal),
)
