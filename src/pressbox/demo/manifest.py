"""Toy work as an application: part of an instance only where the demo runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pressbox.core.app import AppManifest, Resources, TaskQueue
from pressbox.demo.activities import DemoActivities
from pressbox.demo.ids import QUEUE
from pressbox.demo.workflows.tree import DemoTreeWorkflow


def activities(resources: Resources) -> Mapping[str, Sequence[Callable[..., Any]]]:
    return {QUEUE: (DemoActivities(resources.objects).take_demo_step,)}


APP = AppManifest(
    name="demo",
    title="Demo",
    summary="Toy work that fills the activity page.",
    queues=(TaskQueue(QUEUE),),
    workflows={QUEUE: (DemoTreeWorkflow,)},
    activities=activities,
)
