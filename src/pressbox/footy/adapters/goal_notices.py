"""Tells followers of goals: one notice per goal, which follows what becomes of it.

The notice is made of the stored goal, so whoever changes a goal calls `tell_of_goals` in the same transaction, and
calling it again changes nothing.
"""

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import select

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import UnitOfWork
from pressbox.core.notices.publish import Notice, publish, withdraw
from pressbox.footy.adapters.rows import ClipRow, FixtureRow, GoalRow
from pressbox.footy.domain.goals import GoalDetail
from pressbox.footy.ids import FIXTURE_SUBJECT, LEAGUE_SUBJECT, TEAM_SUBJECT, clip_path, match_path

# What is confirmed later after kick-off is no news: a first start shows the goals of a match that is over, and tells
# nobody.
NEWS_LIFE = timedelta(hours=5)
_OPENINGS = {GoalDetail.OWN: "Own goal for", GoalDetail.PENALTY: "Penalty for"}


def notice_key(event_id: str) -> str:
    return f"footy.goal.{event_id}"


async def tell_of_matches(work: UnitOfWork, fixture_ids: Collection[int]) -> None:
    """Tell of the goals of these fixtures as they are stored now."""
    await work.session.flush()
    goals = await work.session.scalars(select(GoalRow.event_id).where(GoalRow.fixture_id == one_of(fixture_ids)))
    await tell_of_goals(work, goals.all())


async def tell_of_goals(work: UnitOfWork, event_ids: Collection[str]) -> None:
    if not event_ids:
        return
    await work.session.flush()
    statement = (
        select(GoalRow, FixtureRow)
        .join(FixtureRow, FixtureRow.id == GoalRow.fixture_id)
        .where(
            GoalRow.event_id == one_of_texts(event_ids),
            GoalRow.confirmed_at < FixtureRow.kickoff + NEWS_LIFE,
        )
    )
    rows = (await work.session.execute(statement)).tuples().all()
    best = await _load_best_clips(work, [goal.event_id for goal, _ in rows])
    stands = [(goal, fixture) for goal, fixture in rows if goal.removed_at is None]
    await publish(work, [_notice(goal, fixture, best.get(goal.event_id)) for goal, fixture in stands])
    await withdraw(work, [notice_key(goal.event_id) for goal, _ in rows if goal.removed_at is not None])


async def _load_best_clips(work: UnitOfWork, event_ids: Collection[str]) -> dict[str, str]:
    """The share ids of the first verified clip of each goal."""
    if not event_ids:
        return {}
    statement = (
        select(ClipRow.event_id, ClipRow.share_id)
        .where(ClipRow.event_id == one_of_texts(event_ids), ClipRow.timestamp_verified)
        .order_by(ClipRow.event_id, ClipRow.rank, ClipRow.id)
        .distinct(ClipRow.event_id)
    )
    return dict((await work.session.execute(statement)).tuples().all())


def _notice(goal: GoalRow, fixture: FixtureRow, share_id: str | None) -> Notice:
    match = f"{fixture.home_name} {goal.home_score}–{goal.away_score} {fixture.away_name}"
    opening = _OPENINGS.get(GoalDetail(goal.detail), "Goal for")
    minute = f"{goal.elapsed}+{goal.extra}" if goal.extra else str(goal.elapsed)
    return Notice(
        key=notice_key(goal.event_id),
        application="footy",
        kind="goal",
        subject=f"{FIXTURE_SUBJECT}{fixture.id}",
        heading=f"{fixture.home_name} – {fixture.away_name}",
        followed=(
            f"{TEAM_SUBJECT}{goal.team_id}",
            f"{TEAM_SUBJECT}{fixture.home_id}",
            f"{TEAM_SUBJECT}{fixture.away_id}",
            f"{FIXTURE_SUBJECT}{fixture.id}",
            f"{LEAGUE_SUBJECT}{fixture.league_id}",
        ),
        title=f"{opening} {goal.team_name} by {goal.player_name}, {minute}′",
        detail=f"{match}. The clip is there." if share_id else match,
        path=clip_path(share_id) if share_id else match_path(fixture.id),
        picture=f"{clip_path(share_id)}.jpg" if share_id else "",
        occurred_at=goal.first_seen,
        # Another minute, or a clip, is no reason to write to anybody again.
        gist=f"{opening} {goal.team_name} by {goal.player_name}, {match}",
        spoiler=True,
        covered_title=f"A goal in {fixture.home_name} – {fixture.away_name}",
    )
