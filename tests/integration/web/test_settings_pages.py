"""Keys, model and mail server are set up on pages, sealed, tried by a button, and the environment still wins."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from pressbox.core.accounts.models import COMMAND_LINE, User
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.stored_settings.store import StoredSettings
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.entry.manifests import settings_groups
from pressbox.entry.stored_settings import combine_settings, wait_for_change
from pressbox.entry.web import WebProcess
from pressbox.footy.settings import FootySettings
from tests.integration.web.conftest import Browse
from tests.patience import patience
from tests.site import ADMIN, MEMBER, Browser, serving
from tests.waiting import look_until

KEY = "0123456789abcdef-football"
STATUS = {
    "get": "status",
    "errors": [],
    "response": {
        "account": {"email": "account@example.org"},
        "subscription": {"plan": "Free", "end": "2027-11-25T03:30:02+00:00", "active": True},
        "requests": {"current": 29, "limit_day": 100},
    },
}
REFUSED = {"errors": {"token": "Error/Missing application key."}, "response": []}


class Account(HttpService):
    """Answers /status as API-Football does, to one key."""

    async def answer(self, request: Request) -> Answer:
        return Answer.of(STATUS if request.headers.get("x-apisports-key") == KEY else REFUSED)


@pytest.fixture
async def football() -> AsyncIterator[Account]:
    async with Account() as service:
        yield service


@pytest.fixture
async def app(resources: Resources, settings: Settings, football: Account) -> AsyncIterator[FastAPI]:
    """All applications, with a football service of ours."""
    known = settings.with_group(FootySettings(api_url=football.url)).with_group(CuratorSettings())
    async with (
        GuardedClient(HttpSettings(allow=("127.0.0.0/8",))) as http,
        serving(replace(resources, settings=known, http=http), known) as app,
    ):
        yield app


async def stored_bytes(database: Database) -> str:
    async with database.unit_of_work() as work:
        rows = (await work.session.execute(text("SELECT s::text FROM core.stored_settings s"))).scalars().all()
        audit = (await work.session.execute(text("SELECT a::text FROM core.audit_log a"))).scalars().all()
    return "\n".join([*rows, *audit])


async def test_a_football_key_is_saved_sealed_and_tried_against_the_service(
    signed_in: Browser, database: Database, settings: Settings
) -> None:
    assert "Not set up" in (await signed_in.get("/settings")).text
    refused = await signed_in.post("/settings/football", data={"api_key": "a key that is wrong", "act": "test"})
    assert "The test failed." in refused.text
    assert "Error/Missing application key" in refused.text
    page = await signed_in.post("/settings/football", data={"api_key": KEY, "act": "test"})
    assert "plan Free, 29 of 100 requests used today" in page.text
    assert KEY not in page.text
    assert "One is stored, sealed." in (await signed_in.get("/settings/football")).text
    kept = await stored_bytes(database)
    assert KEY not in kept
    assert KEY.encode().hex() not in kept
    assert "settings changed" in kept
    assert (await StoredSettings(database, settings).load()).values == {"footy.api_key": KEY}


async def test_an_empty_secret_is_kept_and_removed_only_when_somebody_says_so(
    signed_in: Browser, database: Database, settings: Settings
) -> None:
    store = StoredSettings(database, settings)
    await signed_in.post("/settings/football", data={"api_key": KEY})
    await signed_in.post("/settings/football", data={"api_key": ""})
    assert (await store.load()).values == {"footy.api_key": KEY}
    await signed_in.post("/settings/football", data={"api_key": "", "remove_api_key": "1"})
    assert (await store.load()).values == {}


@pytest.mark.parametrize(
    ("section", "form", "field"),
    [
        ("mail", {"smtp_host": "mail.example.org", "smtp_port": "70000", "smtp_from": "a@example.org"}, "smtp_port"),
        ("mail", {"smtp_host": "https://mail.example.org", "smtp_from": "a@example.org"}, "smtp_host"),
        ("mail", {"smtp_host": "mail.example.org"}, "smtp_from"),
        (
            "mail",
            {"smtp_host": "mail.example.org", "smtp_from": "A\r\nBcc: b@example.org <a@example.org>"},
            "smtp_from",
        ),
        ("mail", {"smtp_host": "mail.example.org", "smtp_from": "A\x0bB <a@example.org>"}, "smtp_from"),
        ("football", {"api_key": "0123456789\nx-header: 1"}, "api_key"),
        ("instance", {"contact": "me@example.org\nX-Header: 1"}, "contact"),
        ("model", {"model_url": "localhost:1234", "model_name": "a"}, "model_url"),
        ("model", {"model_url": "http://localhost:1234/v1"}, "model_name"),
        ("model", {"distiller": "nobody"}, "distiller"),
        ("instance", {"public_url": "press.example.org"}, "public_url"),
        ("instance", {"public_url": "https://press.example.org/below"}, "public_url"),
        ("instance", {"contact": "me"}, "contact"),
    ],
)
async def test_a_field_that_cannot_be_used_is_named_and_nothing_is_saved(
    signed_in: Browser, database: Database, settings: Settings, section: str, form: dict[str, str], field: str
) -> None:
    page = await signed_in.post(f"/settings/{section}", data=form)
    assert page.status_code == 422
    assert f'id="f-{field}"' in page.text
    assert 'aria-invalid="true"' in page.text
    assert (await StoredSettings(database, settings).load()).values == {}


async def test_a_key_is_never_sent_to_a_place_that_somebody_else_chose(
    signed_in: Browser, database: Database, settings: Settings
) -> None:
    model = {"model_url": "https://api.example.org/v1", "model_name": "a", "model_key": "sk-secret-of-the-house"}
    assert (await signed_in.post("/settings/model", data=model)).status_code == 303
    moved = {"model_url": "https://evil.example.org/v1", "model_name": "a", "model_key": ""}
    page = await signed_in.post("/settings/model", data=moved)
    assert (page.status_code, "Enter it again" in page.text) == (422, True)
    stored = (await StoredSettings(database, settings).load()).values
    assert stored["curator.model_url"] == "https://api.example.org/v1"


async def test_the_environment_wins_and_the_page_says_so(resources: Resources, settings: Settings, admin: User) -> None:
    key = SecretStr("a key of the environment")
    known = settings.with_group(CuratorSettings(model_key=key)).with_group(FootySettings(api_key=key))
    async with serving(replace(resources, settings=known), known) as app, Browser(app) as browser:
        await browser.sign_in(ADMIN)
        page = (await browser.get("/settings/football")).text
        assert "Set by the environment" in page
        assert key.get_secret_value() not in page
        await browser.post("/settings/football", data={"api_key": KEY})
        away = await browser.post("/settings/model", data={"model_url": "https://evil.example.org", "model_name": "a"})
        assert (away.status_code, "has to set this too" in away.text) == (422, True)
    assert (await combine_settings(known, resources.database)) == known


async def test_a_test_mail_goes_to_whoever_asks(signed_in: Browser) -> None:
    async with MailSink() as sink:
        form = {"smtp_host": "127.0.0.1", "smtp_port": str(sink.smtp_port), "smtp_security": "none"}
        page = await signed_in.post(
            "/settings/mail", data={**form, "smtp_from": "Press <press@example.org>", "act": "test"}
        )
        assert f"A mail is on its way to {ADMIN}" in page.text
        assert [mail.recipient for mail in sink.received] == [ADMIN]
    page = await signed_in.post("/settings/mail/test")
    assert "The test failed." in page.text


async def test_two_open_forms_do_not_overwrite_each_other(signed_in: Browser) -> None:
    await signed_in.post("/settings/instance", data={"contact": "a@example.org", "revision": ""})
    second = await signed_in.post("/settings/instance", data={"contact": "b@example.org", "revision": ""})
    assert (second.status_code, "in the meantime" in second.text) == (409, True)


async def test_only_administrators_with_a_recent_proof_change_settings(
    app: FastAPI, browse: Browse, signed_in: Browser, member: User, database: Database
) -> None:
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    for answer in (await theirs.get("/settings"), await theirs.post("/settings/football", data={"api_key": KEY})):
        assert answer.status_code == 403
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET proved_at = now() - interval '1 hour'"))
    for path in ("/settings/football", "/settings/football/test"):
        answer = await signed_in.post(path, data={"api_key": KEY})
        assert answer.headers["location"].startswith("/account/proof")
    assert "Confirm that it is you" in (await signed_in.get("/settings/football")).text
    assert (await signed_in.get("/settings/nothing")).status_code == 404


async def test_settings_outlive_a_new_instance_key(database: Database) -> None:
    old, new = SecretStr("the old instance key of this test"), SecretStr("the new instance key of this test")
    await StoredSettings(database, Settings(secret_key=old)).change("x", {"footy.api_key": KEY}, COMMAND_LINE)
    lost = await StoredSettings(database, Settings(secret_key=new)).load()
    assert (lost.values, lost.unreadable) == ({}, ("footy.api_key",))
    assert await StoredSettings(database, Settings(secret_key=new, old_secret_keys=old)).seal_again() == 1
    assert (await StoredSettings(database, Settings(secret_key=new)).load()).values == {"footy.api_key": KEY}


async def test_a_process_hears_of_a_change_and_what_cannot_be_used_is_left_out(resources: Resources) -> None:
    opened = replace(resources, from_environment=resources.settings)
    waiting = asyncio.create_task(wait_for_change(opened, seconds=0.05))
    store = StoredSettings(resources.database, resources.settings)
    await store.change("x", {"soonish.smtp_port": "no number", "footy.api_key": KEY}, COMMAND_LINE)
    async with asyncio.timeout(patience(60)):
        await waiting
    used = await combine_settings(resources.settings, resources.database)
    key = used.group(FootySettings).api_key
    assert key is not None
    assert key.get_secret_value() == KEY


async def test_the_web_process_takes_new_settings_without_a_restart(
    settings: Settings, database_url: str, parts: Any, database: Database
) -> None:
    groups = {name: kind() for name, kind in settings_groups().items()}
    known = settings.model_copy(
        update={
            "database": settings.database.model_copy(update={"url": SecretStr(database_url)}),
            "temporal": settings.temporal.model_copy(update={"address": parts.temporal_address}),
            "applications": tuple(groups.values()),
        }
    )
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    outbox: asyncio.Queue[Any] = asyncio.Queue()
    process = WebProcess(known, look_seconds=0.1)
    living = asyncio.create_task(process({"type": "lifespan"}, inbox.get, outbox.put))
    await inbox.put({"type": "lifespan.startup"})
    assert (await outbox.get())["type"] == "lifespan.startup.complete"
    transport = httpx.ASGITransport(process)
    async with httpx.AsyncClient(transport=transport, base_url="https://press.example.org") as browser:
        assert (await browser.get("/healthz")).status_code == 400
        store = StoredSettings(database, known)
        await store.change("instance", {"web.public_url": "https://press.example.org"}, COMMAND_LINE)

        async def answers() -> bool:
            return (await browser.get("/healthz")).status_code == 200

        await look_until(answers, what="the new address")
    await inbox.put({"type": "lifespan.shutdown"})
    assert (await outbox.get())["type"] == "lifespan.shutdown.complete"
    await living
