"""The end of fixtures in PostgreSQL: archives those that are over, deletes those that are too old."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import Database
from pressbox.footy.adapters.changes import publish_fixture
from pressbox.footy.adapters.completion import complete_goals
from pressbox.footy.adapters.rows import ClipRow, FixtureRow, GoalRow
from pressbox.footy.contracts.ingest import CleanupResult
from pressbox.footy.contracts.monitor import CompletedFixtures
from pressbox.footy.domain.fixtures import FixtureStatus, Stage, can_archive
from pressbox.footy.domain.goals import CompletionReason
from pressbox.footy.domain.policy import FootyPolicy

_TERMINAL = [status.value for status in FixtureStatus if status.terminal]
_WAITING = [status.value for status in FixtureStatus if status.stage is Stage.STAGING]
_STOPPED = [status.value for status in FixtureStatus if status.stopped]


class SqlFixtureArchive:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def archive_finished(self, run_id: str, policy: FootyPolicy, now: datetime) -> CompletedFixtures:
        open_goals = (
            select(GoalRow)
            .where(GoalRow.completed_at.is_(None), GoalRow.removed_at.is_(None))
            .order_by(GoalRow.event_id)
            .with_for_update(skip_locked=True)
        )
        async with self._database.unit_of_work() as work:
            session = work.session
            completed = await complete_goals(session, list(await session.scalars(open_goals)), policy, now)
            await session.flush()
            await _mark_changed(session, run_id, {row.fixture_id for row in completed})
            await _archive_fixtures(session, run_id, policy, now)
            await _park_fixtures(session, run_id, policy, now)
            # Includes what an interrupted attempt of this run archived.
            archived = select(FixtureRow.id).where(FixtureRow.changed_by == run_id, FixtureRow.stage == Stage.COMPLETED)
            numbers = tuple(await session.scalars(archived.order_by(FixtureRow.id)))
        overdue = sum(row.completion_reason == CompletionReason.DEADLINE for row in completed)
        return CompletedFixtures(fixture_ids=numbers, overdue_goals=overdue)

    async def find_expired(self, policy: FootyPolicy, now: datetime, limit: int) -> tuple[Sequence[int], Sequence[str]]:
        old = select(FixtureRow.id).where(FixtureRow.kickoff < now - policy.retention)
        removed = select(GoalRow.event_id).where(
            GoalRow.removed_at < now - policy.removal_grace, GoalRow.purged_at.is_(None)
        )
        async with self._database.unit_of_work() as work:
            fixtures = list(await work.session.scalars(old.order_by(FixtureRow.kickoff).limit(limit)))
            goals = list(await work.session.scalars(removed.order_by(GoalRow.removed_at).limit(limit)))
        return fixtures, goals

    async def delete(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> CleanupResult:
        """A removed goal keeps its row, so that its link answers "disallowed" and its id is never reused."""
        gone = GoalRow.event_id == one_of_texts(event_ids)
        still_removed = gone & GoalRow.removed_at.is_not(None)
        async with self._database.unit_of_work() as work:
            removed = select(GoalRow.event_id).where(still_removed)
            # The rows stay, so that the links of the clips answer "disallowed" too.
            await work.session.execute(
                update(ClipRow).where(ClipRow.event_id.in_(removed)).values(perceptual_hash=None)
            )
            purged = await work.session.scalars(
                update(GoalRow).where(still_removed).values(purged_at=func.now()).returning(GoalRow.event_id)
            )
            goals = len(purged.all())
            deleted = await work.session.execute(
                delete(FixtureRow)
                .where(FixtureRow.id == one_of(fixture_ids))
                .returning(FixtureRow.id, FixtureRow.kickoff)
            )
            fixtures = deleted.tuples().all()
            for number, kickoff in fixtures:
                publish_fixture(work, number, kickoff)
        return CleanupResult(fixtures=len(fixtures), goals=goals)


async def _mark_changed(session: AsyncSession, run_id: str, fixture_ids: set[int]) -> None:
    if fixture_ids:
        await session.execute(update(FixtureRow).where(FixtureRow.id == one_of(fixture_ids)).values(changed_by=run_id))


async def _park_fixtures(session: AsyncSession, run_id: str, policy: FootyPolicy, now: datetime) -> None:
    """Let fixtures wait that moved to a later day or were stopped, or of which the API says nothing new for long.

    The last are those that vanished from the answers, and those that stand still hours after they ended. They are
    polled on the quarter hour, and go on as soon as an answer says that they do.
    """
    moved = FixtureRow.status.in_(_WAITING) & (FixtureRow.kickoff > now + 2 * policy.activate_ahead)
    stopped = FixtureRow.status.in_(_STOPPED) & (FixtureRow.changed_at < now - policy.stopped_patience)
    long_ago = now - policy.vanished_patience
    news = func.greatest(FixtureRow.changed_at, FixtureRow.activated_at, FixtureRow.kickoff)
    # After an outage of ours the first answers count, not the time without any.
    tried = FixtureRow.trouble_since.is_(None) | (FixtureRow.trouble_since < long_ago)
    quiet = FixtureRow.status.not_in(_TERMINAL) & (news < long_ago) & tried
    await session.execute(
        update(FixtureRow)
        .where(FixtureRow.stage == Stage.ACTIVE, or_(moved, stopped, quiet))
        .values(stage=Stage.STAGING, changed_by=run_id, version=FixtureRow.version + 1)
    )


async def _archive_fixtures(session: AsyncSession, run_id: str, policy: FootyPolicy, now: datetime) -> None:
    over = select(FixtureRow).where(FixtureRow.stage == Stage.ACTIVE, FixtureRow.status.in_(_TERMINAL))
    rows = list(await session.scalars(over.order_by(FixtureRow.id).with_for_update()))
    if not rows:
        return
    goals = select(GoalRow.fixture_id, GoalRow.team_id, GoalRow.completed_at).where(
        GoalRow.fixture_id == one_of([row.id for row in rows]), GoalRow.removed_at.is_(None)
    )
    standing: Counter[tuple[int, int]] = Counter()
    at_work: Counter[int] = Counter()
    for number, team, completed_at in (await session.execute(goals)).tuples():
        standing[number, team] += 1
        at_work[number] += completed_at is None
    for row in rows:
        status = FixtureStatus(row.status)
        score = (standing[row.id, row.home_id], standing[row.id, row.away_id])
        agrees = not status.scored_on_the_pitch or score == (row.home_goals or 0, row.away_goals or 0)
        vanished = row.looked_at is not None and row.looked_at < now - policy.vanished_patience
        polls = policy.polls_to_agree if vanished else row.terminal_polls
        if can_archive(status, polls, now - row.changed_at, agrees, at_work[row.id], policy):
            row.stage, row.completed_at, row.changed_by = Stage.COMPLETED, now, run_id
            row.trouble, row.trouble_since = "", None
            row.version += 1
            row.last_activity = max(row.last_activity or now, now)
    await session.flush()
