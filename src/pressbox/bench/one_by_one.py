"""A naive poll, for comparison: one call and one transaction per fixture, one after the other."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.demo.simulators.fixtures_api import DEMO_KEY
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.domain.goals import GoalDetail, Score, StoredGoal
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy

_LOCK = text("SELECT id FROM footy.fixtures WHERE id = :id FOR UPDATE")
_SNAPSHOT = text("""
    INSERT INTO footy.fixture_snapshots (fixture_id, raw, fetched_by, fetched_at) VALUES (:id, :raw, :run_id, :now)
    ON CONFLICT (fixture_id) DO UPDATE SET raw = excluded.raw, fetched_by = excluded.fetched_by,
        fetched_at = excluded.fetched_at
""")
_GOALS = text("SELECT * FROM footy.goals WHERE fixture_id = :id ORDER BY event_id FOR UPDATE")
_RUNS = text("SELECT event_id, register, workflow_id FROM footy.goal_runs WHERE event_id = :event_id")
_SEEN = text("UPDATE footy.goals SET last_seen = :now WHERE event_id = :event_id")
_FIXTURE = text("""
    UPDATE footy.fixtures SET status = :status, elapsed = :elapsed, extra = :extra, home_goals = :home,
        away_goals = :away, version = version + 1 WHERE id = :id
""")


async def poll_one_by_one(database: Database, url: str, fixture_ids: Sequence[int], run_id: str) -> int:
    """Poll known goals only, and return how many were seen, as proof that the work was done."""
    seen = 0
    async with httpx.AsyncClient(base_url=url, headers={"x-apisports-key": DEMO_KEY}, trust_env=False) as client:
        for fixture_id in fixture_ids:
            answer = await client.get("/fixtures", params={"ids": str(fixture_id)})
            (raw,) = answer.raise_for_status().json()["response"]
            async with database.unit_of_work() as work:
                seen += await _poll_fixture(work.session, fixture_id, raw, run_id)
    return seen


async def _poll_fixture(session: AsyncSession, fixture_id: int, raw: Mapping[str, Any], run_id: str) -> int:
    now = datetime.now(UTC)
    await session.execute(_LOCK, {"id": fixture_id})
    await session.execute(_SNAPSHOT, {"id": fixture_id, "raw": json.dumps(raw), "run_id": run_id, "now": now})
    rows = (await session.execute(_GOALS, {"id": fixture_id})).mappings().all()
    goals = [await _load_goal(session, row) for row in rows]
    observed = parse_fixture(raw)
    comparison = compare(goals, {}, observed, run_id, now, FootyPolicy())
    for goal in comparison.seen:
        await session.execute(_SEEN, {"event_id": goal.event_id, "now": now})
    await session.execute(_FIXTURE, _fixture_values(observed))
    return len(comparison.seen)


async def _load_goal(session: AsyncSession, row: Mapping[Any, Any]) -> StoredGoal:
    runs = (await session.execute(_RUNS, {"event_id": row["event_id"]})).all()
    return StoredGoal(
        row["event_id"],
        row["team_id"],
        row["player_id"],
        row["player_name"],
        GoalDetail(row["detail"]),
        row["elapsed"],
        row["extra"],
        Score(row["home_score"], row["away_score"]),
        frozenset(run.workflow_id for run in runs if run.register == "monitor"),
        frozenset(run.workflow_id for run in runs if run.register == "drop"),
        row["monitor_complete"],
        row["removed_at"],
    )


def _fixture_values(observed: ObservedFixture) -> dict[str, Any]:
    return {
        "id": observed.fixture_id,
        "status": observed.status.value,
        "elapsed": observed.elapsed,
        "extra": observed.extra,
        "home": observed.home_goals,
        "away": observed.away_goals,
    }
