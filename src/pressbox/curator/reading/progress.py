"""What runs now for the sources of a reader, in the counters that people know: fetched and distilled."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pressbox.core.db.database import Database
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.trees import WorkTree, work_trees

ALL = "AllFeedsIngestionWorkflow"
ONE = "SingleFeedIngestionWorkflow"
# Those that count what their parents only learn at the end.
FETCHING = "DomainFetchWorkflow"
DISTILLING = "ContentDistillationWorkflow"
MOST_READ = 200
MOST_SHOWN = 3
# Long enough to be seen by whoever started it; afterwards the page of the source and the activity page still say it.
FAILURES_SHOWN_FOR = timedelta(minutes=10)


@dataclass(frozen=True)
class WorkLine:
    """`feeds_total` is set for the work on all sources."""

    workflow_id: str
    title: str
    failed: bool
    error: str
    total: int
    fetched: int
    distilled: int
    feeds_done: int = 0
    feeds_total: int = 0


async def works(database: Database, feed_ids: Collection[int], only_feed: int | None) -> Sequence[WorkLine]:
    """Only of these sources: what others read is theirs to know."""
    wanted = {only_feed} & set(feed_ids) if only_feed is not None else set(feed_ids)
    kinds = (ONE,) if only_feed is not None else (ALL, ONE)
    since = datetime.now(UTC) - FAILURES_SHOWN_FOR
    found = await work_trees(database, kinds, failed_after=since, limit=MOST_READ)
    shown = [tree for tree in found if tree.root.workflow_type == ALL or tree.root.detail.get("feed_id") in wanted]
    # First the whole, then its parts.
    shown.sort(key=lambda tree: tree.root.workflow_type != ALL)
    return [_line(tree) for tree in shown[:MOST_SHOWN]]


def _line(tree: WorkTree) -> WorkLine:
    """Children count as they go; what the whole counted itself, such as articles without a page, is in there too."""
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
