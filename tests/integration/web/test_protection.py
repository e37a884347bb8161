"""Every route of every application, asked by a stranger: it is protected, or it stands in the short list here."""

import re
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web.app import routers
from pressbox.entry.manifests import APPLICATIONS
from tests.integration.web.conftest import Browse
from tests.site import MEMBER, PASSWORD, serving

PUBLIC = {
    ("GET", "/set-up"),
    ("POST", "/set-up"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("POST", "/sign-out"),
    ("GET", "/forgotten-password"),
    ("POST", "/forgotten-password"),
    # Behind these is nothing but what the link in a mail opens.
    *((method, path) for method in ("GET", "POST") for path in ("/choose-password", "/confirm-email")),
    # Ways to sign in. What they ask for, only the browser that began has; test_second_factor, test_passkeys and
    # test_provider_sign_in try them as a stranger.
    ("GET", "/sign-in/second"),
    ("POST", "/sign-in/second"),
    ("POST", "/sign-in/second/passkey"),
    ("POST", "/sign-in/second/passkey/options"),
    ("POST", "/sign-in/passkey"),
    ("POST", "/sign-in/passkey/options"),
    ("GET", "/sign-in/oidc"),
    ("GET", "/sign-in/oidc/callback"),
    ("GET", "/signed-out"),
    # The frame for what a phone keeps; it says nothing about anybody.
    ("GET", "/offline"),
    ("GET", "/styleguide"),
    ("GET", "/styleguide/reader"),
    # A public event, and its subscribe form; a private one answers 404 without its invitation.
    ("GET", "/events/{slug}"),
    ("GET", "/events/{slug}/calendar.ics"),
    ("GET", "/events/agenda"),
    ("GET", "/events/agenda.ics"),
    ("POST", "/events/{slug}/subscribe"),
    # A clip that somebody shared: whoever has the address, which nobody can guess, may look.
    *((method, f"/footy/clips/{{share_id}}{ending}") for method in ("GET", "HEAD") for ending in (".mp4", ".jpg")),
    ("GET", "/footy/clips/{share_id}"),
}
# Behind these is nothing but what the signed token names; test_event_pages tries tokens that are not ours.
SIGNED_LINKS = re.compile(
    r"/events/(confirm|manage|unsubscribe|why|calendar)/\{token\}|/reader/out/\{token\}.xml|/follows/stop/\{token\}"
)
FOR_ADMINISTRATORS = re.compile(
    r"^/users|/api/users|^(/api)?/audit$|/activity/[^/]+/(cancel|retry)|/schedules/|/follow/(?!found|live|own|remove)"
)


def every_route() -> Iterator[tuple[str, str]]:
    for router in routers(APPLICATIONS):
        yield from _routes_of(router)


def _routes_of(router: APIRouter, before: str = "") -> Iterator[tuple[str, str]]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            for method in sorted(route.methods or ()):
                yield method, before + route.path
        else:
            # A router inside another one does not know the other's prefix.
            inside = before + route.include_context.prefix  # type: ignore[attr-defined]
            yield from _routes_of(route.original_router, inside)  # type: ignore[attr-defined]


def address(path: str) -> str:
    return re.sub(r"\{[^}]+\}", "1", path)


@pytest.fixture
async def whole_app(resources: Resources, settings: Settings, admin: User) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


def refuses(answer: httpx.Response) -> bool:
    to_sign_in = answer.status_code == 303 and answer.headers["location"].startswith("/sign-in")
    return to_sign_in or answer.status_code == 401


async def test_a_stranger_gets_nowhere(whole_app: FastAPI, browse: Browse) -> None:
    stranger = browse(whole_app)
    found = set(every_route())
    assert len(found) > 30
    assert found >= {each for each in PUBLIC if not each[1].startswith("/styleguide")}
    signed = {(method, path) for method, path in found if SIGNED_LINKS.match(path)}
    assert len(signed) > 5
    for method, path in signed:
        assert (await stranger.request(method, address(path))).status_code == 404, path
    rest = found - PUBLIC - signed
    let_in = {(method, path) for method, path in rest if not refuses(await stranger.request(method, address(path)))}
    assert let_in == set()


async def test_a_member_cannot_do_what_is_for_administrators(whole_app: FastAPI, browse: Browse, member: User) -> None:
    browser = browse(whole_app)
    await browser.post("/sign-in", data={"email": MEMBER, "password": PASSWORD})
    guarded = [(method, path) for method, path in every_route() if FOR_ADMINISTRATORS.search(path)]
    assert len(guarded) >= 5
    for method, path in guarded:
        answer = await browser.request(method, address(path))
        assert answer.status_code == 403, (method, path, answer.status_code)


async def test_no_page_fails_for_somebody_who_is_signed_in(whole_app: FastAPI, browse: Browse, member: User) -> None:
    browser = browse(whole_app)
    await browser.post("/sign-in", data={"email": MEMBER, "password": PASSWORD})
    for method, path in every_route():
        if method == "GET" and path != "/api/stream":
            answer = await browser.get(address(path))
            assert answer.status_code < 500, path
