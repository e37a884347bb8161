"""What runs now for a person's sources: how many entries are fetched and distilled."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import Database
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.trees import WorkTree, work_trees

ALL = "AllFeedsIngestionWorkflow"
ONE = "SingleFeedIngestionWorkflow"
# Children whose counts reach their parents only at the end.
FETCHING = "DomainFetchWorkflow"
DISTILLING = "ContentDistillationWorkflow"
MOST_READ = 200
MOST_SHOWN = 3
# Long enough to be seen; the page of the source and the activity page keep it.
FAILURES_SHOWN_FOR = timedelta(minutes=10)


@dataclass(frozen=True)
class WorkLine:
    """Progress of one workflow; `feeds_total` is set for the work on all sources."""

    workflow_id: str
    title: str
    failed: bool
    error: str
    total: int
    fetched: int
    distilled: int
    feeds_done: int = 0
    feeds_total: int = 0


async def load_progress(
    database: Database, viewer: Viewer, feed_ids: Collection[int], only_feed: int | None
) -> Sequence[WorkLine]:
    """Load the work on these sources only: what others read is private."""
    wanted = {only_feed} & set(feed_ids) if only_feed is not None else set(feed_ids)
    kinds = (ONE,) if only_feed is not None else (ALL, ONE)
    since = datetime.now(UTC) - FAILURES_SHOWN_FOR
    found = await work_trees(database, viewer, kinds, failed_after=since, limit=MOST_READ)
    shown = [tree for tree in found if tree.root.workflow_type == ALL or tree.root.detail.get("feed_id") in wanted]
    # The work on all sources first.
    shown.sort(key=lambda tree: tree.root.workflow_type != ALL)
    return [_line(tree) for tree in shown[:MOST_SHOWN]]


def _line(tree: WorkTree) -> WorkLine:
    """Sum up the children; the root itself counts articles without a page."""
    report = tree.root

    def count(name: str) -> int:
        value = report.detail.get(name)
        return value if isinstance(value, int) else 0

    whole = report.workflow_type == ALL
    fetched = max(count("contents_fetched"), tree.sum(FETCHING, "entries_fetched"))
    distilled = max(count("entries_distilled"), tree.sum(DISTILLING, "entries_distilled"))
    return WorkLine(
        workflow_id=report.workflow_id,
        title="" if whole else str(report.detail.get("feed_name") or report.title),
        failed=report.state is ProgressState.FAILED,
        error=report.error,
        total=max(count("entries_created" if whole else "total_entries"), fetched, distilled),
        fetched=fetched,
        distilled=distilled,
        feeds_done=count("feeds_completed") if whole else 0,
        feeds_total=count("feeds_total") if whole else 0,
    )
