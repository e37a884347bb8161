"""Which browsers get messages: each belongs to one person and ends with their session, password and account."""

import zipfile
from collections.abc import AsyncIterator, Sequence
from io import BytesIO
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.core.http.client import GuardedClient
from pressbox.delivery.push.api import make_sender
from pressbox.delivery.push.keys import PushKeys
from pressbox.delivery.push.sender import PushSender
from pressbox.delivery.push.store import PushStore
from pressbox.delivery.push.subscription import PushSubscription
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.push_service import PushService
from tests.site import PASSWORD, Browser, browsing, serving

NEW_PASSWORD = "another four words here"


@pytest.fixture
async def service() -> AsyncIterator[PushService]:
    async with PushService() as service:
        yield service


@pytest.fixture
async def app(resources: Resources, settings: Settings, service: PushService) -> AsyncIterator[FastAPI]:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{service.port}",))) as http:
        sender = PushSender(http, PushKeys(resources.database, settings), settings)
        async with serving(resources, settings, overrides={make_sender: lambda: sender}) as app:
            yield app


@pytest.fixture
async def ada(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "ada") as browser:
        yield browser


@pytest.fixture
async def ben(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "ben") as browser:
        yield browser


@pytest.fixture
def store(database: Database, settings: Settings) -> PushStore:
    return PushStore(database, settings)


async def listening(store: PushStore, user_id: int) -> Sequence[PushSubscription]:
    """The browsers of this person that get messages now."""
    return (await store.load_many([user_id])).get(user_id, ())


async def subscribe(browser: Browser, service: PushService, name: str = "phone") -> dict[str, Any]:
    known = service.browsers.get(name) or service.add_browser(name)
    said = dict(known.subscription())
    answer = await browser.post("/api/push/subscriptions", json=said)
    assert answer.status_code == 201, answer.text
    return said


async def count(database: Database) -> int:
    async with database.unit_of_work() as work:
        return await work.session.scalar(text("SELECT count(*) FROM core.push_subscriptions")) or 0


async def test_a_browser_that_was_turned_on_gets_a_test_until_it_is_turned_off(
    ada: Browser, service: PushService
) -> None:
    said = await subscribe(ada, service)
    this = {"endpoint": said["endpoint"]}
    assert (await ada.post("/api/push/subscriptions/look", json=this)).status_code == 200
    assert (await ada.post("/api/push/test", json=this)).status_code == 204
    assert [message["title"] for message in service.of("phone")] == ["Pressbox reaches this device"]
    assert (await ada.post("/api/push/subscriptions/end", json=this)).status_code == 204
    assert (await ada.post("/api/push/subscriptions/end", json=this)).status_code == 204
    refused = await ada.post("/api/push/test", json=this)
    assert refused.status_code == 404
    assert "Turn them on first" in refused.json()["error"]["message"]


async def test_the_test_speaks_the_language_of_the_browser(ada: Browser, service: PushService) -> None:
    ada.headers["Accept-Language"] = "de"
    said = await subscribe(ada, service)
    await ada.post("/api/push/test", json={"endpoint": said["endpoint"]})
    assert [message["title"] for message in service.of("phone")] == ["Pressbox erreicht dieses Gerät"]


async def test_subscribing_twice_is_one_browser(ada: Browser, service: PushService, store: PushStore) -> None:
    await subscribe(ada, service)
    await subscribe(ada, service)
    assert len(await listening(store, ada.user_id)) == 1


async def test_a_browser_tells_its_present_user_only(
    ada: Browser, ben: Browser, service: PushService, store: PushStore
) -> None:
    said = await subscribe(ada, service)
    await subscribe(ben, service)
    assert await listening(store, ada.user_id) == ()
    [kept] = await listening(store, ben.user_id)
    assert kept.target.endpoint == said["endpoint"]
    assert (await ada.post("/api/push/test", json={"endpoint": said["endpoint"]})).status_code == 404
    assert (await ada.post("/api/push/subscriptions/end", json={"endpoint": said["endpoint"]})).status_code == 204
    assert (await ada.post(f"/account/devices/{kept.id}/end")).status_code == 303
    assert len(await listening(store, ben.user_id)) == 1


async def test_signing_out_ends_the_messages_of_that_browser_and_of_no_other(
    app: FastAPI, ada: Browser, service: PushService, store: PushStore
) -> None:
    await subscribe(ada, service, "phone")
    async with Browser(app) as laptop:
        await laptop.sign_in("ada@example.org")
        await subscribe(laptop, service, "laptop")
        await laptop.post("/sign-out")
    assert [one.target.endpoint for one in await listening(store, ada.user_id)] == [service.browsers["phone"].endpoint]


async def test_a_session_that_has_run_out_gets_nothing_even_before_it_is_swept_away(
    ada: Browser, service: PushService, store: PushStore, database: Database
) -> None:
    await subscribe(ada, service)
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET expires_at = now() - interval '1 second'"))
    assert await listening(store, ada.user_id) == ()


async def test_a_new_password_ends_every_browser_that_was_not_kept(
    app: FastAPI, ada: Browser, service: PushService, store: PushStore
) -> None:
    await subscribe(ada, service, "phone")
    async with Browser(app) as laptop:
        await laptop.sign_in("ada@example.org")
        await subscribe(laptop, service, "laptop")
    phone, _ = await store.list(ada.user_id)
    page = (await ada.get("/account")).text
    assert f'value="push:{phone.id}"' in page
    change = {"current_password": PASSWORD, "new_password": NEW_PASSWORD, "keep": f"push:{phone.id}"}
    assert (await ada.post("/account/password", data=change)).status_code == 303
    assert [device.id for device in await store.list(ada.user_id)] == [phone.id]


async def test_somebody_who_is_disabled_hears_nothing_more(
    app: FastAPI, ada: Browser, service: PushService, database: Database
) -> None:
    await subscribe(ada, service)
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.users SET disabled_at = now()"))
    assert await listening(PushStore(database, app.state.settings), ada.user_id) == ()


async def test_the_account_page_lists_them_and_removes_them_without_scripts(
    ada: Browser, service: PushService, store: PushStore
) -> None:
    assert "This device" in (await ada.get("/account")).text
    await subscribe(ada, service)
    [device] = await store.list(ada.user_id)
    page = (await ada.get("/account")).text
    assert f'action="/account/devices/{device.id}/end"' in page
    assert "127.0.0.1" in page
    assert (await ada.post(f"/account/devices/{device.id}/end")).status_code == 303
    assert await store.list(ada.user_id) == []


async def test_one_person_has_ten_browsers_at_most(ada: Browser, service: PushService, database: Database) -> None:
    for number in range(10):
        await subscribe(ada, service, f"phone-{number}")
    one_more = dict(service.add_browser("one-more").subscription())
    refused = await ada.post("/api/push/subscriptions", json=one_more)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "quota_exceeded")
    assert await count(database) == 10


async def test_a_browser_that_the_service_forgot_is_removed(
    ada: Browser, service: PushService, database: Database
) -> None:
    said = await subscribe(ada, service)
    service.tell("phone", Kind.GONE)
    answer = await ada.post("/api/push/test", json={"endpoint": said["endpoint"]})
    assert answer.status_code == 410
    assert "off and on again" in answer.json()["error"]["message"]
    assert await count(database) == 0


async def test_addresses_are_sealed_and_outlive_a_change_of_the_key(
    ada: Browser, service: PushService, database: Database, settings: Settings
) -> None:
    said = await subscribe(ada, service)
    async with database.unit_of_work() as work:
        [sealed] = await work.session.scalars(text("SELECT sealed FROM core.push_subscriptions"))
    assert said["endpoint"].encode() not in sealed
    assert settings.secret_key is not None
    rotated = settings.model_copy(
        update={"secret_key": SecretStr("the next instance key, long enough"), "old_secret_keys": settings.secret_key}
    )
    assert await PushStore(database, rotated).seal_again() == 1
    assert len(await listening(PushStore(database, rotated), ada.user_id)) == 1
    with pytest.raises(ConfigurationError):
        await listening(PushStore(database, settings), ada.user_id)


async def test_the_export_names_the_browsers_and_no_secret(ada: Browser, service: PushService) -> None:
    said = await subscribe(ada, service)
    answer = await ada.post("/account/data/export")
    packed = zipfile.ZipFile(BytesIO(answer.content))
    listed = packed.read("delivery/push-browsers.json").decode()
    assert "127.0.0.1" in listed
    assert said["endpoint"] not in listed
    assert said["keys"]["auth"] not in listed


async def test_a_program_and_a_stranger_turn_nothing_on(app: FastAPI, ada: Browser, service: PushService) -> None:
    said = dict(service.add_browser("phone").subscription())
    async with Browser(app) as nobody:
        assert (await nobody.post("/api/push/subscriptions", json=said)).status_code == 401
    token = (await ada.post("/api/account/tokens", json={"name": "p", "scopes": ["read", "write"]})).json()["token"]
    async with Browser(app, Authorization=f"Bearer {token}") as program:
        assert (await program.post("/api/push/subscriptions", json=said)).status_code == 403
    elsewhere = await ada.post("/api/push/subscriptions", json=said, headers={"Origin": "https://evil.example"})
    assert elsewhere.status_code == 403
