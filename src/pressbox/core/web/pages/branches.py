"""The tree of workflows as the activity page shows it: what matters now stays open, what is over folds away."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

from pressbox.core.app import Resources
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import ActivityNode

# Deeper levels exist, but are not moved in further: the titles must keep their room.
DEEPEST_LEVEL = 3
# A page stays small whatever runs; the page of a workflow shows the rest.
OPEN_CHILDREN = 60
CLOSED_CHILDREN = 8
# Old failures must not push what runs out of sight; beyond these they fold into a list of their own.
SETTLED_TROUBLE = 5
EARLIER_FAILURES = 30


@dataclass(frozen=True)
class Branch:
    """A workflow with its children. `finished` and `unseen` count also those that are not drawn."""

    node: ActivityNode
    level: int = 0
    open: tuple["Branch", ...] = field(default=())
    closed: tuple["Branch", ...] = field(default=())
    finished: int = 0
    unseen: int = 0


def matters_now(node: ActivityNode) -> bool:
    """Running or failed, itself or anything below it: a failed child must not hide in a finished parent."""
    return node.state is ProgressState.RUNNING or node.state.is_trouble or any(map(matters_now, node.children))


def troubled(node: ActivityNode) -> bool:
    """Failed, itself or anything below it."""
    return node.state.is_trouble or any(map(troubled, node.children))


def take_planned(closed: Iterable[ActivityNode]) -> tuple[list[ActivityNode], list[ActivityNode]]:
    """Of what does not matter now: what waits for its time, and what is over."""
    everything = list(closed)
    planned = [node for node in everything if node.state is ProgressState.PLANNED]
    return planned, [node for node in everything if node.state is not ProgressState.PLANNED]


def split(nodes: Iterable[ActivityNode]) -> tuple[list[ActivityNode], list[ActivityNode]]:
    """What matters now, trouble first, and what is over, latest first."""
    everything = list(nodes)
    opened = sorted(filter(matters_now, everything), key=lambda node: not troubled(node))
    over = (node for node in everything if not matters_now(node))
    return opened, sorted(over, key=lambda node: node.closed_at or node.updated_at, reverse=True)


def fold_earlier(opened: list[ActivityNode]) -> tuple[list[ActivityNode], list[ActivityNode]]:
    """The open trees without old trouble, and the failed workflows of the rest, each by itself."""
    settled = [node for node in opened if not any(part.state is ProgressState.RUNNING for part in walk([node]))]
    excess = settled[SETTLED_TROUBLE:]
    kept = [node for node in opened if node not in excess]
    failed = [node for node in walk(excess) if node.state.is_trouble]
    return kept, failed[:EARLIER_FAILURES]


def branch(node: ActivityNode, level: int = 0, *, closed_from: int = 0, closed_limit: int = CLOSED_CHILDREN) -> Branch:
    opened, closed = split(node.children)
    below = min(level + 1, DEEPEST_LEVEL)
    shown_open = tuple(branch(child, below) for child in opened[:OPEN_CHILDREN])
    shown_closed = tuple(leaf(child, below) for child in closed[closed_from : closed_from + closed_limit])
    unseen = len(opened) + len(closed) - len(shown_open) - len(shown_closed)
    return Branch(node, level, shown_open, shown_closed, len(closed), unseen)


def leaf(node: ActivityNode, level: int = 0) -> Branch:
    """A finished workflow in a list: its own page shows what it started."""
    return Branch(node, level)


def walk(nodes: Iterable[ActivityNode]) -> Iterator[ActivityNode]:
    for node in nodes:
        yield node
        yield from walk(node.children)


def blank_branches() -> dict[str, Branch]:
    """One empty row per state: the page carries them as templates for what arrives later."""
    moment = datetime.now(UTC)
    blank = ActivityNode(
        workflow_id="-",
        run_id="-",
        workflow_type="",
        parent_workflow_id=None,
        state=ProgressState.RUNNING,
        title="-",
        done=0,
        total=1,
        message="-",
        error="",
        started_at=moment,
        updated_at=moment,
        closed_at=None,
    )
    over = {"closed_at": moment, "message": ""}
    changes: dict[str, dict[str, object]] = {
        "running": {},
        "planned": {"state": ProgressState.PLANNED},
        "failed": over | {"state": ProgressState.FAILED, "error": "-"},
        "incomplete": over | {"state": ProgressState.INCOMPLETE, "error": "-"},
        "completed": over | {"state": ProgressState.COMPLETED},
        "cancelled": over | {"state": ProgressState.CANCELLED},
    }
    return {name: Branch(blank.model_copy(update=change)) for name, change in changes.items()}


def temporal_link(resources: Resources, node: ActivityNode) -> str | None:
    """The workflow's page in Temporal's own UI, when we know where that is."""
    base = temporal_home(resources)
    return f"{base}/{quote(node.workflow_id, safe='')}/{quote(node.run_id, safe='')}" if base else None


def temporal_home(resources: Resources) -> str | None:
    settings = resources.settings.temporal
    return f"{settings.ui_url.rstrip('/')}/namespaces/{settings.namespace}/workflows" if settings.ui_url else None
