"""Everything of a person is exported without secrets, and deleted without hurting others."""

import json
from collections.abc import AsyncIterator
from io import BytesIO
from zipfile import ZipFile

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.accounts.ending import personal_columns
from pressbox.core.accounts.models import User
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.base import Base
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.spending.domain import PaidAnswer, PaidCall
from pressbox.core.spending.ledger import SqlLedger
from tests.fakes.planted_rows import plant
from tests.fakes.spending import spend
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, PASSWORD, Browser, serving

# Names under which a column says whose a row is, with or without a foreign key.
OWNER_NAMES = ("user_id", "owner_id", "organiser_id", "reader_id", "person_id", "audience_id", "created_by")
# What outlives a person: numbers of what happened, without names or addresses.
LOGS = {"core.audit_log"}
# Still there for a day, on an account without a name: cancellations are being sent.
UNFINISHED = {"soonish.events", "soonish.subscriptions"}


@pytest.fixture
async def app(resources: Resources, settings: Settings, admin: User, member: User) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def theirs(app: FastAPI, browse: Browse) -> Browser:
    browser = browse(app)
    await browser.sign_in(MEMBER)
    return browser


async def owned(database: Database, user_id: int) -> set[str]:
    """Every table in which a column names this person, whether or not it has a foreign key."""
    named = text("""
        SELECT table_schema || '.' || table_name, column_name FROM information_schema.columns
        WHERE table_schema IN ('core', 'curator', 'footy', 'soonish') AND data_type IN ('bigint', 'integer')
        AND column_name = ANY(:names)
    """)
    async with database.unit_of_work() as work:
        columns = [(table, column) for table, column in await work.session.execute(named, {"names": list(OWNER_NAMES)})]
        columns += [(table.fullname, column.name) for table, column in personal_columns()]
        found = set()
        for table, column in columns:
            statement = text(f"SELECT EXISTS (SELECT FROM {table} WHERE {column} = :user_id)")
            if await work.session.scalar(statement, {"user_id": user_id}):
                found.add(table)
    return found - LOGS


async def test_answers_to_questions_do_not_outlive_the_account_in_the_ledger(
    theirs: Browser, database: Database, member: User
) -> None:
    calls = {one: PaidCall("hash", "1", "model", one) for one in ("answer", "research", "digest", "evaluate", "distil")}
    for call in calls.values():
        await spend(database, call, PaidAnswer("what I think of my neighbour", 10, 1, 0.5), utc_now())
    assert (await theirs.delete("/api/account")).status_code == 204
    kept = [one for one, call in calls.items() if await SqlLedger(database).find_answer(call) is not None]
    # A summary of an article is nobody's own.
    assert kept == ["distil"]
    async with database.unit_of_work() as work:
        rows = (await work.session.execute(text("SELECT feature, answer, cost FROM core.paid_requests"))).all()
    assert [row.feature for row in rows if row.answer] == ["distil"]
    assert sum(row.cost for row in rows) == 2.5


async def plant_everything(database: Database, user_id: int, *, without: set[str] | None = None) -> set[str]:
    """A row of this person in every table that can have one."""
    planted = set()
    async with database.unit_of_work() as work:
        for table, column in personal_columns():
            if table.fullname not in (without or set()):
                await plant(work.session, table, {column.name: user_id})
                planted.add(table.fullname)
        progress = Base.metadata.tables["core.workflow_progress"]
        await plant(work.session, progress, {"audience": "person", "audience_id": user_id, "state": "running"})
    return planted | {"core.workflow_progress"}


async def test_nothing_of_a_deleted_person_is_left(
    theirs: Browser, database: Database, member: User, admin: User, accounts: AccountService
) -> None:
    """Also of tables that somebody adds tomorrow: they are found by their foreign keys and columns."""
    planted = await plant_everything(database, member.id, without=UNFINISHED)
    others = await plant_everything(database, admin.id, without=UNFINISHED)
    assert await owned(database, member.id) >= planted
    wrong = await theirs.post("/account/data/delete", data={"email": ADMIN})
    assert wrong.status_code == 422
    done = await theirs.post("/account/data/delete", data={"email": MEMBER})
    assert (done.status_code, done.headers["location"]) == (303, "/sign-in?done=deleted")
    assert await owned(database, member.id) == set()
    assert await owned(database, admin.id) >= others, "nothing of others is hurt"
    assert [user.id for user in await accounts.users()] == [admin.id]
    assert (await theirs.get("/account")).status_code == 303


async def test_what_others_must_hear_of_is_finished_by_an_account_without_a_name(
    theirs: Browser, app: FastAPI, browse: Browse, database: Database, member: User, accounts: AccountService
) -> None:
    planted = await plant_everything(database, member.id)
    assert planted >= UNFINISHED
    assert (await theirs.post("/account/data/delete", data={"email": MEMBER})).status_code == 303
    # The cancellation says who cancelled, and goes with the event.
    assert await owned(database, member.id) <= UNFINISHED | {"soonish.notifications"}
    with pytest.raises(NotFoundError):
        await accounts.user(member.id)
    async with database.unit_of_work() as work:
        kept = (
            await work.session.execute(text("SELECT email, name FROM core.users WHERE deleted_at IS NOT NULL"))
        ).one()
        events = (await work.session.scalars(text("SELECT deleted_at FROM soonish.events"))).all()
        logged = (await work.session.scalars(text("SELECT audit_log::text FROM core.audit_log"))).all()
    assert kept == (f"deleted-{member.id}@deleted.invalid", "")
    assert any(events), "what they organised is cancelled and hidden"
    assert MEMBER not in str(logged)
    await accounts.add_user(MEMBER, PASSWORD)
    again = browse(app)
    await again.sign_in(MEMBER)
    assert (await again.get("/api/account")).json()["user_id"] != member.id


async def test_an_administrator_deletes_somebody_and_not_the_last_administrator(
    app: FastAPI, browse: Browse, member: User, admin: User, accounts: AccountService
) -> None:
    browser = browse(app)
    await browser.sign_in(ADMIN)
    untyped = await browser.post(f"/users/{member.id}/delete", data={"email": ""})
    assert untyped.status_code == 422
    done = await browser.post(f"/users/{member.id}/delete", data={"email": MEMBER})
    assert done.headers["location"] == "/users?done=deleted"
    assert [user.id for user in await accounts.users()] == [admin.id]
    entries = (await browser.get("/api/audit", params={"action": "user deleted"})).json()
    assert [(entry["actor"], entry["subject_id"]) for entry in entries] == [(ADMIN, member.id)]
    last = await browser.post("/account/data/delete", data={"email": ADMIN})
    assert (last.status_code, "last administrator" in last.text) == (409, True)
    assert (await browser.delete("/api/account")).status_code == 409


async def test_people_take_everything_along_and_no_secrets(
    theirs: Browser, database: Database, member: User, accounts: AccountService
) -> None:
    token = (await theirs.post("/api/account/tokens", json={"name": "phone", "scopes": ["read"]})).json()["token"]
    await plant_everything(database, member.id)
    async with database.unit_of_work() as work:
        for table, column, mark in (
            ("curator.entry_states", "note", "my note"),
            ("curator.labels", "name", "my label"),
            ("curator.categories", "name", "my folder"),
            ("curator.research_runs", "question", "my research"),
            ("soonish.events", "name", "my event"),
            ("soonish.channels", "name", "my channel"),
        ):
            owner = "organiser_id" if table == "soonish.events" else "user_id"
            statement = text(f"UPDATE {table} SET {column} = :mark WHERE {owner} = :user_id")
            await work.session.execute(statement, {"mark": mark, "user_id": member.id})
        view = await work.session.scalar(text("SELECT token FROM curator.view_feeds"))
    answer = await theirs.post("/account/data/export")
    assert answer.headers["content-type"] == "application/zip"
    with ZipFile(BytesIO(answer.content)) as archive:
        files = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert files["account.json"][0]["email"] == MEMBER
    whole = json.dumps(files)
    for mark in ("note", "label", "folder", "research", "event", "channel"):
        assert f"my {mark}" in whole
    for secret in (token, view, "argon2", "sealed"):
        assert str(secret) not in whole
    assert "data exported" in [entry["action"] for entry in (await theirs.get("/api/account/audit")).json()]


async def test_a_session_alone_neither_exports_nor_deletes(
    theirs: Browser, database: Database, member: User, accounts: AccountService
) -> None:
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET proved_at = NULL"))
    for path in ("/account/data/export", "/account/data/delete"):
        answer = await theirs.post(path, data={"email": MEMBER})
        assert answer.headers["location"].startswith("/account/proof")
    assert (await theirs.get("/api/account/export")).status_code == 403
    assert (await theirs.delete("/api/account")).status_code == 403
    assert (await accounts.user(member.id)).disabled_at is None
