"""Toy work as an application: part of an instance only where the demo runs."""

from pressbox.core.app import ActivitiesByQueue, AppManifest, Resources, TaskQueue, WorkflowsByQueue
from pressbox.demo.ids import QUEUE


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import pinned
    from pressbox.demo.workflows.tree import DemoTreeWorkflow

    return {QUEUE: (pinned(DemoTreeWorkflow),)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.demo.activities import DemoActivities

    return {QUEUE: (DemoActivities(resources.objects).take_demo_step,)}


APP = AppManifest(
    name="demo",
    title="Demo",
    summary="Sample work that fills the activity page.",
    queues=(TaskQueue(QUEUE),),
    workflows=workflows,
    activities=activities,
)
