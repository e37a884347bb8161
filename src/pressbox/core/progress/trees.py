"""Work with all that belongs to it, read from the progress rows: counters of children add up to those of the whole."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import WorkReport, descendants
from pressbox.core.progress.rows import ProgressRow

DEEPEST = 5
MOST_RUNNING = 2000


@dataclass(frozen=True)
class WorkTree:
    """One piece of work and everything that it started, at any depth."""

    root: WorkReport
    below: tuple[WorkReport, ...] = ()

    def sum(self, workflow_type: str, counter: str) -> int:
        """What all workflows of this type below it have counted."""
        counted = (item.detail.get(counter) for item in self.below if item.workflow_type == workflow_type)
        return sum(number for number in counted if isinstance(number, int))


async def work_trees(
    database: Database, workflow_types: Collection[str], *, failed_after: datetime, limit: int
) -> tuple[WorkTree, ...]:
    """What runs of these kinds, itself or anything below it, or failed lately; the newest first."""
    failed = (ProgressRow.state == ProgressState.FAILED) & (ProgressRow.updated_at > failed_after)
    running = ProgressRow.state == ProgressState.RUNNING
    async with database.unit_of_work() as work:
        wanted = select(ProgressRow).where(ProgressRow.workflow_type.in_(workflow_types), or_(running, failed))
        found = await work.session.scalars(wanted.order_by(ProgressRow.started_at.desc()).limit(limit))
        roots = {row.workflow_id: row for row in found}
        roots |= await _above_running(work, workflow_types)
        rows = await descendants(work, set(roots))
    newest = sorted(roots.values(), key=lambda row: row.started_at, reverse=True)[:limit]
    below = _by_parent(rows.values())
    return tuple(WorkTree(_report(row), tuple(_report(item) for item in _all_below(row, below))) for row in newest)


async def _above_running(work: UnitOfWork, workflow_types: Collection[str]) -> dict[str, ProgressRow]:
    """A child may outlive who started it: then that one has ended, but its work has not."""
    roots: dict[str, ProgressRow] = {}
    running = select(ProgressRow.parent_workflow_id).where(
        ProgressRow.state == ProgressState.RUNNING, ProgressRow.parent_workflow_id.is_not(None)
    )
    parents: set[str] = {parent for parent in await work.session.scalars(running.limit(MOST_RUNNING)) if parent}
    for _ in range(DEEPEST):
        if not parents:
            break
        rows = (await work.session.scalars(select(ProgressRow).where(ProgressRow.workflow_id.in_(parents)))).all()
        roots |= {row.workflow_id: row for row in rows if row.workflow_type in workflow_types}
        parents = {row.parent_workflow_id for row in rows if row.parent_workflow_id} - parents
    return roots


def _by_parent(rows: Iterable[ProgressRow]) -> Mapping[str, list[ProgressRow]]:
    below: dict[str, list[ProgressRow]] = defaultdict(list)
    for row in rows:
        if row.parent_workflow_id:
            below[row.parent_workflow_id].append(row)
    return below


def _all_below(root: ProgressRow, below: Mapping[str, list[ProgressRow]]) -> Iterable[ProgressRow]:
    """Ids are used again: what is older than the root belongs to an earlier run of it."""
    waiting, seen = [root], {root.workflow_id}
    while waiting:
        for row in below.get(waiting.pop().workflow_id, ()):
            if row.workflow_id not in seen and row.started_at >= root.started_at:
                seen.add(row.workflow_id)
                waiting.append(row)
                yield row


def _report(row: ProgressRow) -> WorkReport:
    return WorkReport.model_validate(row, from_attributes=True)
