"""Old rows and objects in real storage."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from pressbox.core.accounts.factor_rows import CeremonyRow
from pressbox.core.accounts.rows import (
    AccountLinkRow,
    AuditRow,
    DeviceRow,
    PaceRow,
    RateLimitRow,
    SessionRow,
    TokenRow,
    UserRow,
)
from pressbox.core.accounts.tokens import KEEP_ENDED
from pressbox.core.app import Resources
from pressbox.core.db.base import Base
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.progress.rows import ProgressRow
from pressbox.maintenance.contracts import Kind
from pressbox.maintenance.store import MaintenanceStore

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


async def count(database: Database, row: type[Base]) -> int:
    async with database.unit_of_work() as work:
        return await work.session.scalar(select(func.count()).select_from(row)) or 0


@pytest.fixture
def store(resources: Resources) -> MaintenanceStore:
    return MaintenanceStore(resources.database, resources.objects)


async def test_only_what_has_expired_goes(database: Database, store: MaintenanceStore) -> None:
    async with database.unit_of_work() as work:
        user = UserRow(email="reader@example.org", password_hash="x", role="member")
        work.session.add(user)
        await work.session.flush()
        for number, end in enumerate((PAST, FUTURE)):
            work.session.add(SessionRow(token_hash=bytes([number]), user_id=user.id, expires_at=end))
            work.session.add(CeremonyRow(token_hash=bytes([number]), kind="oidc", expires_at=end))
            work.session.add(RateLimitRow(key=str(number), count=1, expires_at=end))
        for number, limit in enumerate((PAST - KEEP_ENDED, PAST, FUTURE, None)):
            work.session.add(
                TokenRow(
                    token_hash=bytes([number]), hint="", user_id=user.id, name="", scopes=["read"], expires_at=limit
                )
            )
    for kind in (Kind.SESSIONS, Kind.TOKENS, Kind.RATE_LIMITS):
        assert await store.delete_rows(kind, NOW) == 1
        assert await store.delete_rows(kind, NOW) == 0, "a retry removes nothing more"
    assert (await count(database, SessionRow), await count(database, TokenRow)) == (1, 3)
    assert await count(database, CeremonyRow) == 1


async def test_the_newest_change_is_kept_whatever_its_age(database: Database, store: MaintenanceStore) -> None:
    for key in ("a", "b", "c"):
        async with database.unit_of_work() as work:
            work.changed("thing", key)
    async with database.unit_of_work() as work:
        await work.session.execute(update(ChangeRow).values(created_at=PAST))
    assert await store.delete_rows(Kind.CHANGES, NOW) == 2
    async with database.unit_of_work() as work:
        assert await work.session.scalar(select(ChangeRow.key)) == "c"


async def test_running_workflows_are_never_forgotten(database: Database, store: MaintenanceStore) -> None:
    async with database.unit_of_work() as work:
        for name, closed in (("old", PAST), ("new", FUTURE), ("running", None)):
            work.session.add(
                ProgressRow(
                    workflow_id=name,
                    run_id="",
                    workflow_type="",
                    task_queue="",
                    state="running",
                    title="",
                    done=0,
                    message="",
                    error="",
                    detail={},
                    started_at=PAST,
                    updated_at=PAST,
                    closed_at=closed,
                )
            )
    assert await store.delete_rows(Kind.PROGRESS, NOW) == 1
    assert await count(database, ProgressRow) == 2
    assert await count(database, ChangeRow) == 1, "browsers hear that it is gone"


async def test_only_old_scratch_objects_are_listed(resources: Resources, store: MaintenanceStore) -> None:
    await resources.objects.put("scratch/a", b"1")
    await resources.objects.put("clips/b", b"2")
    assert [key async for key in store.list_scratch(datetime.now(UTC) - timedelta(minutes=1))] == []
    assert [key async for key in store.list_scratch(datetime.now(UTC) + timedelta(minutes=1))] == ["scratch/a"]
    await store.delete_scratch("scratch/a")
    await store.delete_scratch("scratch/a")
    assert await resources.objects.info("clips/b") is not None


async def test_what_accounts_leave_behind_goes_when_it_is_over(database: Database, store: MaintenanceStore) -> None:
    old = NOW - timedelta(days=401)
    async with database.unit_of_work() as work:
        users = [UserRow(email=f"{n}@example.org", password_hash="!", role="member") for n in range(3)]
        users[1].deleted_at, users[2].deleted_at = NOW - timedelta(days=2), PAST
        work.session.add_all(users)
        await work.session.flush()
        for number, (end, seen) in enumerate(((PAST, old), (FUTURE, PAST))):
            key = bytes([number])
            work.session.add(AccountLinkRow(token_hash=key, user_id=users[0].id, purpose="reset", expires_at=end))
            work.session.add(PaceRow(key=str(number), count=1, free_at=PAST, expires_at=end))
            work.session.add(DeviceRow(device_hash=key, user_id=users[0].id, last_seen_at=seen))
        work.session.add_all([AuditRow(action="signed in", at=old), AuditRow(action="signed in", at=PAST)])
    assert await store.delete_rows(Kind.ACCOUNTS, NOW) == 4
    assert await store.delete_rows(Kind.ACCOUNTS, NOW) == 0
    assert await store.delete_rows(Kind.AUDIT_LOG, NOW - timedelta(days=365)) == 1
    for row in (AccountLinkRow, PaceRow, DeviceRow, AuditRow):
        assert await count(database, row) == 1
    assert await count(database, UserRow) == 2
