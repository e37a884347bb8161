"""The activity of the whole instance as a tree, read from the progress rows alone."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from pressbox.core.contracts import Contract
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.rows import ProgressRow

RUNNING_LIMIT = 500
CHILDREN_LIMIT = 2000
_ORDER = {ProgressState.FAILED: 0, ProgressState.RUNNING: 1, ProgressState.CANCELLED: 2, ProgressState.COMPLETED: 2}


class ActivityNode(Contract):
    """One workflow, as people and the API see it."""

    workflow_id: str
    run_id: str
    workflow_type: str
    parent_workflow_id: str | None
    state: ProgressState
    title: str
    done: int
    total: int | None
    message: str
    error: str
    started_at: datetime
    updated_at: datetime
    closed_at: datetime | None
    children: tuple["ActivityNode", ...] = ()


class WorkReport(ActivityNode):
    """One workflow with the counters of its own."""

    detail: dict[str, Any]


class ActivityView(Contract):
    """The forest, its totals, and the cursor from which a live stream continues it without a gap."""

    nodes: tuple[ActivityNode, ...]
    running: int
    failed: int
    cursor: int


async def activity(database: Database, *, finished_limit: int = 100) -> ActivityView:
    """Every running workflow, the latest finished ones, and all their children."""
    async with database.unit_of_work() as work:
        # The cursor first: what commits after this line is in the stream, and perhaps also in the rows.
        cursor = await work.session.scalar(select(func.coalesce(func.max(ChangeRow.id), 0)))
        rows = await _roots(work, finished_limit)
        rows |= await descendants(work, set(rows))
        counts = dict(
            (await work.session.execute(select(ProgressRow.state, func.count()).group_by(ProgressRow.state)))
            .tuples()
            .all()
        )
    return ActivityView(
        nodes=forest(node_of(row) for row in rows.values()),
        running=counts.get(ProgressState.RUNNING, 0),
        failed=counts.get(ProgressState.FAILED, 0),
        cursor=cursor or 0,
    )


class ActiveWork(Contract):
    """What runs now, with the counters of its own, and the cursor from which a live stream continues it."""

    workflows: tuple[WorkReport, ...]
    cursor: int


async def active(database: Database) -> ActiveWork:
    """Everything that runs, the newest first: what a browser asks for when it comes back."""
    running = select(ProgressRow).where(ProgressRow.state == ProgressState.RUNNING)
    async with database.unit_of_work() as work:
        cursor = await work.session.scalar(select(func.coalesce(func.max(ChangeRow.id), 0)))
        rows = await work.session.scalars(running.order_by(ProgressRow.started_at.desc()).limit(CHILDREN_LIMIT))
        reports = tuple(WorkReport.model_validate(row, from_attributes=True) for row in rows)
    return ActiveWork(workflows=reports, cursor=cursor or 0)


async def nodes(database: Database, workflow_ids: Sequence[str]) -> tuple[ActivityNode, ...]:
    """These workflows, without their children; those that are not there are left out."""
    async with database.unit_of_work() as work:
        rows = await work.session.scalars(select(ProgressRow).where(ProgressRow.workflow_id.in_(workflow_ids)))
        return tuple(node_of(row) for row in rows)


async def node(database: Database, workflow_id: str) -> ActivityNode | None:
    """One workflow with all its children, or None."""
    async with database.unit_of_work() as work:
        row = await work.session.get(ProgressRow, workflow_id)
        if row is None:
            return None
        rows = await descendants(work, {workflow_id})
    inside = forest([node_of(row), *(node_of(child) for child in rows.values())])
    return next(item for item in inside if item.workflow_id == workflow_id)


def node_of(row: ProgressRow) -> ActivityNode:
    return ActivityNode.model_validate(row, from_attributes=True)


def forest(nodes: Iterable[ActivityNode]) -> tuple[ActivityNode, ...]:
    """Nest children below their parents; a child whose parent is not here stands on its own."""
    known = {item.workflow_id: item for item in nodes}
    below: dict[str, list[ActivityNode]] = defaultdict(list)
    roots = []
    for item in known.values():
        parent = item.parent_workflow_id
        if parent in known and parent != item.workflow_id:
            below[parent].append(item)
        else:
            roots.append(item)

    def nest(item: ActivityNode) -> ActivityNode:
        children = sorted(below.get(item.workflow_id, ()), key=_start_key)
        return item.model_copy(update={"children": tuple(nest(child) for child in children)})

    return tuple(sorted((nest(item) for item in roots), key=_importance_key))


def _start_key(item: ActivityNode) -> tuple[datetime, int, str]:
    # Children that began together stand in the order of their ids: part 2 before part 10.
    return item.started_at.replace(microsecond=0), len(item.workflow_id), item.workflow_id


def _importance_key(item: ActivityNode) -> tuple[int, float]:
    return _ORDER[item.state], -item.started_at.timestamp()


async def _roots(work: UnitOfWork, finished_limit: int) -> dict[str, ProgressRow]:
    parent = aliased(ProgressRow)
    root = ~select(parent.workflow_id).where(parent.workflow_id == ProgressRow.parent_workflow_id).exists()
    running = select(ProgressRow).where(root, ProgressRow.state == ProgressState.RUNNING)
    finished = select(ProgressRow).where(root, ProgressRow.state != ProgressState.RUNNING)
    newest = ProgressRow.started_at.desc()
    rows = [
        *(await work.session.scalars(running.order_by(newest).limit(RUNNING_LIMIT))),
        *(await work.session.scalars(finished.order_by(newest).limit(finished_limit))),
    ]
    return {row.workflow_id: row for row in rows}


async def descendants(work: UnitOfWork, parents: set[str]) -> dict[str, ProgressRow]:
    """Everything that these started, at any depth."""
    found: dict[str, ProgressRow] = {}
    while parents and len(found) < CHILDREN_LIMIT:
        children = await work.session.scalars(
            select(ProgressRow)
            .where(ProgressRow.parent_workflow_id.in_(parents))
            .order_by(ProgressRow.started_at)
            .limit(CHILDREN_LIMIT)
        )
        fresh = {row.workflow_id: row for row in children if row.workflow_id not in found}
        found |= fresh
        parents = set(fresh)
    return found
