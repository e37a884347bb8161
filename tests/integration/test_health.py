"""The probes against real parts: what well and ill parts look like, and that no probe raises."""

import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio import activity
from temporalio.worker import Worker

from pressbox.core.accounts.models import Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import AppManifest, Resources, ScheduleDeclaration, TaskQueue
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings, TemporalSettings
from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.core.health import HealthState, PartHealth, check_parts, home_space, worst
from pressbox.core.release import release
from pressbox.core.temporal import schedules
from pressbox.core.temporal.client import connect
from pressbox.embedded.ports import free_port
from tests.site import cheap_passwords
from tests.waiting import look_until

QUEUE = "health-probe"
SCHEDULE = ScheduleDeclaration(
    id="health-probe-schedule",
    workflow="NobodyRunsThis",
    workflow_id="health-probe",
    task_queue=QUEUE,
    input=Contract(),
    summary="For a test of the probes",
    every=timedelta(days=1),
)
MANIFEST = AppManifest(
    name="probe", title="Probe", summary="", queues=(TaskQueue(QUEUE),), schedules=lambda _: (SCHEDULE,)
)


@activity.defn(name="health_probe")
async def nothing() -> None:
    """Gives the worker something to poll for."""


async def judged(resources: Resources) -> dict[str, PartHealth]:
    return {part.name: part for part in await check_parts(resources, [MANIFEST])}


@pytest.fixture
async def declared(resources: Resources) -> AsyncIterator[None]:
    await schedules.reconcile(resources, [SCHEDULE])
    yield
    await schedules.reconcile(resources, [])


@pytest.mark.usefixtures("declared")
async def test_well_parts_say_version_time_and_pollers(resources: Resources) -> None:
    async with Worker(resources.temporal, task_queue=QUEUE, activities=[nothing]):
        # The worker's first poll takes a moment to arrive.
        parts = await look_until(lambda: judged(resources), lambda parts: parts["worker"].state is HealthState.OK)
    assert worst(list(parts.values())) is HealthState.OK, parts
    assert parts["database"].version.startswith("18.")
    assert parts["database"].since is not None
    assert parts["temporal"].version
    assert "1 worker process" in parts["worker"].detail
    assert [info async for info in resources.objects.list("scratch")] == []


async def test_a_missing_worker_and_schedule_are_named_with_their_fix(resources: Resources) -> None:
    manifest = dataclasses.replace(MANIFEST, queues=(TaskQueue("nobody-polls-this"),))
    parts = {part.name: part for part in await check_parts(resources, [manifest])}
    assert parts["worker"].state is HealthState.FAILED
    assert "nobody-polls-this" in parts["worker"].detail
    assert "pressbox worker" in parts["worker"].fix
    assert parts["schedules"].state is HealthState.FAILED
    assert SCHEDULE.id in parts["schedules"].detail


async def test_tokens_that_end_within_two_weeks_are_a_warning(resources: Resources) -> None:
    assert (await judged(resources))["tokens"].state is HealthState.OK
    accounts = AccountService(resources.database, resources.settings, passwords=cheap_passwords())
    user = await accounts.add_user("anna@example.org", "four words in a row")
    day, now = timedelta(days=1), utc_now()
    for end in (None, now + 20 * day, now + 3 * day, now - day):
        await accounts.add_token(user.id, "backup", [Scope.READ], expires_at=end)
    # Made for a few days only, so its end is no news.
    assert (await judged(resources))["tokens"].state is HealthState.OK
    async with resources.database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.tokens SET created_at = now() - interval '300 days'"))
    part = (await judged(resources))["tokens"]
    assert (part.state, part.detail) == (HealthState.WARNING, f"An API token ends soon, on {now + 3 * day:%Y-%m-%d}.")
    assert "backup" not in part.detail + part.fix


@pytest.mark.usefixtures("declared")
async def test_a_paused_schedule_is_a_warning_that_names_it(resources: Resources) -> None:
    await schedules.pause(resources.temporal, SCHEDULE.id)
    part = (await judged(resources))["schedules"]
    assert part.state is HealthState.WARNING
    assert SCHEDULE.id in part.detail


async def test_old_tables_are_a_failure_that_asks_to_migrate(resources: Resources) -> None:
    async with resources.database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.alembic_version SET version_num = '0001'"))
    part = (await judged(resources))["database"]
    assert part.state is HealthState.FAILED
    assert part.fix == "Run `pressbox migrate`."


async def test_tables_of_a_newer_program_are_not_to_be_migrated(resources: Resources) -> None:
    async with resources.database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.alembic_version SET version_num = '9999'"))
        await work.session.execute(text("COMMENT ON TABLE core.alembic_version IS 'oldest code: 9999'"))
    part = (await judged(resources))["database"]
    assert part.state is HealthState.FAILED
    assert f"A newer Pressbox ({release()}) has brought the tables to version 9999" in part.detail
    assert part.fix == "Start that newer one again, or restore the backup made before the upgrade."


@pytest.mark.usefixtures("declared")
async def test_a_schedule_that_waits_for_a_wrong_time_is_a_failure(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the clock had been ahead, and was put right again.
    monkeypatch.setattr(schedules, "utc_now", lambda: utc_now() - timedelta(days=7))
    part = (await judged(resources))["schedules"]
    assert (part.state, part.detail) == (HealthState.FAILED, f"Their times are wrong: {SCHEDULE.id}.")
    assert "If the clock was ahead once" in part.fix


async def test_parts_that_are_away_are_failures_without_secrets(resources: Resources, tmp_path: Path) -> None:
    away = dataclasses.replace(
        resources,
        settings=Settings(home=tmp_path / "nowhere"),
        database=Database(f"postgresql://pressbox:planted-secret@127.0.0.1:{free_port()}/pressbox"),
        temporal=await connect(TemporalSettings(), f"127.0.0.1:{free_port()}"),
    )
    parts = await judged(away)
    await away.database.close()
    for name in ("database", "temporal", "worker", "schedules", "home"):
        assert parts[name].state is HealthState.FAILED, parts[name]
        assert parts[name].fix
    assert "planted-secret" not in str(parts)


def test_little_space_is_a_warning_and_none_a_failure() -> None:
    assert home_space(50 * 10**9).state is HealthState.OK
    assert home_space(5 * 10**8).state is HealthState.WARNING
    assert home_space(10**7).state is HealthState.FAILED
