"""One goal in PostgreSQL and everything that happened to it, and the files behind share links."""

from collections.abc import Sequence
from datetime import date, datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import defer

from pressbox.core.db.database import Database
from pressbox.core.errors import GoneError, NotFoundError
from pressbox.footy.adapters.match_store import goals_with_fixtures, hits, on_day
from pressbox.footy.adapters.rows import ClipCandidateRow, ClipRow, ClipSearchRow, GoalNoteRow, GoalRow, GoalRunRow
from pressbox.footy.adapters.views import clip_views, goal_view
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.views import (
    CandidateView,
    ClipFileView,
    GoalHit,
    GoalView,
    NoteView,
    OutcomeCount,
    Page,
    RunView,
    SearchView,
)

DISALLOWED = "disallowed"


class SqlTrailStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def goal(self, event_id: str) -> GoalView:
        async with self._database.unit_of_work() as work:
            statement = goals_with_fixtures().where(GoalRow.event_id == event_id)
            found = (await work.session.execute(statement)).tuples().one_or_none()
            if found is None:
                raise NotFoundError("There is no such goal, or it is older than matches are kept.")
            clips = await clip_views(work.session, [event_id])
        goal, fixture = found
        return goal_view(goal, fixture.home_id, clips.get(event_id, ()))

    async def goals(self, day: date | None, after: int, limit: int) -> Page[GoalHit]:
        statement = goals_with_fixtures() if day is None else goals_with_fixtures().where(on_day(day))
        async with self._database.unit_of_work() as work:
            return await hits(work.session, statement, after, limit)

    async def runs(self, event_id: str, register: str) -> Sequence[RunView]:
        statement = (
            select(GoalRunRow)
            .where(GoalRunRow.event_id == event_id, GoalRunRow.register == register)
            .order_by(GoalRunRow.registered_at, GoalRunRow.workflow_id)
        )
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(statement)
            return [RunView(row.workflow_id, row.registered_at, row.finished_at, row.outcome) for row in rows]

    async def notes(self, event_id: str) -> Sequence[NoteView]:
        statement = select(GoalNoteRow).where(GoalNoteRow.event_id == event_id).order_by(GoalNoteRow.at, GoalNoteRow.id)
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(statement)
            return [NoteView(row.at, row.run_id, row.what, row.before, row.after) for row in rows]

    async def searches(self, event_id: str) -> Sequence[SearchView]:
        statement = (
            select(ClipSearchRow)
            .where(ClipSearchRow.event_id == event_id)
            .order_by(ClipSearchRow.attempt, ClipSearchRow.source)
        )
        async with self._database.unit_of_work() as work:
            return [
                SearchView(row.attempt, row.source, row.query, row.searched_at, row.found, row.failure)
                for row in await work.session.scalars(statement)
            ]

    async def search_end(self, event_id: str) -> tuple[str, datetime | None]:
        statement = select(GoalRow.search_ended, GoalRow.search_ended_at).where(GoalRow.event_id == event_id)
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        ended, at = found or (None, None)
        return ended or "", at

    async def candidates(self, event_id: str, after: int, limit: int) -> Page[CandidateView]:
        statement = (
            select(ClipCandidateRow, ClipRow.share_id)
            .outerjoin(ClipRow, ClipRow.id == ClipCandidateRow.clip_id)
            .where(ClipCandidateRow.event_id == event_id, ClipCandidateRow.id > after)
            .order_by(ClipCandidateRow.id)
            .limit(limit + 1)
            .options(defer(ClipCandidateRow.fingerprint), defer(ClipCandidateRow.video))
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().all()
        items = tuple(_candidate(row, share_id) for row, share_id in found[:limit])
        return Page(items, items[-1].candidate_id if len(found) > limit else None)

    async def outcomes(self, event_id: str) -> Sequence[OutcomeCount]:
        statement = (
            select(ClipCandidateRow.outcome, func.count())
            .where(ClipCandidateRow.event_id == event_id)
            .group_by(ClipCandidateRow.outcome)
            .order_by(func.count().desc(), ClipCandidateRow.outcome)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples()
            return [OutcomeCount(CandidateOutcome(outcome), count) for outcome, count in found]


class SqlClipFiles:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def file(self, share_id: str) -> ClipFileView:
        """Also by the link of a clip that turned out to show the same scene."""
        named = or_(ClipRow.share_id == share_id, ClipRow.former_share_ids.contains([share_id]))
        statement = (
            select(ClipRow, GoalRow.fixture_id, GoalRow.removed_at)
            .join(GoalRow, GoalRow.event_id == ClipRow.event_id)
            .where(named)
            .options(defer(ClipRow.perceptual_hash))
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().first()
        if found is None:
            raise NotFoundError("There is no such clip, or it is older than clips are kept.")
        row, fixture_id, removed_at = found
        if removed_at is not None:
            raise GoneError(DISALLOWED, event_id=row.event_id)
        return ClipFileView(
            share_id=row.share_id,
            event_id=row.event_id,
            fixture_id=fixture_id,
            object_key=row.object_key,
            poster_key=row.poster_key,
            file_size=row.file_size,
            etag=row.md5,
            updated_at=row.updated_at,
        )


def _candidate(row: ClipCandidateRow, share_id: str | None) -> CandidateView:
    return CandidateView(
        candidate_id=row.id,
        attempt=row.attempt,
        source=row.source,
        video_page_url=row.video_page_url,
        tweet_url=row.tweet_url,
        tweet_text=row.tweet_text,
        duration_seconds=row.duration,
        posted_at=row.posted_at,
        discovered_at=row.discovered_at,
        outcome=CandidateOutcome(row.outcome),
        reason=row.reason,
        settled_at=row.settled_at,
        share_id=share_id,
    )
