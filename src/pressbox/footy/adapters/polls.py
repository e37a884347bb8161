"""The monitor's side of the fixtures in PostgreSQL: its runs, waiting fixtures, raw snapshots, and what to compare."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, case, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.footy.adapters.fixture_columns import differs, facts, names, one_of, one_of_names, tell_fixture
from pressbox.footy.adapters.rows import FixtureRow, FixtureSnapshotRow, GoalRow, GoalRunRow, MonitorRunRow
from pressbox.footy.contracts.monitor import RegisteredRun
from pressbox.footy.domain.fixtures import FixtureStatus, ObservedFixture, Stage, activates, quarter
from pressbox.footy.domain.goals import GoalDetail, Score, StoredGoal
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ports.storage import RawFixture, ToCompare

_WAITING = [status.value for status in FixtureStatus if status.stage is Stage.STAGING]


class FixturePolls:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def register_run(self, run_id: str, policy: FootyPolicy, now: datetime) -> RegisteredRun:
        async with self._database.unit_of_work() as work:
            session = work.session
            # A run every 30 seconds: those that nobody asks for any more go with the fixtures of their time.
            await session.execute(delete(MonitorRunRow).where(MonitorRunRow.started_at < now - policy.retention))
            await session.execute(insert(MonitorRunRow).values(id=run_id, started_at=now).on_conflict_do_nothing())
            due = await session.scalar(select(func.count()).select_from(FixtureRow).where(_due(policy, now)))
            active = await session.scalar(
                select(func.count()).select_from(FixtureRow).where(FixtureRow.stage == Stage.ACTIVE)
            )
        return RegisteredRun(staging_due=due or 0, active=active or 0)

    async def finish_run(self, run_id: str, summary: Mapping[str, int], now: datetime) -> None:
        finished = func.coalesce(MonitorRunRow.finished_at, now)
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(MonitorRunRow)
                .where(MonitorRunRow.id == run_id)
                .values(finished_at=finished, summary=dict(summary))
            )

    async def staging_due(self, policy: FootyPolicy, now: datetime) -> Sequence[int]:
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(select(FixtureRow.id).where(_due(policy, now)).order_by("id")))

    async def record_staging(
        self, fixtures: Sequence[ObservedFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        observed = {fixture.fixture_id: fixture for fixture in fixtures}
        wanted = select(FixtureRow).where(
            FixtureRow.id == one_of([*observed, *missing]), FixtureRow.stage == Stage.STAGING
        )
        async with self._database.unit_of_work() as work:
            for row in await work.session.scalars(wanted.order_by(FixtureRow.id).with_for_update()):
                row.last_monitor = max(row.last_monitor or now, now)
                before, trouble = row.kickoff, missing.get(row.id, "")
                values = {"trouble": trouble, **_stated(observed.get(row.id))}
                if not differs(row, values):
                    continue
                row.trouble_since = (row.trouble_since or now) if trouble else None
                for name, value in values.items():
                    setattr(row, name, value)
                row.version += 1
                row.last_activity = max(row.last_activity or now, now)
                tell_fixture(work, row.id, before, row.kickoff)

    async def activate(self, run_id: str, policy: FootyPolicy, now: datetime) -> int:
        soon = or_(FixtureRow.kickoff <= now + policy.activate_ahead, FixtureRow.status.not_in(_WAITING))
        waiting = select(FixtureRow.id, FixtureRow.kickoff, FixtureRow.status).where(
            FixtureRow.stage == Stage.STAGING, soon
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(waiting)).tuples()
            numbers = [
                number
                for number, kickoff, status in found
                if activates(kickoff, FixtureStatus(status), now, policy.activate_ahead)
            ]
            if numbers:
                await work.session.execute(
                    update(FixtureRow)
                    .where(FixtureRow.id == one_of(numbers), FixtureRow.stage == Stage.STAGING)
                    .values(
                        stage=Stage.ACTIVE,
                        activated_at=now,
                        changed_by=run_id,
                        last_activity=func.greatest(FixtureRow.last_activity, now),
                        version=FixtureRow.version + 1,
                    )
                )
        return len(numbers)

    async def active_ids(self, run_id: str) -> Sequence[int]:
        began = select(MonitorRunRow.started_at).where(MonitorRunRow.id == run_id).scalar_subquery()
        # What another run fetched since this one began is newer than anything that this one could still get.
        fetched = select(FixtureSnapshotRow.fixture_id).where(
            or_(FixtureSnapshotRow.fetched_by == run_id, FixtureSnapshotRow.fetched_at > began)
        )
        statement = select(FixtureRow.id).where(FixtureRow.stage == Stage.ACTIVE, FixtureRow.id.not_in(fetched))
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement.order_by(FixtureRow.id)))

    async def save_snapshots(
        self, run_id: str, fixtures: Mapping[int, RawFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        # A missing one has its turn in this run as well: it keeps its last answer, which is compared already.
        rows = [
            {
                "fixture_id": number,
                "raw": dict(fixtures.get(number, {})),
                "fetched_by": run_id,
                "fetched_at": now,
                "compared_by": None if number in fixtures else run_id,
            }
            for number in sorted(fixtures.keys() | missing.keys())
        ]
        if not rows:
            return
        async with self._database.unit_of_work() as work:
            known = set(
                await work.session.scalars(
                    select(FixtureRow.id).where(FixtureRow.id == one_of(fixtures.keys() | missing.keys()))
                )
            )
            await work.session.execute(_keep_snapshot(), [row for row in rows if row["fixture_id"] in known])
            await work.session.execute(
                update(FixtureRow)
                .where(FixtureRow.id == one_of(known))
                .values(last_monitor=func.greatest(FixtureRow.last_monitor, now))
            )
            await _note_missing(work.session, run_id, {key: missing[key] for key in missing if key in known}, now)

    async def to_compare(self, run_id: str, limit: int) -> Sequence[ToCompare]:
        statement = (
            select(FixtureRow.id, FixtureRow.version, FixtureSnapshotRow.raw)
            .join(FixtureSnapshotRow, FixtureSnapshotRow.fixture_id == FixtureRow.id)
            .where(
                FixtureRow.stage == Stage.ACTIVE,
                FixtureSnapshotRow.fetched_by == run_id,
                FixtureSnapshotRow.compared_by.is_distinct_from(run_id),
            )
            .order_by(FixtureRow.id)
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            # One snapshot for both statements: goals that are newer than the version would hide a conflict.
            await work.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            found = (await work.session.execute(statement)).tuples().all()
            goals = await stored_goals(work.session, [number for number, _, _ in found])
        return [
            ToCompare(
                fixture_id=number,
                version=version,
                raw=raw,
                goals=[goal for _, goal in goals[number]],
                sequences=_highest(row for row, _ in goals[number]),
            )
            for number, version, raw in found
        ]

    async def snapshots(self, run_id: str, after: int, limit: int) -> Sequence[tuple[int, RawFixture]]:
        statement = (
            select(FixtureSnapshotRow.fixture_id, FixtureSnapshotRow.raw)
            .join(MonitorRunRow, MonitorRunRow.id == FixtureSnapshotRow.fetched_by)
            .where(
                MonitorRunRow.id == run_id,
                FixtureSnapshotRow.fixture_id > after,
                # A fixture that was missing from the answers has at most an older one.
                FixtureSnapshotRow.fetched_at >= MonitorRunRow.started_at,
                FixtureSnapshotRow.raw != {},
            )
            .order_by(FixtureSnapshotRow.fixture_id)
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return [(number, raw) for number, raw in (await work.session.execute(statement)).tuples()]


def _due(policy: FootyPolicy, now: datetime) -> ColumnElement[bool]:
    began = quarter(now, policy.staging_interval)
    return (FixtureRow.stage == Stage.STAGING) & or_(FixtureRow.last_monitor.is_(None), FixtureRow.last_monitor < began)


def _stated(fixture: ObservedFixture | None) -> dict[str, Any]:
    return {} if fixture is None else {**facts(fixture), **names(fixture)}


def _keep_snapshot() -> Any:
    statement = insert(FixtureSnapshotRow)
    new = statement.excluded
    lacking = new.compared_by.is_not(None)
    return statement.on_conflict_do_update(
        index_elements=["fixture_id"],
        set_={
            "raw": case((lacking, FixtureSnapshotRow.raw), else_=new.raw),
            "fetched_by": new.fetched_by,
            # The time of the answer itself: what is older than the run is not an answer to it.
            "fetched_at": case((lacking, FixtureSnapshotRow.fetched_at), else_=new.fetched_at),
            "compared_by": new.compared_by,
        },
        # An answer that was long on its way does not cover a newer one.
        where=FixtureSnapshotRow.fetched_at <= new.fetched_at,
    )


async def _note_missing(session: AsyncSession, run_id: str, missing: Mapping[int, str], now: datetime) -> None:
    by_reason: dict[str, list[int]] = defaultdict(list)
    for number, reason in missing.items():
        by_reason[reason].append(number)
    for reason, numbers in by_reason.items():
        await session.execute(
            update(FixtureRow)
            .where(FixtureRow.id == one_of(numbers), FixtureRow.trouble != reason)
            .values(trouble=reason, trouble_since=func.coalesce(FixtureRow.trouble_since, now), changed_by=run_id)
        )


async def stored_goals(
    session: AsyncSession, fixture_ids: Sequence[int]
) -> Mapping[int, Sequence[tuple[GoalRow, StoredGoal]]]:
    """All goals of these fixtures, removed ones too, with their registers."""
    rows = list(
        await session.scalars(select(GoalRow).where(GoalRow.fixture_id == one_of(fixture_ids)).order_by("event_id"))
    )
    runs: dict[tuple[str, str], set[str]] = defaultdict(set)
    if rows:
        registers = select(GoalRunRow.event_id, GoalRunRow.register, GoalRunRow.workflow_id).where(
            GoalRunRow.event_id == one_of_names([row.event_id for row in rows]),
            GoalRunRow.register.in_(("monitor", "drop")),
        )
        for event_id, register, workflow_id in (await session.execute(registers)).tuples():
            runs[event_id, register].add(workflow_id)
    found: dict[int, list[tuple[GoalRow, StoredGoal]]] = defaultdict(list)
    for row in rows:
        goal = _stored(row, runs[row.event_id, "monitor"], runs[row.event_id, "drop"])
        found[row.fixture_id].append((row, goal))
    return found


def _stored(row: GoalRow, monitor: set[str], drop: set[str]) -> StoredGoal:
    return StoredGoal(
        event_id=row.event_id,
        team_id=row.team_id,
        player_id=row.player_id,
        player_name=row.player_name,
        detail=GoalDetail(row.detail),
        elapsed=row.elapsed,
        extra=row.extra,
        score=Score(row.home_score, row.away_score),
        monitor_runs=frozenset(monitor),
        drop_runs=frozenset(drop),
        monitor_complete=row.monitor_complete,
        removed_at=row.removed_at,
        first_seen=row.first_seen,
        assist_name=row.assist_name,
    )


def _highest(rows: Iterable[GoalRow]) -> Mapping[tuple[int, int], int]:
    highest: dict[tuple[int, int], int] = defaultdict(int)
    for row in rows:
        key = (row.id_team, row.id_player)
        highest[key] = max(highest[key], row.sequence)
    return dict(highest)
