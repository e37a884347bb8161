"""Work with all that belongs to it, read from the progress rows: counters of children add up to those of the whole."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, or_, select

from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.progress.contracts import TROUBLE_STATES, ProgressState
from pressbox.core.progress.reader import WorkReport, descendants, load_reports, select_reports
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
    database: Database, viewer: Viewer, workflow_types: Collection[str], *, failed_after: datetime, limit: int
) -> tuple[WorkTree, ...]:
    """What runs of these kinds, itself or anything below it, or failed lately; the newest first."""
    failed = ProgressRow.state.in_(TROUBLE_STATES) & (ProgressRow.updated_at > failed_after)
    running = ProgressRow.state == ProgressState.RUNNING
    async with database.unit_of_work() as work:
        # Most of the time nothing runs: then one look is enough.
        if not await work.session.scalar(select(exists().where(or_(running, failed)))):
            return ()
        wanted = select_reports(viewer).where(ProgressRow.workflow_type.in_(workflow_types), or_(running, failed))
        roots = await load_reports(work, wanted.order_by(ProgressRow.started_at.desc()).limit(limit))
        roots |= await _above_running(work, viewer, workflow_types)
        found = await descendants(work, viewer, set(roots))
    newest = sorted(roots.values(), key=lambda report: report.started_at, reverse=True)[:limit]
    below = _by_parent(found.values())
    return tuple(WorkTree(report, tuple(_all_below(report, below))) for report in newest)


async def _above_running(work: UnitOfWork, viewer: Viewer, workflow_types: Collection[str]) -> dict[str, WorkReport]:
    """A child may outlive who started it: then that one has ended, but its work has not."""
    roots: dict[str, WorkReport] = {}
    running = select(ProgressRow.parent_workflow_id).where(
        ProgressRow.state == ProgressState.RUNNING, ProgressRow.parent_workflow_id.is_not(None)
    )
    parents: set[str] = {parent for parent in await work.session.scalars(running.limit(MOST_RUNNING)) if parent}
    for _ in range(DEEPEST):
        if not parents:
            break
        found = await load_reports(work, select_reports(viewer).where(ProgressRow.workflow_id.in_(parents)))
        roots |= {report.workflow_id: report for report in found.values() if report.workflow_type in workflow_types}
        parents = {report.parent_workflow_id for report in found.values() if report.parent_workflow_id} - parents
    return roots


def _by_parent(found: Iterable[WorkReport]) -> Mapping[str, list[WorkReport]]:
    below: dict[str, list[WorkReport]] = defaultdict(list)
    for report in found:
        if report.parent_workflow_id:
            below[report.parent_workflow_id].append(report)
    return below


def _all_below(root: WorkReport, below: Mapping[str, list[WorkReport]]) -> Iterable[WorkReport]:
    """Ids are used again: what is older than the root belongs to an earlier run of it."""
    waiting, seen = [root], {root.workflow_id}
    while waiting:
        for report in below.get(waiting.pop().workflow_id, ()):
            if report.workflow_id not in seen and report.started_at >= root.started_at:
                seen.add(report.workflow_id)
                waiting.append(report)
                yield report
