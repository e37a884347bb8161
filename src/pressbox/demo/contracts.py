"""Inputs and results of toy work."""

from datetime import timedelta

from pressbox.core.contracts import Contract


class DemoTreeWorkflowInput(Contract):
    """A tree of toy work: `children` below each node, `depth` levels, `steps` activities in each leaf.

    People see `title`. A leaf whose number is in `failing` fails, to show what that looks like.
    """

    title: str
    children: int = 3
    depth: int = 1
    steps: int = 5
    pause: timedelta = timedelta(seconds=1)
    failing: tuple[int, ...] = ()
    number: int = 0


class DemoTreeWorkflowResult(Contract):
    steps: int


class DemoStepInput(Contract):
    """One step of a leaf: waits, then writes one object, however often it is retried."""

    workflow_id: str
    step: int
    pause: timedelta
    fail: bool = False


class DemoStepResult(Contract):
    step: int
