"""Comparisons in PostgreSQL: the answers and goals that are compared, and what a comparison changes.

Fixtures are written by named columns, goals with their registers, guarded by the version of the fixture.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import Database
from pressbox.core.errors import UnstorableError, shorten
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.fixture_columns import fact_columns
from pressbox.footy.adapters.goal_notices import tell_of_matches
from pressbox.footy.adapters.goal_writer import write_comparisons
from pressbox.footy.adapters.match_notices import tell_of_progress
from pressbox.footy.adapters.rows import FixtureRow, FixtureSnapshotRow, GoalRow, GoalRunRow, MonitorRunRow
from pressbox.footy.domain.fixtures import ObservedFixture, Stage
from pressbox.footy.domain.goals import Comparison, GoalDetail, PlayedMinute, Score, Sighting, StoredGoal
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ports.storage import FixtureDecision, RawFixture, UncomparedFixture

log = get_logger(__name__)

_TROUBLE_LENGTH = 500
# Fixtures with changed goals that share a transaction: few enough that their locks are short.
_TOGETHER = 50
_COLUMNS = {
    "status": "text",
    "kickoff": "timestamptz",
    "elapsed": "integer",
    "extra": "integer",
    "home_goals": "integer",
    "away_goals": "integer",
    "home_penalties": "integer",
    "away_penalties": "integer",
    "winner_id": "integer",
}
_TYPES = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
_STORED = ", ".join(f"fixture.{name}" for name in _COLUMNS)
_STATED = ", ".join(f"stated.{name}" for name in _COLUMNS)
_NEWS = f"(stated.loud OR (stated.observed AND ({_STORED}) IS DISTINCT FROM ({_STATED})))"
_CHANGED = f"(fixture.trouble <> stated.trouble OR {_NEWS})"
# One answer that says postponed may be a mistake; the second one in a row counts.
# Rows are locked in the order of their ids, so that two runs at once cannot deadlock.
_WRITE_TEMPLATE = """
    WITH stated AS (
        SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS stated (
            id bigint, version integer, observed boolean, loud boolean, terminal boolean, trouble text, {types})
    ), locked AS (
        SELECT id, status FROM footy.fixtures WHERE id IN (SELECT id FROM stated) ORDER BY id FOR UPDATE
    )
    UPDATE footy.fixtures AS fixture
    SET {assignments},
        stage = CASE WHEN stated.status = 'PST' AND fixture.status = 'PST' THEN 'staging' ELSE fixture.stage END,
        terminal_polls = CASE WHEN NOT stated.observed THEN fixture.terminal_polls
            WHEN stated.terminal THEN fixture.terminal_polls + 1 ELSE 0 END,
        looked_at = CASE WHEN stated.observed THEN :now ELSE fixture.looked_at END,
        looked_before = CASE WHEN stated.observed THEN fixture.looked_at ELSE fixture.looked_before END,
        changed_at = CASE WHEN {news} THEN :now ELSE fixture.changed_at END,
        trouble = stated.trouble,
        trouble_since = CASE WHEN stated.trouble <> '' THEN coalesce(fixture.trouble_since, :now) END,
        changed_by = CASE WHEN {changed} THEN :run_id ELSE fixture.changed_by END,
        last_activity = CASE WHEN {changed} THEN greatest(fixture.last_activity, :now) ELSE fixture.last_activity END,
        version = fixture.version + 1
    FROM stated JOIN locked ON locked.id = stated.id
    WHERE fixture.id = stated.id AND fixture.version = stated.version AND fixture.stage = 'active'
    RETURNING fixture.id, locked.status
"""
_WRITE = text(
    _WRITE_TEMPLATE.format(
        types=_TYPES,
        assignments=", ".join(
            f"{name} = CASE WHEN stated.observed THEN stated.{name} ELSE fixture.{name} END" for name in _COLUMNS
        ),
        changed=_CHANGED,
        news=_NEWS,
    )
)
_SYNC_TEMPLATE = """
    UPDATE footy.fixtures AS fixture
    SET {assignments}, changed_by = :run_id, changed_at = :now,
        last_activity = greatest(fixture.last_activity, :now)
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS stated (id bigint, {types})
    WHERE fixture.id = stated.id AND fixture.stage <> 'completed' AND ({stored}) IS DISTINCT FROM ({stated})
"""
_SYNC = text(
    _SYNC_TEMPLATE.format(
        types=_TYPES,
        assignments=", ".join(f"{name} = stated.{name}" for name in _COLUMNS),
        stored=_STORED,
        stated=_STATED,
    )
)


class SqlComparisons:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_uncompared(self, run_id: str, limit: int) -> Sequence[UncomparedFixture]:
        statement = (
            select(FixtureRow.id, FixtureRow.version, FixtureRow.elapsed, FixtureRow.extra, FixtureSnapshotRow.raw)
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
            # One database snapshot for both statements: goals newer than the version would hide a conflict.
            await work.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            found = (await work.session.execute(statement)).tuples().all()
            goals = await _load_goals(work.session, [number for number, *_ in found])
        return [
            UncomparedFixture(
                fixture_id=number,
                version=version,
                raw=raw,
                goals=[goal for _, goal in goals[number]],
                sequences=_highest_sequences(row for row, _ in goals[number]),
                looked=None if elapsed is None else PlayedMinute(elapsed, extra),
            )
            for number, version, elapsed, extra, raw in found
        ]

    async def load_snapshots(self, run_id: str, after: int, limit: int) -> Sequence[tuple[int, RawFixture]]:
        statement = (
            select(FixtureSnapshotRow.fixture_id, FixtureSnapshotRow.raw)
            .join(MonitorRunRow, MonitorRunRow.id == FixtureSnapshotRow.fetched_by)
            .where(
                MonitorRunRow.id == run_id,
                FixtureSnapshotRow.fixture_id > after,
                # A fixture that was missing from the answers only has an older one.
                FixtureSnapshotRow.fetched_at >= MonitorRunRow.started_at,
                FixtureSnapshotRow.raw != {},
            )
            .order_by(FixtureSnapshotRow.fixture_id)
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return [(number, raw) for number, raw in (await work.session.execute(statement)).tuples()]

    async def apply(
        self, run_id: str, decisions: Mapping[int, tuple[int, FixtureDecision]], policy: FootyPolicy, now: datetime
    ) -> Sequence[int]:
        quiet = {number: made for number, made in decisions.items() if _is_unchanged(made[1].comparison)}
        written = await self._apply_unchanged(run_id, quiet, now)
        for group in batched(sorted(decisions.keys() - quiet.keys()), _TOGETHER):
            written |= await self._apply_group(run_id, {key: decisions[key] for key in group}, policy, now)
        return sorted(decisions.keys() - written)

    async def sync_metadata(self, run_id: str, observed: Sequence[ObservedFixture], now: datetime) -> int:
        rows = [{"id": fixture.fixture_id, **_json_facts(fixture)} for fixture in observed]
        async with self._database.unit_of_work() as work:
            result = await work.session.execute(_SYNC, {"rows": json.dumps(rows), "run_id": run_id, "now": now})
        return int(result.rowcount)  # type: ignore[attr-defined]

    async def _apply_unchanged(
        self, run_id: str, decisions: Mapping[int, tuple[int, FixtureDecision]], now: datetime
    ) -> set[int]:
        """Write fixtures whose goals are unchanged, in a few statements for all of them."""
        if not decisions:
            return set()
        rows = [_row(number, version, decision) for number, (version, decision) in decisions.items()]
        async with self._database.unit_of_work() as work:
            before = await _write_fixtures(work.session, run_id, rows, now)
            written = set(before)
            seen = [goal.event_id for number in written for goal in decisions[number][1].comparison.seen]
            if seen:
                await _mark_seen(work.session, seen, now)
            await _mark_compared(work.session, run_id, written)
            await tell_of_progress(work, before, _observed(decisions), now)
        return written

    async def _apply_group(
        self, run_id: str, decisions: Mapping[int, tuple[int, FixtureDecision]], policy: FootyPolicy, now: datetime
    ) -> set[int]:
        """Write fixtures together, which is much faster; one by one when the database refuses them."""
        rows = [_row(number, version, decision) for number, (version, decision) in decisions.items()]
        try:
            async with self._database.unit_of_work() as work:
                before = await _write_fixtures(work.session, run_id, rows, now)
                written = set(before)
                comparisons = {number: decisions[number][1].comparison for number in sorted(written)}
                confirmed = await write_comparisons(work.session, run_id, comparisons, policy, now)
                await work.session.execute(
                    update(FixtureRow).where(FixtureRow.id == one_of(confirmed)).values(changed_by=run_id)
                )
                await _mark_compared(work.session, run_id, written)
                await tell_of_matches(work, written)
                await tell_of_progress(work, before, _observed(decisions), now)
        except (DBAPIError, UnstorableError) as error:
            if len(decisions) > 1:
                alone = [await self._apply_group(run_id, {key: decisions[key]}, policy, now) for key in decisions]
                return set().union(*alone)
            [number] = decisions
            # One fixture that cannot be written must not stop the others.
            log.error(
                "fixture_not_written",
                msg=f"What a poll found could not be stored: {error}",
                fixture_id=number,
                reason=type(error).__name__,
            )
            await self._record_unwritten(run_id, number, now)
            return {number}
        return written

    async def _record_unwritten(self, run_id: str, number: int, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(FixtureRow)
                .where(FixtureRow.id == number)
                .values(
                    trouble="The last answer could not be stored. The log of the worker says why.",
                    trouble_since=func.coalesce(FixtureRow.trouble_since, now),
                    changed_by=run_id,
                    version=FixtureRow.version + 1,
                )
            )
            await _mark_compared(work.session, run_id, [number])


def batched(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), size):
        yield numbers[begin : begin + size]


def _is_unchanged(comparison: Comparison) -> bool:
    if comparison.created or comparison.missed or comparison.rescored or comparison.disallowed or comparison.proven:
        return False
    return all(goal.sighting is Sighting.UNCHANGED and not goal.registers for goal in comparison.seen)


def _is_visible(comparison: Comparison) -> bool:
    """Whether people see a change of the goals."""
    changed = any(goal.sighting is not Sighting.UNCHANGED for goal in comparison.seen)
    taken_back = comparison.disallowed or comparison.proven
    return (
        bool(comparison.created or comparison.rescored or taken_back)
        or changed
        or any(goal.removes for goal in comparison.missed)
    )


def _row(number: int, version: int, decision: FixtureDecision) -> dict[str, Any]:
    observed = decision.observed
    return {
        "id": number,
        "version": version,
        "observed": observed is not None,
        "loud": _is_visible(decision.comparison),
        "terminal": observed is not None and observed.status.terminal,
        "trouble": _trouble(decision),
        **(_json_facts(observed) if observed is not None else {}),
    }


def _trouble(decision: FixtureDecision) -> str:
    problems = decision.comparison.problems or (decision.observed.problems if decision.observed else ())
    return shorten(decision.trouble or decision.comparison.distrusted or " ".join(problems), _TROUBLE_LENGTH)


def _json_facts(fixture: ObservedFixture) -> dict[str, Any]:
    return {**fact_columns(fixture), "kickoff": fixture.kickoff.isoformat()}


async def _write_fixtures(
    session: AsyncSession, run_id: str, rows: Sequence[Mapping[str, Any]], now: datetime
) -> Mapping[int, str]:
    """Returns the fixtures whose version was still the one that the decision was made on, with their former status."""
    found = await session.execute(_WRITE, {"rows": json.dumps(rows), "run_id": run_id, "now": now})
    return dict(found.tuples().all())


def _observed(decisions: Mapping[int, tuple[int, FixtureDecision]]) -> Iterator[ObservedFixture]:
    return (decision.observed for _, decision in decisions.values() if decision.observed is not None)


async def _mark_seen(session: AsyncSession, event_ids: Sequence[str], now: datetime) -> None:
    """Move `last_seen` forward and end the misses in a row."""
    names = one_of_texts(event_ids)
    await session.execute(
        update(GoalRow).where(GoalRow.event_id == names).values(last_seen=func.greatest(GoalRow.last_seen, now))
    )
    await session.execute(delete(GoalRunRow).where(GoalRunRow.event_id == names, GoalRunRow.register == "drop"))


async def _mark_compared(session: AsyncSession, run_id: str, fixture_ids: Sequence[int] | set[int]) -> None:
    await session.execute(
        update(FixtureSnapshotRow)
        .where(FixtureSnapshotRow.fixture_id == one_of(fixture_ids), FixtureSnapshotRow.fetched_by == run_id)
        .values(compared_by=run_id)
    )


async def _load_goals(
    session: AsyncSession, fixture_ids: Sequence[int]
) -> Mapping[int, Sequence[tuple[GoalRow, StoredGoal]]]:
    """Load all goals of these fixtures, removed ones too, with their registers."""
    rows = list(
        await session.scalars(select(GoalRow).where(GoalRow.fixture_id == one_of(fixture_ids)).order_by("event_id"))
    )
    runs: dict[tuple[str, str], set[str]] = defaultdict(set)
    if rows:
        registers = select(GoalRunRow.event_id, GoalRunRow.register, GoalRunRow.workflow_id).where(
            GoalRunRow.event_id == one_of_texts([row.event_id for row in rows]),
            GoalRunRow.register.in_(("monitor", "drop")),
        )
        for event_id, register, workflow_id in (await session.execute(registers)).tuples():
            runs[event_id, register].add(workflow_id)
    found: dict[int, list[tuple[GoalRow, StoredGoal]]] = defaultdict(list)
    for row in rows:
        goal = _stored_goal(row, runs[row.event_id, "monitor"], runs[row.event_id, "drop"])
        found[row.fixture_id].append((row, goal))
    return found


def _stored_goal(row: GoalRow, monitor: set[str], drop: set[str]) -> StoredGoal:
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
        confirmed=row.confirmed_at is not None,
        assist_name=row.assist_name,
    )


def _highest_sequences(rows: Iterable[GoalRow]) -> Mapping[tuple[int, int], int]:
    highest: dict[tuple[int, int], int] = defaultdict(int)
    for row in rows:
        key = (row.id_team, row.id_player)
        highest[key] = max(highest[key], row.sequence)
    return dict(highest)
