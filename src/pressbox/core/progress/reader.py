"""The activity of the instance as a tree, read from the progress rows alone.

Everything that shows work reads it here, as somebody: of work that is not theirs people see nothing, and administrators
its outline.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import aliased

from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import Viewer
from pressbox.core.contracts import Contract
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.progress.contracts import OPEN_STATES, TROUBLE_STATES, ProgressState, title_of
from pressbox.core.progress.rows import ProgressRow

RUNNING_LIMIT = 500
CHILDREN_LIMIT = 2000
_ORDER = {
    ProgressState.FAILED: 0,
    ProgressState.INCOMPLETE: 0,
    ProgressState.RUNNING: 1,
    ProgressState.PLANNED: 2,
    ProgressState.CANCELLED: 3,
    ProgressState.COMPLETED: 3,
}


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


NodeT = TypeVar("NodeT", bound=ActivityNode)


class WorkReport(ActivityNode):
    """One workflow with the counters of its own."""

    detail: dict[str, Any]


class ActivityView(Contract):
    """The forest, its totals, and the cursor from which a live stream continues it without a gap."""

    nodes: tuple[ActivityNode, ...]
    running: int
    failed: int
    cursor: int


class ActivitySummary(Contract):
    """The counts of the top line: what is planned does not run, and what failed in part has failed."""

    running: int
    failed: int


class ActiveWork(Contract):
    """What runs now, with the counters of its own, and the cursor from which a live stream continues it."""

    workflows: tuple[WorkReport, ...]
    cursor: int


async def activity(database: Database, viewer: Viewer, *, finished_limit: int = 100) -> ActivityView:
    """Every running workflow, the latest finished ones, and all their children, as far as this person may know."""
    async with database.unit_of_work() as work:
        # The cursor first: what commits after this line is in the stream, and perhaps also in the rows.
        cursor = await work.session.scalar(select(func.coalesce(func.max(ChangeRow.id), 0)))
        found = await _roots(work, viewer, finished_limit)
        found |= await descendants(work, viewer, set(found))
        counts = await count_work(work, viewer)
    return ActivityView(
        nodes=forest(to_node(report) for report in found.values()),
        running=counts.running,
        failed=counts.failed,
        cursor=cursor or 0,
    )


async def summary(database: Database, viewer: Viewer) -> ActivitySummary:
    async with database.unit_of_work() as work:
        return await count_work(work, viewer)


async def active(database: Database, viewer: Viewer) -> ActiveWork:
    """Everything that runs, the newest first: what a browser asks for when it comes back."""
    running = select_reports(viewer).where(ProgressRow.state == ProgressState.RUNNING)
    async with database.unit_of_work() as work:
        cursor = await work.session.scalar(select(func.coalesce(func.max(ChangeRow.id), 0)))
        newest = running.order_by(ProgressRow.started_at.desc()).limit(CHILDREN_LIMIT)
        found = await load_reports(work, newest)
    return ActiveWork(workflows=tuple(found.values()), cursor=cursor or 0)


async def latest_failures(database: Database, viewer: Viewer, limit: int) -> tuple[ActivityNode, ...]:
    failed = select_reports(viewer).where(ProgressRow.state.in_(TROUBLE_STATES))
    async with database.unit_of_work() as work:
        found = await load_reports(work, failed.order_by(ProgressRow.updated_at.desc()).limit(limit))
    return tuple(map(to_node, found.values()))


async def reports(database: Database, viewer: Viewer, workflow_ids: Collection[str]) -> Mapping[str, WorkReport]:
    """These workflows by their ids, as far as this person may know of them."""
    async with database.unit_of_work() as work:
        return await load_reports(work, select_reports(viewer).where(ProgressRow.workflow_id.in_(workflow_ids)))


async def node(database: Database, viewer: Viewer, workflow_id: str) -> ActivityNode | None:
    """One workflow with all its children; None when there is none, or none for this person."""
    async with database.unit_of_work() as work:
        found = await load_reports(work, select_reports(viewer).where(ProgressRow.workflow_id == workflow_id))
        if not found:
            return None
        found |= await descendants(work, viewer, {workflow_id})
    inside = forest(map(to_node, found.values()))
    return next(item for item in inside if item.workflow_id == workflow_id)


async def load_nodes(database: Database, workflow_ids: Collection[str]) -> tuple[ActivityNode, ...]:
    """These workflows without their children, for messages of which `find_audiences` says who may read them."""
    async with database.unit_of_work() as work:
        rows = await work.session.scalars(select(ProgressRow).where(ProgressRow.workflow_id.in_(workflow_ids)))
        return tuple(ActivityNode.model_validate(row, from_attributes=True) for row in rows)


async def find_audiences(work: UnitOfWork, workflow_ids: Collection[str]) -> Mapping[str, Audience]:
    statement = select(ProgressRow.workflow_id, ProgressRow.audience, ProgressRow.audience_id)
    rows = await work.session.execute(statement.where(ProgressRow.workflow_id.in_(workflow_ids)))
    return {workflow_id: Audience(kind=kind, id=id) for workflow_id, kind, id in rows.tuples() if kind}


def outline(work: NodeT) -> NodeT:
    """What an administrator sees of work that is not theirs: its kind, how it fares, and why it failed."""
    hidden = {"title": title_of(work.workflow_type), "message": "", "detail": {}}
    return work.model_copy(update={name: value for name, value in hidden.items() if name in type(work).model_fields})


def select_reports(viewer: Viewer) -> Select[tuple[ProgressRow, bool]]:
    """Rows that this person may know of, each with whether its words are for them."""
    told = viewer.belongs_to(ProgressRow.audience, ProgressRow.audience_id)
    return select(ProgressRow, told).where(_known_to(viewer, ProgressRow))


async def load_reports(work: UnitOfWork, statement: Select[tuple[ProgressRow, bool]]) -> dict[str, WorkReport]:
    rows = (await work.session.execute(statement)).tuples()
    found = ((WorkReport.model_validate(row, from_attributes=True), told) for row, told in rows)
    return {report.workflow_id: report if told else outline(report) for report, told in found}


def to_node(report: WorkReport) -> ActivityNode:
    return ActivityNode.model_construct(**{name: getattr(report, name) for name in ActivityNode.model_fields})


def _known_to(viewer: Viewer, row: type[ProgressRow]) -> ColumnElement[bool]:
    return viewer.may_know_of(row.audience, row.audience_id)


async def count_work(work: UnitOfWork, viewer: Viewer) -> ActivitySummary:
    return read_counts(await work.session.scalar(select_counts(viewer)))


def select_counts(viewer: Viewer) -> Select[tuple[dict[str, int] | None]]:
    """How much work of each state this person may know of, as one value for `read_counts`."""
    wanted = ProgressRow.state.in_((ProgressState.RUNNING, *TROUBLE_STATES)) & _known_to(viewer, ProgressRow)
    counted = select(ProgressRow.state, func.count().label("number")).where(wanted).group_by(ProgressRow.state)
    states = counted.subquery()
    return select(func.jsonb_object_agg(states.c.state, states.c.number))


def read_counts(counts: Mapping[str, int] | None) -> ActivitySummary:
    counts = counts or {}
    failed = sum(counts.get(state, 0) for state in TROUBLE_STATES)
    return ActivitySummary(running=counts.get(ProgressState.RUNNING, 0), failed=failed)


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


async def _roots(work: UnitOfWork, viewer: Viewer, finished_limit: int) -> dict[str, WorkReport]:
    parent = aliased(ProgressRow)
    above = select(parent.workflow_id).where(parent.workflow_id == ProgressRow.parent_workflow_id)
    root = ~above.where(_known_to(viewer, parent)).exists()
    is_open = ProgressRow.state.in_(OPEN_STATES)
    running = select_reports(viewer).where(root, is_open)
    finished = select_reports(viewer).where(root, ~is_open)
    newest = ProgressRow.started_at.desc()
    by_state = ProgressRow.state == ProgressState.PLANNED
    found = await load_reports(work, running.order_by(by_state, newest).limit(RUNNING_LIMIT))
    return found | await load_reports(work, finished.order_by(newest).limit(finished_limit))


async def descendants(work: UnitOfWork, viewer: Viewer, parents: set[str]) -> dict[str, WorkReport]:
    """Everything that these started, at any depth."""
    found: dict[str, WorkReport] = {}
    while parents and len(found) < CHILDREN_LIMIT:
        children = await load_reports(
            work,
            select_reports(viewer)
            .where(ProgressRow.parent_workflow_id.in_(parents))
            .order_by(ProgressRow.started_at)
            .limit(CHILDREN_LIMIT),
        )
        fresh = {workflow_id: child for workflow_id, child in children.items() if workflow_id not in found}
        found |= fresh
        parents = set(fresh)
    return found
