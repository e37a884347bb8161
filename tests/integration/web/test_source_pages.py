"""Clip sources are set up on pages: keys sealed, a login at X brought as a file, each tried by a button."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.stored_settings.store import StoredSettings
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.social_bluesky import BlueskyFace
from pressbox.demo.simulators.social_site import Mood, SocialSite
from pressbox.footy.settings import FootySettings
from pressbox.footy.x.cookies import LARGEST_EXPORT
from pressbox.footy.x.session import open_session
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, Browser, serving

COOKIES_TXT = (
    b"# Netscape HTTP Cookie File\n"
    b"#HttpOnly_.x.com\tTRUE\t/\tTRUE\t4102444800\tauth_token\tsecret-of-the-login\n"
    b".x.com\tTRUE\t/\tTRUE\t4102444800\tct0\tsecret-of-the-form\n"
    b".example.org\tTRUE\t/\tTRUE\t4102444800\tother\tof-another-site\n"
)
EXTENSION = json.dumps(
    [{"domain": ".twitter.com", "name": "auth_token", "value": "from-an-extension", "sameSite": "no_restriction"}]
).encode()


@pytest.fixture
async def social() -> AsyncIterator[SocialSite]:
    async with SocialSite() as site:
        yield site


@pytest.fixture
def known(settings: Settings, social: SocialSite) -> Settings:
    """As the environment sets them: our own services instead of the real ones, and no keys."""
    footy = FootySettings(
        x_api_url=social.face_url("x-api"), reddit_url=social.face_url("reddit"), bluesky_url="http://127.0.0.1:1"
    )
    return settings.with_group(footy).with_group(CuratorSettings())


@pytest.fixture
async def app(resources: Resources, known: Settings) -> AsyncIterator[FastAPI]:
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


class BlueskyServer(HttpService):
    """Bluesky alone, under an address without a path."""

    def __init__(self) -> None:
        super().__init__()
        self.face = BlueskyFace()

    async def answer(self, request: Request) -> Answer:
        return self.face.answer(request, (), self.url, utc_now())


async def test_bluesky_is_set_up_tried_and_its_health_said(signed_in: Browser, database: Database) -> None:
    assert "Not searched: not set up." in (await signed_in.get("/settings/bluesky")).text
    async with BlueskyServer() as server:
        form = {"bluesky_handle": "me.example.org", "bluesky_login_url": server.url}
        password = {"bluesky_app_password": "hush-hush"}
        page = await signed_in.post("/settings/bluesky", data={**form, **password, "act": "test"})
        assert "It works: its search answered, with 0 posts." in page.text
        server.face.revoke()
        page = await signed_in.post("/settings/bluesky/test")
    assert "The test failed." in page.text
    # The health line says it as long as nobody makes a new one.
    assert "app password is wrong or revoked" in (await signed_in.get("/settings/bluesky")).text
    assert "hush-hush" not in await stored_bytes(database) + page.text


@pytest.mark.parametrize(
    ("section", "form"),
    [
        (
            "reddit",
            {"reddit_subreddits": "soccer, bundesliga", "reddit_client_id": "i", "reddit_client_secret": "hush-1"},
        ),
        ("x-api", {"x_api_token": "hush-2", "x_api_price_per_post": "0.005"}),
    ],
)
async def test_a_source_is_set_up_tried_and_its_health_said(
    signed_in: Browser, social: SocialSite, database: Database, section: str, form: dict[str, str]
) -> None:
    assert "Not searched: not set up." in (await signed_in.get(f"/settings/{section}")).text
    page = await signed_in.post(f"/settings/{section}", data={**form, "act": "test"})
    assert "It works: its search answered, with 0 posts." in page.text
    assert "Its last search found 0." in page.text
    social.set_mood(section, Mood.LIMITED)
    page = await signed_in.post(f"/settings/{section}/test")
    assert "The test failed." in page.text
    assert "too many requests" in (await signed_in.get(f"/settings/{section}")).text
    kept = await stored_bytes(database)
    assert "hush" not in kept + page.text
    values = (await StoredSettings(database, Settings()).load()).unreadable
    assert set(values) == {f"footy.{name}" for name in form}


async def test_several_values_are_shown_as_they_are_written(signed_in: Browser) -> None:
    await signed_in.post("/settings/reddit", data={"reddit_subreddits": "soccer,  bundesliga"})
    assert 'value="soccer, bundesliga"' in (await signed_in.get("/settings/reddit")).text


@pytest.mark.parametrize(
    ("section", "form", "field"),
    [
        ("bluesky", {"bluesky_login_url": "bsky.social"}, "bluesky_login_url"),
        ("bluesky", {"bluesky_login_url": "https://bsky.social/xrpc"}, "bluesky_login_url"),
        ("x", {"x_browser_url": "http://["}, "x_browser_url"),
        ("x-api", {"x_api_price_per_post": "-1"}, "x_api_price_per_post"),
    ],
)
async def test_a_value_that_cannot_be_used_is_refused(
    signed_in: Browser, section: str, form: dict[str, str], field: str
) -> None:
    page = await signed_in.post(f"/settings/{section}", data=form)
    assert (page.status_code, f'id="e-{field}"' in page.text) == (422, True)


async def test_a_password_is_not_sent_to_a_server_that_somebody_else_chose(signed_in: Browser) -> None:
    form = {"bluesky_handle": "me.example.org", "bluesky_app_password": "hush"}
    assert (await signed_in.post("/settings/bluesky", data=form)).status_code == 303
    moved = {"bluesky_handle": "me.example.org", "bluesky_login_url": "https://evil.example.org"}
    page = await signed_in.post("/settings/bluesky", data=moved)
    assert (page.status_code, "Enter it again" in page.text) == (422, True)


@pytest.mark.parametrize(("export", "value"), [(COOKIES_TXT, "secret-of-the-login"), (EXTENSION, "from-an-extension")])
async def test_a_login_at_x_is_brought_as_a_file_and_sealed(
    signed_in: Browser, database: Database, known: Settings, export: bytes, value: str
) -> None:
    assert "No login is kept here." in (await signed_in.get("/settings/x")).text
    page = await signed_in.post("/settings/x/file", files={"file": ("cookies.txt", export)})
    assert "The login at X is kept, sealed." in page.text
    session = open_session(known)
    assert {cookie.value for cookie in session.load() if cookie.name == "auth_token"} == {value}
    assert all(cookie.domain == ".x.com" for cookie in session.load())
    assert value.encode() not in (known.secrets / "x-session").read_bytes()
    kept = await stored_bytes(database)
    assert value not in kept + page.text
    assert "Login at X" in kept
    page = await signed_in.get("/settings/x")
    assert "One is kept, sealed." in page.text
    await signed_in.post("/settings/x/file", data={"act": "remove"})
    assert session.load() == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "Choose a file first."),
        (b"\xff\xfe\x00", "neither a cookies.txt nor"),
        (b"hello", "neither a cookies.txt nor"),
        (b"[{}", "not the JSON of a browser extension"),
        (b".x.com\tTRUE\t/\tTRUE\t0\tct0\ta\n", "auth_token is missing or expired"),
        (b".example.org\tTRUE\t/\tTRUE\t0\tauth_token\ta\n", "no cookie of x.com"),
        (b"#" * (LARGEST_EXPORT + 1), "too large"),
    ],
)
async def test_a_file_that_is_no_login_is_refused_in_words(
    signed_in: Browser, known: Settings, content: bytes, words: str
) -> None:
    page = await signed_in.post("/settings/x/file", files={"file": ("a", content)})
    assert (page.status_code, words in page.text) == (422, True)
    assert open_session(known).load() == ()


async def test_only_administrators_with_a_recent_proof_bring_a_login(
    app: FastAPI, browse: Browse, signed_in: Browser, member: User, database: Database, known: Settings
) -> None:
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    files = {"file": ("cookies.txt", COOKIES_TXT)}
    assert (await theirs.post("/settings/x/file", files=files)).status_code == 403
    stranger = {"Origin": "https://evil.example.org", "Sec-Fetch-Site": "cross-site"}
    assert (await signed_in.post("/settings/x/file", files=files, headers=stranger)).status_code == 403
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET proved_at = now() - interval '1 hour'"))
    answer = await signed_in.post("/settings/x/file", files=files)
    assert answer.headers["location"].startswith("/account/proof")
    assert open_session(known).load() == ()


async def test_a_section_without_a_file_takes_none(signed_in: Browser) -> None:
    answer = await signed_in.post("/settings/reddit/file", files={"file": ("a", b"b")})
    assert answer.status_code == 404


async def test_a_source_that_the_environment_leaves_out_says_so(
    resources: Resources, known: Settings, admin: User
) -> None:
    narrow = known.with_group(FootySettings(sources=("folder",), folder=str(known.home)))
    async with serving(replace(resources, settings=narrow), narrow) as app, Browser(app) as browser:
        await browser.sign_in(ADMIN)
        assert "names folder only" in (await browser.get("/settings/reddit")).text
