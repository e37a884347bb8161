"""The benchmarks measure what they say. No test looks at a time."""

from sqlalchemy import func, select

from pressbox.bench.throughput import measure_history_events, measure_throughput
from pressbox.core.app import Resources
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.rows import ProgressRow


async def test_reports_of_progress_leave_no_trace_in_the_history_and_arrive(resources: Resources) -> None:
    events = await measure_history_events(resources, steps=2, reports=10)
    assert events.per_report == 0
    assert events.reports == 20
    async with resources.database.unit_of_work() as work:
        rows = list(await work.session.scalars(select(ProgressRow)))
    assert {row.state for row in rows} == {ProgressState.COMPLETED}
    assert sorted(row.message for row in rows) == ["", "Report 20"]


async def test_throughput_runs_every_workflow_on_both_workers(resources: Resources) -> None:
    throughput = await measure_throughput(resources, workflows=5, rounds=1)
    for rate in (throughput.ours, throughput.bare):
        assert rate.per_second > 0
        assert rate.cpu_milliseconds > 0
    async with resources.database.unit_of_work() as work:
        rows = await work.session.scalar(select(func.count()).select_from(ProgressRow))
    # Those to warm up and those that count, on our worker; the bare one writes no progress.
    assert rows == 10
