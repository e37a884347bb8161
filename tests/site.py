"""The web application in tests: built once per process, and connected to the parts of one test at a time.

Building it, hundreds of routes with their models, takes longer than most tests.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI

from pressbox.core.accounts.models import Role
from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Settings
from pressbox.core.web.app import apply_settings, create_app
from pressbox.core.web.pages.access import provide
from pressbox.entry.manifests import APPLICATIONS

ORIGIN = "http://localhost:8030"
ADMIN = "admin@example.org"
MEMBER = "member@example.org"
PASSWORD = "four words in a row"
# Of a function that makes a service of the connected parts, what gives the stand-in.
Overrides = Mapping[Callable[[Resources], Any], Callable[[], Any]]


def cheap_passwords() -> Passwords:
    return Passwords(PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))


@dataclass
class LentApp:
    """An application, and what it is connected to while a test uses it."""

    app: FastAPI
    resources: Resources | None = None


# Those that no test uses now, by their applications. Two that are open at once are two.
_idle: dict[tuple[str, ...], list[LentApp]] = defaultdict(list)


@contextmanager
def lend_app(
    resources: Resources, settings: Settings, manifests: Sequence[AppManifest] = APPLICATIONS
) -> Iterator[FastAPI]:
    """An application that is not running yet; the routes are those of an earlier test, the rest is new."""
    idle = _idle[tuple(manifest.name for manifest in manifests)]
    site = idle.pop() if idle else _build(settings, manifests)
    # What is kept for the parts of another test must not be found with these.
    site.resources = replace(resources)
    apply_settings(site.app, settings)
    yield site.app
    site.resources = None
    site.app.dependency_overrides = {}
    idle.append(site)


@asynccontextmanager
async def serving(
    resources: Resources,
    settings: Settings,
    manifests: Sequence[AppManifest] = APPLICATIONS,
    overrides: Overrides | None = None,
) -> AsyncIterator[FastAPI]:
    """The application on these parts; with `overrides`, stand-ins take the place of what these functions make."""
    with lend_app(resources, settings, manifests) as app:
        app.dependency_overrides = {provide(make): stand_in for make, stand_in in (overrides or {}).items()}
        async with app.router.lifespan_context(app):
            app.state.accounts = AccountService(resources.database, settings, passwords=cheap_passwords())
            yield app


def _build(settings: Settings, manifests: Sequence[AppManifest]) -> LentApp:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Resources]:
        assert site.resources is not None
        yield site.resources

    site = LentApp(create_app(settings, manifests, connect))
    return site


class Browser(httpx.AsyncClient):
    """Keeps cookies and sends its origin, as a browser on our own pages does."""

    user_id = 0

    def __init__(self, app: FastAPI, address: str = "127.0.0.1", **headers: str) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 5000))
        super().__init__(transport=transport, base_url=ORIGIN, headers={"Origin": ORIGIN, **headers})

    async def sign_in(self, email: str) -> None:
        answer = await self.post("/sign-in", data={"email": email, "password": PASSWORD})
        assert answer.status_code == 303


@asynccontextmanager
async def browsing(app: FastAPI, name: str, role: Role = Role.MEMBER) -> AsyncIterator[Browser]:
    """A new person, signed in."""
    user = await app.state.accounts.add_user(f"{name}@example.org", PASSWORD, role=role)
    async with Browser(app) as browser:
        await browser.sign_in(user.email)
        browser.user_id = user.id
        yield browser
