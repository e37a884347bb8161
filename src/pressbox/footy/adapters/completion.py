"""Completes goals in PostgreSQL by the rule in `domain.completion`."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of_texts
from pressbox.footy.adapters.rows import FixtureRow, GoalRow, GoalRunRow
from pressbox.footy.domain.completion import GoalProgress, find_completion
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import CompletionReason, SearchEnd
from pressbox.footy.domain.policy import FootyPolicy


async def complete_goals(
    session: AsyncSession, rows: Sequence[GoalRow], policy: FootyPolicy, now: datetime
) -> Sequence[GoalRow]:
    """Complete those of these locked goals that are ready; returns them."""
    if not rows:
        return []
    counts = await count_downloads(session, [row.event_id for row in rows])
    over = await _find_finished(session, {row.fixture_id for row in rows})
    completed = []
    for row in rows:
        registered, finished = counts.get(row.event_id, (0, 0))
        work = GoalProgress(
            registered=registered,
            finished=finished,
            search_ended=SearchEnd(row.search_ended) if row.search_ended else None,
            first_seen=row.first_seen,
            confirmed_at=row.confirmed_at,
            fixture_over=over.get(row.fixture_id),
            removed=row.removed_at is not None,
        )
        reason = find_completion(work, policy, now)
        if reason is not None:
            _mark_complete(row, reason, now)
            completed.append(row)
    return completed


async def count_downloads(session: AsyncSession, event_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many downloads are registered and finished, by goal."""
    statement = (
        select(GoalRunRow.event_id, func.count(), func.count(GoalRunRow.finished_at))
        .where(GoalRunRow.event_id == one_of_texts(event_ids), GoalRunRow.register == "download")
        .group_by(GoalRunRow.event_id)
    )
    found = (await session.execute(statement)).tuples()
    return {event_id: (registered, finished) for event_id, registered, finished in found}


async def _find_finished(session: AsyncSession, fixture_ids: set[int]) -> dict[int, datetime]:
    """Those that are over, with the time of their last news, which is that of the whistle or later."""
    statement = select(FixtureRow.id, FixtureRow.status, FixtureRow.changed_at).where(FixtureRow.id.in_(fixture_ids))
    found = (await session.execute(statement)).tuples()
    return {number: changed_at for number, status, changed_at in found if FixtureStatus(status).terminal}


def _mark_complete(row: GoalRow, reason: CompletionReason, now: datetime) -> None:
    row.completed_at = now
    row.completion_reason = reason
    row.download_complete = True
    row.last_activity = max(row.last_activity, now)
