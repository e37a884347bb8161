"""Goals and their registers in PostgreSQL, as searches, downloads and uploads need them."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import NotFoundError
from pressbox.footy.adapters.changes import publish_goal
from pressbox.footy.adapters.completion import complete_goals, count_downloads
from pressbox.footy.adapters.rows import ClipCandidateRow, ClipSearchRow, GoalNoteRow, GoalRow, GoalRunRow
from pressbox.footy.contracts.download import CompletionResult
from pressbox.footy.contracts.monitor import GoalToSearch
from pressbox.footy.contracts.search import DownloadCount
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.goals import CompletionReason, SearchEnd
from pressbox.footy.domain.policy import FootyPolicy

SEARCH_BEGAN = "search began"
WRONG_CLOCK = "wrong clock"
DISALLOWED = "the goal was disallowed"
UNKNOWN = "there is no such goal"


class SqlGoals:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim_searches(
        self, policy: FootyPolicy, limit: int, freeze: Callable[[str, str], tuple[str, str]]
    ) -> Sequence[GoalToSearch]:
        statement = (
            select(GoalRow)
            .where(
                GoalRow.confirmed_at.is_not(None),
                GoalRow.monitor_complete.is_(False),
                GoalRow.removed_at.is_(None),
                GoalRow.completed_at.is_(None),
                GoalRow.player_name != "",
            )
            # Goals that were never requested go first, so that a search that does not start delays no other.
            .order_by(GoalRow.search_asked_at.asc().nulls_first(), GoalRow.confirmed_at, GoalRow.event_id)
            .limit(limit)
            .with_for_update()
        )
        async with self._database.unit_of_work() as work:
            rows = list(await work.session.scalars(statement))
            asked = (await work.session.execute(select(func.now()))).scalar_one()
            return [_mark_asked(row, freeze, asked) for row in rows]

    async def set_monitor_complete(self, event_id: str, workflow_id: str, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            row = await _lock_goal(work, event_id)
            if row.monitor_complete:
                return
            row.monitor_complete, row.monitor_complete_at = True, now
            row.search_ended = row.search_ended_at = None
            row.last_activity = max(row.last_activity, now)
            work.session.add(GoalNoteRow(event_id=event_id, run_id=workflow_id, at=now, what=SEARCH_BEGAN))
            publish_goal(work, row.event_id, row.fixture_id)

    async def note_wrong_clock(self, event_id: str, ahead: timedelta, now: datetime) -> None:
        seconds = round(ahead.total_seconds())
        async with self._database.unit_of_work() as work:
            row = await _lock_goal(work, event_id)
            known = select(GoalNoteRow.id).where(GoalNoteRow.event_id == event_id, GoalNoteRow.what == WRONG_CLOCK)
            if await work.session.scalar(known.limit(1)) is None:
                note = {"event_id": event_id, "run_id": "", "at": now, "what": WRONG_CLOCK, "after": f"{seconds:+d} s"}
                work.session.add(GoalNoteRow(**note))
                publish_goal(work, row.event_id, row.fixture_id)

    async def removal_reason(self, event_id: str) -> str | None:
        statement = select(GoalRow.removed_at).where(GoalRow.event_id == event_id)
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).one_or_none()
        if found is None:
            return UNKNOWN
        return DISALLOWED if found[0] is not None else None

    async def load_scorer(self, event_id: str) -> tuple[str, str, int]:
        player, team, number = await self._load_columns(
            event_id, GoalRow.player_name, GoalRow.team_name, GoalRow.team_id
        )
        return player, team, number

    async def load_minute(self, event_id: str) -> tuple[int, int]:
        elapsed, extra = await self._load_columns(event_id, GoalRow.elapsed, GoalRow.extra)
        return elapsed, extra or 0

    async def record_query(self, event_id: str, query: str) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(update(GoalRow).where(GoalRow.event_id == event_id).values(twitter_search=query))

    async def load_search_start(self, event_id: str) -> datetime:
        # An attempt in which any source failed is incomplete: the next one looks back beyond it.
        worked = (
            select(func.min(ClipSearchRow.searched_at).label("began"))
            .where(ClipSearchRow.event_id == event_id)
            .group_by(ClipSearchRow.attempt)
            .having(func.bool_and(ClipSearchRow.failure == ""))
            .subquery()
        )
        unseen, last = await self._load_columns(
            event_id, GoalRow.unseen_at, select(func.max(worked.c.began)).scalar_subquery()
        )
        since: datetime = last or unseen
        return since

    async def register_download(self, event_id: str, workflow_id: str, now: datetime) -> None:
        row = {"event_id": event_id, "register": "download", "workflow_id": workflow_id, "registered_at": now}
        async with self._database.unit_of_work() as work:
            await work.session.execute(insert(GoalRunRow).values(row).on_conflict_do_nothing())

    async def finish_download(self, event_id: str, workflow_id: str, outcome: str, now: datetime) -> None:
        statement = insert(GoalRunRow).values(
            event_id=event_id,
            register="download",
            workflow_id=workflow_id,
            registered_at=now,
            finished_at=now,
            outcome=outcome,
        )
        statement = statement.on_conflict_do_update(
            index_elements=["event_id", "register", "workflow_id"],
            set_={"finished_at": statement.excluded.finished_at, "outcome": statement.excluded.outcome},
            where=GoalRunRow.finished_at.is_(None),
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)

    async def count_downloads(self, event_id: str) -> DownloadCount:
        async with self._database.unit_of_work() as work:
            counts = await count_downloads(work.session, [event_id])
        registered, finished = counts.get(event_id, (0, 0))
        return DownloadCount(registered=registered, finished=finished)

    async def end_search(self, event_id: str, ended: SearchEnd, now: datetime) -> None:
        # A search that failed may be started again; then the end of that one counts.
        undecided = or_(GoalRow.search_ended.is_(None), GoalRow.search_ended == SearchEnd.FAILED)
        async with self._database.unit_of_work() as work:
            fixture_id = await work.session.scalar(
                update(GoalRow)
                .where(GoalRow.event_id == event_id, undecided)
                .values(
                    search_ended=ended,
                    search_ended_at=now,
                    # The goal may have come back while the search was ending because it was gone.
                    monitor_complete=GoalRow.removed_at.is_not(None) if ended is SearchEnd.GONE else True,
                    last_activity=func.greatest(GoalRow.last_activity, now),
                )
                .returning(GoalRow.fixture_id)
            )
            if fixture_id is not None and ended is not SearchEnd.FAILED:
                await work.session.execute(
                    update(ClipCandidateRow)
                    .where(ClipCandidateRow.event_id == event_id, ClipCandidateRow.outcome == CandidateOutcome.FOUND)
                    .values(outcome=CandidateOutcome.NOT_CHOSEN, reason="longer clips were chosen", settled_at=now)
                )
            if fixture_id is not None:
                publish_goal(work, event_id)

    async def complete_if_ready(self, event_id: str, policy: FootyPolicy, now: datetime) -> CompletionResult:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(GoalRow, event_id, with_for_update=True)
            if row is None:
                return CompletionResult(complete=True, reason=CompletionReason.REMOVED)
            if row.completed_at is None and await complete_goals(work.session, [row], policy, now):
                publish_goal(work, row.event_id, row.fixture_id)
            return CompletionResult(complete=row.completed_at is not None, reason=row.completion_reason)

    async def _load_columns(self, event_id: str, *columns: Any) -> Any:
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(select(*columns).where(GoalRow.event_id == event_id))).one_or_none()
        if found is None:
            raise NotFoundError("There is no such goal.", event_id=event_id)
        return found


def _mark_asked(row: GoalRow, freeze: Callable[[str, str], tuple[str, str]], now: datetime) -> GoalToSearch:
    before = row.search_asked_at is not None
    if row.team_slug is None or row.player_slug is None or row.minute_label is None:
        row.team_slug, row.player_slug = freeze(row.team_name, row.player_name)
        row.minute_label = f"{row.elapsed}+{row.extra}" if row.extra else str(row.elapsed)
    row.search_asked_at = now
    return GoalToSearch(
        fixture_id=row.fixture_id,
        event_id=row.event_id,
        team_id=row.team_id,
        team_slug=row.team_slug,
        player_slug=row.player_slug,
        minute_label=row.minute_label,
        asked_before=before,
        again=row.search_ended == SearchEnd.GONE,
    )


async def _lock_goal(work: UnitOfWork, event_id: str) -> GoalRow:
    row = await work.session.get(GoalRow, event_id, with_for_update=True)
    if row is None:
        raise NotFoundError("There is no such goal.", event_id=event_id)
    return row
