"""The real application on a real database; only the cost of a password hash is lowered."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI

from pressbox.core.accounts.models import Client, Role, User
from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.web.app import create_app

ORIGIN = "http://localhost:8030"
ADMIN = "admin@example.org"
MEMBER = "member@example.org"
PASSWORD = "four words in a row"
ELSEWHERE = Client(address="192.0.2.1", agent="Test")

OpenApp = Callable[[Settings], AbstractAsyncContextManager[FastAPI]]
Browse = Callable[..., httpx.AsyncClient]


def cheap_passwords() -> Passwords:
    return Passwords(PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))


@pytest.fixture
def accounts(database: Database, settings: Settings) -> AccountService:
    return AccountService(database, settings, passwords=cheap_passwords())


@pytest.fixture
async def admin(accounts: AccountService) -> User:
    return await accounts.add_user(ADMIN, PASSWORD, role=Role.ADMIN)


@pytest.fixture
async def member(accounts: AccountService, admin: User) -> User:
    return await accounts.add_user(MEMBER, PASSWORD)


@pytest.fixture
def open_app(resources: Resources) -> OpenApp:
    """A web process of its own on the shared parts."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Resources]:
        yield resources

    @asynccontextmanager
    async def opened(settings: Settings) -> AsyncIterator[FastAPI]:
        app = create_app(settings, (), connect)
        async with app.router.lifespan_context(app):
            app.state.accounts = AccountService(resources.database, settings, passwords=cheap_passwords())
            yield app

    return opened


@pytest.fixture
async def app(open_app: OpenApp, settings: Settings) -> AsyncIterator[FastAPI]:
    async with open_app(settings) as app:
        yield app


@pytest.fixture
async def browse() -> AsyncIterator[Browse]:
    """Clients that behave as a browser on our own pages does: they keep cookies and send their origin."""
    opened: list[httpx.AsyncClient] = []

    def new(app: FastAPI, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 5000))
        sent = {"Origin": ORIGIN, "Accept": "text/html", **headers}
        opened.append(httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=sent))
        return opened[-1]

    yield new
    for client in opened:
        await client.aclose()


@pytest.fixture
def browser(app: FastAPI, browse: Browse) -> httpx.AsyncClient:
    return browse(app)


@pytest.fixture
async def signed_in(browser: httpx.AsyncClient, admin: User) -> httpx.AsyncClient:
    answer = await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    assert answer.status_code == 303
    return browser
