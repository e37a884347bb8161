"""Every id that the demo world uses in Temporal and in the object store."""

QUEUE = "demo"
STEPS_PREFIX = "scratch/demo/"


def step_key(workflow_id: str, step: int) -> str:
    return f"{STEPS_PREFIX}{workflow_id}/{step}"


def tree_workflow_id(name: str) -> str:
    return f"demo-tree-{name}"


def child_workflow_id(parent_workflow_id: str, number: int) -> str:
    return f"{parent_workflow_id}-{number}"
