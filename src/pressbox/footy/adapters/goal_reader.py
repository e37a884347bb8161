"""Reads goals from PostgreSQL for people, with everything that happened to each."""

from datetime import date, datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from pressbox.core.db.database import Database
from pressbox.core.errors import GoneError, NotFoundError
from pressbox.core.spoilers.choice import Sight
from pressbox.footy.adapters.match_reader import goal_hits, goals_with_fixtures, is_on
from pressbox.footy.adapters.past import demand_open, load_past
from pressbox.footy.adapters.rows import (
    ClipCandidateRow,
    ClipRow,
    ClipSearchRow,
    FixtureRow,
    GoalNoteRow,
    GoalRow,
    GoalRunRow,
)
from pressbox.footy.adapters.views import clip_views, fixture_views, goal_view
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.errors import CoveredError
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.subjects import fixture_subject
from pressbox.footy.domain.trail_summary import Trail, summarise
from pressbox.footy.domain.views import (
    AuditView,
    CandidateView,
    GoalHit,
    GoalView,
    NoteView,
    OutcomeCount,
    Page,
    RunView,
    SearchView,
)

DISALLOWED = "disallowed"
NO_GOAL = "There is no such goal, or it is no longer kept."


class GoalReader:
    """Reads as somebody: `sight` says what they may know of scores."""

    def __init__(self, database: Database, sight: Sight) -> None:
        self._database = database
        self._sight = sight

    async def load_goal(self, event_id: str) -> GoalView:
        """A removed goal is a GoneError that says so, never "no such goal"."""
        async with self._database.unit_of_work() as work:
            goal = await self._find(work.session, event_id)
        if goal.removed_at is not None:
            raise GoneError(DISALLOWED, event_id=event_id)
        return goal

    async def load_goals(self, day: date | None = None, *, after: int = 0, limit: int = 50) -> Page[GoalHit]:
        """Newest first, removed ones too; `after` counts those already shown."""
        statement = goals_with_fixtures() if day is None else goals_with_fixtures().where(is_on(day))
        async with self._database.unit_of_work() as work:
            return await goal_hits(work.session, statement, after, limit, self._sight)

    async def load_audit(self, event_id: str, *, limit: int = 100) -> AuditView:
        """Load everything about a goal, removed or not, with the first candidates."""
        async with self._database.unit_of_work() as work:
            session = work.session
            goal = await self._find(session, event_id)
            self._demand_settled(goal)
            outcomes = await _outcomes(session, event_id)
            searches = await _searches(session, event_id)
            runs = {register: await _runs(session, event_id, register) for register in ("monitor", "drop", "download")}
            ended, ended_at = await _search_end(session, event_id)
            notes = await _notes(session, event_id)
            candidates = await _candidates(session, event_id, 0, limit)
            fixture = await session.get_one(FixtureRow, goal.fixture_id)
            [fixture_view] = await fixture_views(session, [fixture], self._sight)
        sightings, downloads = runs["monitor"], runs["download"]
        trail = Trail(goal, outcomes, searches, len(sightings), FootyPolicy().runs_to_confirm, downloads, ended)
        return AuditView(
            event_id=event_id,
            goal=goal,
            fixture=fixture_view,
            summary=summarise(trail),
            outcomes=outcomes,
            search_ended=ended,
            search_ended_at=ended_at,
            sightings=sightings,
            misses=runs["drop"],
            downloads=downloads,
            notes=notes,
            searches=searches,
            candidates=candidates,
        )

    async def load_candidates(self, event_id: str, *, after: int = 0, limit: int = 100) -> Page[CandidateView]:
        """In the order found; `after` is the last id of the page before."""
        async with self._database.unit_of_work() as work:
            self._demand_settled(await self._find(work.session, event_id))
            return await _candidates(work.session, event_id, after, limit)

    async def _find(self, session: AsyncSession, event_id: str) -> GoalView:
        """The goal as this person may know it; what they may not know yet is not there."""
        demand_open(self._sight, fixture_of(event_id))
        goal = await _goal(session, event_id)
        demand_open(self._sight, goal.fixture_id)
        until = self._sight.known_until(fixture_subject(goal.fixture_id))
        if goal.removed_at is not None and goal.removed_at <= until:
            return goal
        past = await load_past(session, self._sight, [goal.fixture_id])
        known = past.of_goal(goal)
        if known is None:
            raise NotFoundError(NO_GOAL)
        return known

    def _demand_settled(self, goal: GoalView) -> None:
        """The trail of a goal tells all that became of it: who has a delay reads it when nothing is new."""
        if goal.last_activity > self._sight.known_until(fixture_subject(goal.fixture_id)):
            raise CoveredError(goal.fixture_id)


def fixture_of(event_id: str) -> int:
    """The match of a goal, from an id that may be anything; 0 when it is none of ours."""
    number = event_id.partition("_")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else 0


async def _goal(session: AsyncSession, event_id: str) -> GoalView:
    statement = goals_with_fixtures().where(GoalRow.event_id == event_id)
    found = (await session.execute(statement)).tuples().one_or_none()
    if found is None:
        raise NotFoundError(NO_GOAL)
    goal, fixture = found
    clips = await clip_views(session, [event_id])
    return goal_view(goal, fixture.home_id, clips.get(event_id, ()))


async def _runs(session: AsyncSession, event_id: str, register: str) -> tuple[RunView, ...]:
    statement = (
        select(GoalRunRow)
        .where(GoalRunRow.event_id == event_id, GoalRunRow.register == register)
        .order_by(GoalRunRow.registered_at, GoalRunRow.workflow_id)
    )
    return tuple(
        RunView(row.workflow_id, row.registered_at, row.finished_at, row.outcome)
        for row in await session.scalars(statement)
    )


async def _notes(session: AsyncSession, event_id: str) -> tuple[NoteView, ...]:
    statement = select(GoalNoteRow).where(GoalNoteRow.event_id == event_id).order_by(GoalNoteRow.at, GoalNoteRow.id)
    return tuple(
        NoteView(row.at, row.run_id, row.what, row.before, row.after) for row in await session.scalars(statement)
    )


async def _searches(session: AsyncSession, event_id: str) -> tuple[SearchView, ...]:
    statement = (
        select(ClipSearchRow)
        .where(ClipSearchRow.event_id == event_id)
        .order_by(ClipSearchRow.attempt, ClipSearchRow.source)
    )
    return tuple(
        SearchView(row.attempt, row.source, row.query, row.searched_at, row.found, row.failure)
        for row in await session.scalars(statement)
    )


async def _search_end(session: AsyncSession, event_id: str) -> tuple[str, datetime | None]:
    statement = select(GoalRow.search_ended, GoalRow.search_ended_at).where(GoalRow.event_id == event_id)
    ended, at = (await session.execute(statement)).tuples().one()
    return ended or "", at


async def _candidates(session: AsyncSession, event_id: str, after: int, limit: int) -> Page[CandidateView]:
    statement = (
        select(ClipCandidateRow, ClipRow.share_id)
        .outerjoin(ClipRow, ClipRow.id == ClipCandidateRow.clip_id)
        .where(ClipCandidateRow.event_id == event_id, ClipCandidateRow.id > after)
        .order_by(ClipCandidateRow.id)
        .limit(limit + 1)
        .options(defer(ClipCandidateRow.fingerprint), defer(ClipCandidateRow.video))
    )
    found = (await session.execute(statement)).tuples().all()
    items = tuple(_candidate_view(row, share_id) for row, share_id in found[:limit])
    return Page(items, items[-1].candidate_id if len(found) > limit else None)


async def _outcomes(session: AsyncSession, event_id: str) -> tuple[OutcomeCount, ...]:
    statement = (
        select(ClipCandidateRow.outcome, func.count())
        .where(ClipCandidateRow.event_id == event_id)
        .group_by(ClipCandidateRow.outcome)
        .order_by(func.count().desc(), ClipCandidateRow.outcome)
    )
    found = (await session.execute(statement)).tuples()
    return tuple(OutcomeCount(CandidateOutcome(outcome), count) for outcome, count in found)


def _candidate_view(row: ClipCandidateRow, share_id: str | None) -> CandidateView:
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
