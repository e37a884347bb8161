"""The real application with an organiser, another member and a stranger."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings
from pressbox.demo.simulators.notification_target import NotificationTarget
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, PASSWORD, serving

NEXT_WEEK = (datetime.now(UTC) + timedelta(days=7)).replace(hour=18, minute=30, second=0, microsecond=0)
TARGET = "json://127.0.0.1:9/inbox"
FORM = {
    "name": "Summer party",
    "start_date": f"{NEXT_WEEK:%Y-%m-%dT%H:%M}",
    "timezone": "Europe/Berlin",
    "location": "Hall 2",
    "description": "Bring something.",
    "visibility": "public",
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"http": HttpSettings(allow=("127.0.0.0/8",))})


@pytest.fixture
async def app(resources: Resources, settings: Settings, admin: User, member: User) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


async def signed(browse: Browse, app: FastAPI, email: str) -> httpx.AsyncClient:
    client = browse(app)
    answer = await client.post("/sign-in", data={"email": email, "password": PASSWORD})
    assert answer.status_code == 303
    return client


@pytest.fixture
async def organiser(app: FastAPI, browse: Browse) -> httpx.AsyncClient:
    return await signed(browse, app, ADMIN)


@pytest.fixture
async def other(app: FastAPI, browse: Browse) -> httpx.AsyncClient:
    return await signed(browse, app, MEMBER)


@pytest.fixture
def stranger(app: FastAPI, browse: Browse) -> httpx.AsyncClient:
    return browse(app)


async def new_event(client: httpx.AsyncClient, **changes: str) -> str:
    answer = await client.post("/events/new", data=FORM | changes)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].split("/")[2]


@pytest.fixture
async def inbox() -> AsyncIterator[NotificationTarget]:
    async with NotificationTarget() as target:
        yield target


async def join(client: httpx.AsyncClient, inbox: NotificationTarget, slug: str, **data: Any) -> str:
    """Subscribe with an Apprise address and follow the link in its message; gives the path of the private link."""
    url = inbox.apprise_url("inbox")
    answer = await client.post(f"/events/{slug}/subscribe", data={"url": url, "offsets_asked": "1", **data})
    assert answer.status_code == 303, answer.text
    assert "done=message" in answer.headers["location"]
    link = re.search(r"http\S+/events/confirm/\S+", inbox.of("inbox")[-1].body)
    assert link is not None
    confirmed = await client.post(httpx.URL(link[0]).path)
    assert confirmed.status_code == 303, confirmed.text
    return httpx.URL(confirmed.headers["location"]).path


async def state_of(client: httpx.AsyncClient, slug: str) -> list[str]:
    answer = await client.get(f"/api/soonish/events/{slug}/subscriptions")
    return [row["state"] for row in answer.json()]
