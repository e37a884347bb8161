"""The demo world's own workflows; part of an instance only where the demo runs."""

from pressbox.core.app import AppManifest, TaskQueue
from pressbox.demo.ids import QUEUE
from pressbox.demo.wiring import activities
from pressbox.demo.workflows.tree import DemoTreeWorkflow

APP = AppManifest(
    name="demo",
    title="Demo",
    summary="Toy work that shows the activity page alive.",
    queues=(TaskQueue(QUEUE),),
    workflows={QUEUE: (DemoTreeWorkflow,)},
    activities=activities,
)
