"""Every id that the demo world uses in Temporal and in the object store."""

QUEUE = "demo"
MARKS_PREFIX = "scratch/demo/"


def tree_workflow_id(name: str) -> str:
    return f"demo-tree-{name}"


def child_workflow_id(parent_workflow_id: str, number: int) -> str:
    return f"{parent_workflow_id}-{number}"
