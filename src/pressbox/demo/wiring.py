"""From the process's resources to the activities of the demo world."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pressbox.core.app import Resources
from pressbox.demo.activities import DemoActivities
from pressbox.demo.adapters.marks import ObjectMarks
from pressbox.demo.ids import QUEUE


def activities(resources: Resources) -> Mapping[str, Sequence[Callable[..., Any]]]:
    return {QUEUE: (DemoActivities(ObjectMarks(resources.objects)).take_demo_step,)}
