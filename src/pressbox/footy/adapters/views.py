"""Turns rows into views: fixtures with their goals and clips, in a few statements for all of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.spoilers.choice import Sight
from pressbox.footy.adapters.past import load_past
from pressbox.footy.adapters.rows import ClipCandidateRow, ClipRow, FixtureRow, GoalRow
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import GoalDetail
from pressbox.footy.domain.subjects import fixture_subject
from pressbox.footy.domain.views import ClipView, FixtureView, GoalState, GoalView, SideView
from pressbox.footy.ids import clip_path


async def fixture_views(session: AsyncSession, rows: Sequence[FixtureRow], sight: Sight) -> list[FixtureView]:
    """In the given order, as this person may know them, each with the goals that were not removed."""
    past = await load_past(session, sight, [row.id for row in rows])
    known = [row for row in rows if not sight.hides(fixture_subject(row.id))]
    standing: ColumnElement[bool] = GoalRow.removed_at.is_(None)
    if sight.delayed:
        # What was taken back since then still stood.
        standing = or_(standing, GoalRow.removed_at > past.until)
    wanted = (
        select(GoalRow)
        .where(GoalRow.fixture_id == one_of([row.id for row in known]), standing)
        .order_by(GoalRow.elapsed, GoalRow.extra.nulls_first(), GoalRow.home_score + GoalRow.away_score)
    )
    goals = list(await session.scalars(wanted)) if known else []
    clips = await clip_views(session, [goal.event_id for goal in goals])
    homes = {row.id: row.home_id for row in rows}
    by_fixture: dict[int, list[GoalView]] = defaultdict(list)
    for goal in goals:
        seen = past.of_goal(goal_view(goal, homes[goal.fixture_id], clips.get(goal.event_id, ())))
        if seen is not None and seen.removed_at is None:
            by_fixture[goal.fixture_id].append(seen)
    return [past.of_fixture(_fixture_view(row, tuple(by_fixture[row.id]))) for row in rows]


async def clip_views(session: AsyncSession, event_ids: Sequence[str]) -> Mapping[str, tuple[ClipView, ...]]:
    """By goal, best first. Fingerprints stay in the database."""
    if not event_ids:
        return {}
    statement = (
        select(ClipRow, ClipCandidateRow.source)
        .outerjoin(ClipCandidateRow, ClipCandidateRow.id == ClipRow.candidate_id)
        .where(ClipRow.event_id == one_of_texts(event_ids))
        .order_by(ClipRow.event_id, ClipRow.rank, ClipRow.id)
        .options(defer(ClipRow.perceptual_hash))
    )
    found: dict[str, list[ClipView]] = defaultdict(list)
    for row, source in (await session.execute(statement)).tuples():
        found[row.event_id].append(_clip_view(row, source or ""))
    return {event_id: tuple(clips) for event_id, clips in found.items()}


def goal_view(row: GoalRow, home_id: int, clips: tuple[ClipView, ...]) -> GoalView:
    return GoalView(
        event_id=row.event_id,
        fixture_id=row.fixture_id,
        team_id=row.team_id,
        team_name=row.team_name,
        at_home=row.team_id == home_id,
        player_id=row.player_id,
        player_name=row.player_name,
        assist_name=row.assist_name,
        detail=GoalDetail(row.detail),
        elapsed=row.elapsed,
        extra=row.extra,
        home_score=row.home_score,
        away_score=row.away_score,
        state=_state(row),
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        last_activity=row.last_activity,
        confirmed_at=row.confirmed_at,
        completed_at=row.completed_at,
        completion_reason=row.completion_reason,
        removed_at=row.removed_at,
        clips=clips,
    )


def _state(row: GoalRow) -> GoalState:
    if row.removed_at is not None:
        return GoalState.REMOVED
    if row.completed_at is not None:
        return GoalState.COMPLETE
    return GoalState.UNCONFIRMED if row.confirmed_at is None else GoalState.SEARCHING


def _clip_view(row: ClipRow, source: str) -> ClipView:
    page = clip_path(row.share_id)
    return ClipView(
        share_id=row.share_id,
        event_id=row.event_id,
        rank=row.rank,
        url=f"{page}.mp4",
        poster_url=f"{page}.jpg",
        page_url=page,
        duration_seconds=row.duration,
        width=row.width,
        height=row.height,
        bitrate=row.bitrate,
        file_size=row.file_size,
        timestamp_verified=row.timestamp_verified,
        timestamp_status=TimestampStatus(row.timestamp_status),
        extracted_minute=row.extracted_minute,
        popularity=row.popularity,
        replacements=row.replacements,
        source=source,
        source_url=row.source_url,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _fixture_view(row: FixtureRow, goals: tuple[GoalView, ...]) -> FixtureView:
    return FixtureView(
        fixture_id=row.id,
        stage=Stage(row.stage),
        status=FixtureStatus(row.status),
        kickoff=row.kickoff,
        league_id=row.league_id,
        league_name=row.league_name,
        country=row.country,
        round=row.round,
        venue=row.venue,
        home=SideView(row.home_id, row.home_name, row.home_goals, row.home_penalties),
        away=SideView(row.away_id, row.away_name, row.away_goals, row.away_penalties),
        elapsed=row.elapsed,
        extra=row.extra,
        winner_id=row.winner_id,
        trouble=row.trouble,
        trouble_since=row.trouble_since,
        last_monitor=row.last_monitor,
        completed_at=row.completed_at,
        goals=goals,
    )
