"""How people can be reached: services with their own fields, the e-mail of an account, and what an instance lacks."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings, WebSettings
from pressbox.core.health import HealthState
from pressbox.delivery.adapters.address_book import AddressBook
from pressbox.delivery.settings import SmtpSecurity
from pressbox.delivery.wiring import vault
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.web.health import check_links
from tests.integration.web.conftest import Browse
from tests.integration.web.events.conftest import new_event, signed
from tests.site import ADMIN, serving


def with_mail(settings: Settings, public_url: str | None = None) -> Settings:
    soonish = SoonishSettings(
        smtp_host="127.0.0.1", smtp_port=9, smtp_from="events@example.org", smtp_security=SmtpSecurity.NONE
    )
    web = WebSettings(**(settings.web.model_dump() | {"public_url": public_url}))
    return settings.with_group(soonish).model_copy(update={"web": web})


@pytest.fixture
async def mailing(resources: Resources, settings: Settings, admin: User, member: User) -> AsyncIterator[FastAPI]:
    changed = with_mail(settings)
    async with serving(replace(resources, settings=changed), changed) as app:
        yield app


async def test_a_channel_is_added_with_the_fields_of_its_service(organiser: httpx.AsyncClient) -> None:
    page = (await organiser.get("/events/channels")).text
    for name in ("Telegram", "Discord", "Slack", "ntfy", "Matrix", "Webhook", "Apprise, for experts"):
        assert name in page
    form = (await organiser.get("/events/channels?service=telegram")).text
    assert "Bot token" in form
    assert "Chat id" in form
    wrong = await organiser.post(
        "/events/channels", data={"service": "telegram", "name": "phone", "one": "hunter2", "two": "1"}
    )
    assert (wrong.status_code, 'id="e-one"' in wrong.text, "hunter2" in wrong.text) == (422, True, False)
    added = await organiser.post("/events/channels", data={"service": "ntfy", "name": "phone", "one": "my-topic"})
    assert added.status_code == 303, added.text
    (channel,) = (await organiser.get("/api/soonish/channels")).json()
    assert channel["kind"] == "ntfy"


async def test_without_a_mail_server_nobody_is_offered_mail_and_the_organiser_knows(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    page = (await stranger.get(f"/events/{slug}")).text
    assert 'name="email"' not in page
    assert 'name="one"' in page, "the first service is offered with its own fields"
    board = (await organiser.get(f"/events/{slug}/board")).text
    assert "This Pressbox sends no e-mail." in board
    assert "Links in messages only work on this machine." in board
    assert "service=email" not in (await organiser.get("/events/channels")).text
    refused = await organiser.post("/events/channels", data={"service": "email", "name": "mail"})
    assert refused.status_code == 409


async def test_the_e_mail_of_the_account_is_a_channel_like_any_other(
    mailing: FastAPI, browse: Browse, resources: Resources
) -> None:
    client = await signed(browse, mailing, ADMIN)
    assert ADMIN in (await client.get("/events/channels?service=email")).text
    for _ in range(2):
        added = await client.post("/events/channels", data={"service": "email", "name": "mail"})
        assert added.status_code == 303, added.text
    (channel,) = (await client.get("/api/soonish/channels")).json()
    assert channel["kind"] == "email"
    book = AddressBook(resources.database, vault(resources.settings).reveal)
    found = await book.find(f"channel:{channel['id']}")
    assert found is not None
    assert (found.kind, found.address) == ("email", ADMIN)
    slug = await new_event(client)
    assert 'name="email"' in (await browse(mailing).get(f"/events/{slug}")).text
    assert "This Pressbox sends no e-mail." not in (await client.get(f"/events/{slug}/board")).text


def test_mail_with_links_that_lead_nowhere_is_a_warning_of_the_status_page() -> None:
    assert check_links(Settings()) == ()
    (part,) = check_links(with_mail(Settings()))
    assert part.state is HealthState.WARNING
    assert "Settings" in part.fix
    (good,) = check_links(with_mail(Settings(), "https://events.example.org"))
    assert good.state is HealthState.OK
