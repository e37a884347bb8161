"""Polls in PostgreSQL: which fixtures a run of the monitor fetches, and what the API answered."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, case, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.footy.adapters.changes import publish_fixture, publish_goal
from pressbox.footy.adapters.fixture_columns import differs, fact_columns, name_columns
from pressbox.footy.adapters.match_notices import tell_of_progress
from pressbox.footy.adapters.rows import FixtureRow, FixtureSnapshotRow, GoalNoteRow, MonitorRunRow
from pressbox.footy.contracts.monitor import RegisteredRun
from pressbox.footy.domain.fixtures import FixtureStatus, ObservedFixture, Stage, should_activate, start_of_interval
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.views import PollView
from pressbox.footy.ids import MONITOR_WORKFLOW
from pressbox.footy.ports.storage import RawFixture

_WAITING = [status.value for status in FixtureStatus if status.stage is Stage.STAGING]


class SqlPolls:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def register_run(self, run_id: str, policy: FootyPolicy, now: datetime) -> RegisteredRun:
        async with self._database.unit_of_work() as work:
            session = work.session
            # There is a run every 30 seconds; they are kept as long as fixtures.
            await session.execute(delete(MonitorRunRow).where(MonitorRunRow.started_at < now - policy.retention))
            await session.execute(insert(MonitorRunRow).values(id=run_id, started_at=now).on_conflict_do_nothing())
            due = await session.scalar(select(func.count()).select_from(FixtureRow).where(_is_due(policy, now)))
            active = await session.scalar(
                select(func.count()).select_from(FixtureRow).where(FixtureRow.stage == Stage.ACTIVE)
            )
        return RegisteredRun(staging_due=due or 0, active=active or 0)

    async def count_scheduled(self, since: datetime) -> int:
        scheduled = MonitorRunRow.id.startswith(MONITOR_WORKFLOW, autoescape=True)
        statement = select(func.count()).select_from(MonitorRunRow).where(MonitorRunRow.started_at > since, scheduled)
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(statement) or 0

    async def finish_run(self, run_id: str, summary: Mapping[str, int], now: datetime) -> None:
        finished = func.coalesce(MonitorRunRow.finished_at, now)
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(MonitorRunRow)
                .where(MonitorRunRow.id == run_id)
                .values(finished_at=finished, summary=dict(summary))
            )

    async def load_recent(self, limit: int) -> Sequence[PollView]:
        statement = select(MonitorRunRow).order_by(MonitorRunRow.started_at.desc()).limit(limit)
        async with self._database.unit_of_work() as work:
            return [
                PollView(
                    run_id=row.id,
                    started_at=row.started_at,
                    finished_at=row.finished_at,
                    fixtures=int(row.summary.get("fixtures", 0)),
                    failed=int(row.summary.get("failed", 0)),
                )
                for row in await work.session.scalars(statement)
            ]

    async def publish_changes(self, run_id: str) -> int:
        changed = select(FixtureRow.id, FixtureRow.kickoff).where(FixtureRow.changed_by == run_id)
        goals = select(GoalNoteRow.event_id).where(GoalNoteRow.run_id == run_id).distinct()
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(changed.order_by(FixtureRow.id))).tuples().all()
            for number, kickoff in found:
                publish_fixture(work, number, kickoff)
            for event_id in await work.session.scalars(goals):
                publish_goal(work, event_id)
        return len(found)

    async def find_staging_due(self, policy: FootyPolicy, now: datetime) -> Mapping[int, datetime]:
        due = select(FixtureRow.id, FixtureRow.kickoff).where(_is_due(policy, now)).order_by(FixtureRow.id)
        async with self._database.unit_of_work() as work:
            return dict((await work.session.execute(due)).tuples().all())

    async def pass_over(self, fixture_ids: Collection[int], now: datetime) -> None:
        if not fixture_ids:
            return
        waiting = (FixtureRow.id == one_of(fixture_ids)) & (FixtureRow.stage == Stage.STAGING)
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                update(FixtureRow).where(waiting).values(last_monitor=func.greatest(FixtureRow.last_monitor, now))
            )

    async def record_staging(
        self, fixtures: Sequence[ObservedFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        observed = {fixture.fixture_id: fixture for fixture in fixtures}
        wanted = select(FixtureRow).where(
            FixtureRow.id == one_of([*observed, *missing]), FixtureRow.stage == Stage.STAGING
        )
        statuses: dict[int, str] = {}
        async with self._database.unit_of_work() as work:
            for row in await work.session.scalars(wanted.order_by(FixtureRow.id).with_for_update()):
                statuses[row.id] = row.status
                row.last_monitor = max(row.last_monitor or now, now)
                before, trouble = row.kickoff, missing.get(row.id, "")
                facts = _observed_columns(observed.get(row.id))
                values = {"trouble": trouble, **facts}
                if facts and not _is_played(FixtureStatus(facts["status"])):
                    # What it says of goals is known, so a goal that is seen next was scored after this look.
                    row.looked_at = now
                if not differs(row, values):
                    continue
                row.changed_at = now if differs(row, facts) else row.changed_at
                row.trouble_since = (row.trouble_since or now) if trouble else None
                for name, value in values.items():
                    setattr(row, name, value)
                row.version += 1
                row.last_activity = max(row.last_activity or now, now)
                publish_fixture(work, row.id, before, row.kickoff)
            await tell_of_progress(work, statuses, observed.values(), now)

    async def activate(self, run_id: str, policy: FootyPolicy, now: datetime) -> int:
        soon = or_(FixtureRow.kickoff <= now + policy.activate_ahead, FixtureRow.status.not_in(_WAITING))
        news = func.greatest(FixtureRow.changed_at, FixtureRow.kickoff)
        quiet = FixtureRow.activated_at.is_not(None) & (news < now - policy.vanished_patience)
        waiting = select(FixtureRow.id, FixtureRow.kickoff, FixtureRow.status, quiet).where(
            FixtureRow.stage == Stage.STAGING, soon
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(waiting)).tuples()
            numbers = [
                number
                for number, kickoff, status, unchanged in found
                if should_activate(kickoff, FixtureStatus(status), now, policy.activate_ahead, bool(unchanged))
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

    async def find_active(self, run_id: str) -> Sequence[int]:
        began = select(MonitorRunRow.started_at).where(MonitorRunRow.id == run_id).scalar_subquery()
        # What another run fetched since this one began is new enough.
        fetched = select(FixtureSnapshotRow.fixture_id).where(
            or_(FixtureSnapshotRow.fetched_by == run_id, FixtureSnapshotRow.fetched_at > began)
        )
        statement = select(FixtureRow.id).where(FixtureRow.stage == Stage.ACTIVE, FixtureRow.id.not_in(fetched))
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement.order_by(FixtureRow.id)))

    async def save_snapshots(
        self, run_id: str, fixtures: Mapping[int, RawFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        # A missing fixture counts as polled too: it keeps its last answer, which was compared already.
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
            await work.session.execute(_upsert_snapshots(), [row for row in rows if row["fixture_id"] in known])
            await work.session.execute(
                update(FixtureRow)
                .where(FixtureRow.id == one_of(known))
                .values(last_monitor=func.greatest(FixtureRow.last_monitor, now))
            )
            await _record_missing(work.session, run_id, {key: missing[key] for key in missing if key in known}, now)


def _is_due(policy: FootyPolicy, now: datetime) -> ColumnElement[bool]:
    began = start_of_interval(now, policy.staging_interval)
    return (FixtureRow.stage == Stage.STAGING) & or_(FixtureRow.last_monitor.is_(None), FixtureRow.last_monitor < began)


def _is_played(status: FixtureStatus) -> bool:
    return status.stage is not Stage.STAGING and not status.stopped


def _observed_columns(fixture: ObservedFixture | None) -> dict[str, Any]:
    return {} if fixture is None else {**fact_columns(fixture), **name_columns(fixture)}


def _upsert_snapshots() -> Any:
    statement = insert(FixtureSnapshotRow)
    new = statement.excluded
    lacking = new.compared_by.is_not(None)
    return statement.on_conflict_do_update(
        index_elements=["fixture_id"],
        set_={
            "raw": case((lacking, FixtureSnapshotRow.raw), else_=new.raw),
            "fetched_by": new.fetched_by,
            # The time of the answer itself: one that is older than the run does not belong to it.
            "fetched_at": case((lacking, FixtureSnapshotRow.fetched_at), else_=new.fetched_at),
            "compared_by": new.compared_by,
        },
        # A late answer must not overwrite a newer one.
        where=FixtureSnapshotRow.fetched_at <= new.fetched_at,
    )


async def _record_missing(session: AsyncSession, run_id: str, missing: Mapping[int, str], now: datetime) -> None:
    by_reason: dict[str, list[int]] = defaultdict(list)
    for number, reason in missing.items():
        by_reason[reason].append(number)
    for reason, numbers in by_reason.items():
        await session.execute(
            update(FixtureRow)
            .where(FixtureRow.id == one_of(numbers), FixtureRow.trouble != reason)
            .values(trouble=reason, trouble_since=func.coalesce(FixtureRow.trouble_since, now), changed_by=run_id)
        )
