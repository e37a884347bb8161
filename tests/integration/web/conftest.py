"""The real application on a real database; only the cost of a password hash is lowered."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from fastapi import FastAPI

from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import Client, Role, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.entry.manifests import APPLICATIONS
from tests.site import ADMIN, MEMBER, PASSWORD, Browser, cheap_passwords, serving

ELSEWHERE = Client(address="192.0.2.1", agent="Test")

OpenApp = Callable[[Settings], AbstractAsyncContextManager[FastAPI]]
Browse = Callable[..., Browser]


@pytest.fixture
def accounts(database: Database, settings: Settings) -> AccountService:
    return AccountService(database, settings, passwords=cheap_passwords())


@pytest.fixture
def life_cycle(database: Database) -> AccountLifeCycle:
    return AccountLifeCycle(database, cheap_passwords(), APPLICATIONS)


@pytest.fixture
async def admin(accounts: AccountService) -> User:
    return await accounts.add_user(ADMIN, PASSWORD, role=Role.ADMIN)


@pytest.fixture
async def member(accounts: AccountService, admin: User) -> User:
    return await accounts.add_user(MEMBER, PASSWORD)


@pytest.fixture
def open_app(resources: Resources) -> OpenApp:
    """A web process of its own on the shared parts."""

    return lambda settings: serving(resources, settings, ())


@pytest.fixture
async def app(open_app: OpenApp, settings: Settings) -> AsyncIterator[FastAPI]:
    async with open_app(settings) as app:
        yield app


@pytest.fixture
async def browse() -> AsyncIterator[Browse]:
    opened: list[Browser] = []

    def new(app: FastAPI, address: str = "127.0.0.1", **headers: str) -> Browser:
        opened.append(Browser(app, address, **{"Accept": "text/html", **headers}))
        return opened[-1]

    yield new
    for client in opened:
        await client.aclose()


@pytest.fixture
def browser(app: FastAPI, browse: Browse) -> Browser:
    return browse(app)


@pytest.fixture
async def signed_in(browser: Browser, admin: User) -> Browser:
    await browser.sign_in(ADMIN)
    return browser
