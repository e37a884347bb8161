import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import uvicorn
from fastapi import APIRouter, FastAPI
from pydantic import SecretStr
from structlog.testing import capture_logs

from pressbox.core.accounts.models import Scope, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Settings, WebSettings
from pressbox.core.errors import ConfigurationError
from pressbox.core.web.app import create_app
from tests.integration.web.conftest import Browse, OpenApp
from tests.site import ADMIN, ORIGIN, PASSWORD
from tests.waiting import PATIENCE_SECONDS, until

SECRET_OF_OURS = "swordfish-in-a-traceback"


async def test_every_answer_carries_the_safe_headers(browser: httpx.AsyncClient) -> None:
    for path in ("/", "/sign-in", "/api/account", "/nothing/here", "/static/pressbox.css", "/healthz"):
        headers = (await browser.get(path)).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert len(headers["x-request-id"]) == 16
        assert "server" not in headers


async def test_private_pages_are_not_cached_and_static_files_are(signed_in: httpx.AsyncClient) -> None:
    assert (await signed_in.get("/account")).headers["cache-control"] == "no-store"
    assert (await signed_in.get("/api/account")).headers["cache-control"] == "no-store"
    style = await signed_in.get("/static/pressbox.css")
    assert style.headers["cache-control"] == "no-cache"
    same = await signed_in.get("/static/pressbox.css", headers={"If-None-Match": style.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")


async def test_other_names_are_refused(browser: httpx.AsyncClient) -> None:
    """A page elsewhere may point its own name at this machine."""
    for host in ("evil.example", "evil.example:8030", "", "local host", "localhost.evil.example", "192.0.2.9"):
        answer = await browser.get("/sign-in", headers={"Host": host})
        assert answer.status_code == 400, host


async def test_allowed_names_are_answered(open_app: OpenApp, browse: Browse, settings: Settings) -> None:
    web = WebSettings(public_url="https://press.example.org", allowed_hosts=("intern.example.org",))
    async with open_app(settings.model_copy(update={"web": web})) as app:
        for host in ("press.example.org", "INTERN.example.org:8030", "127.0.0.1:8030", "[::1]:8030"):
            assert (await browse(app).get("/sign-in", headers={"Host": host})).status_code == 200


FOREIGN_ORIGINS = (
    "http://evil.example",
    "null",
    "http://localhost:9999",
    "https://localhost:8030",
    "http://localhost:8030.evil.example",
)


async def test_a_change_that_another_site_asks_for_is_refused_and_nothing_is_written(
    signed_in: httpx.AsyncClient, accounts: AccountService, admin: User
) -> None:
    form = {"name": "evil", "scopes": "read"}
    for origin in FOREIGN_ORIGINS:
        headers = {"Origin": origin}
        assert (await signed_in.post("/account/tokens", data=form, headers=headers)).status_code == 403
        refused = await signed_in.post(
            "/api/account/tokens", json={"name": "evil", "scopes": ["read"]}, headers=headers
        )
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "wrong_origin"
        assert (await signed_in.post("/sign-out", headers=headers)).status_code == 403
    assert await accounts.tokens(admin.id) == ()
    assert (await signed_in.get("/api/account")).status_code == 200


async def test_without_origin_the_other_headers_decide(app: FastAPI, browse: Browse, admin: User) -> None:
    browser = browse(app)
    await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    del browser.headers["origin"]
    for headers, status in (
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Referer": "http://evil.example/"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Referer": f"{ORIGIN}/account"}, 303),
    ):
        answer = await browser.post("/account/profile", data={"language": "de"}, headers=headers)
        assert answer.status_code == status


async def test_behind_a_trusted_proxy_the_scheme_and_the_client_are_those_it_names(
    open_app: OpenApp, browse: Browse, settings: Settings, admin: User
) -> None:
    web = WebSettings(allowed_hosts=("press.example.org",), trusted_proxies=("10.0.0.0/8",))
    form = {"email": ADMIN, "password": PASSWORD}
    headers = {"Host": "press.example.org", "Origin": "https://press.example.org", "X-Forwarded-Proto": "https"}
    async with open_app(settings.model_copy(update={"web": web})) as app:
        assert (await browse(app, "10.0.0.1").post("/sign-in", data=form, headers=headers)).status_code == 303
        assert (await browse(app, "192.0.2.1").post("/sign-in", data=form, headers=headers)).status_code == 403


async def test_a_body_that_is_too_large_is_not_read(
    open_app: OpenApp, browse: Browse, settings: Settings, admin: User
) -> None:
    async with open_app(settings.model_copy(update={"web": WebSettings(max_body_bytes=1000)})) as app:
        browser = browse(app)
        large = await browser.post("/sign-in", data={"email": ADMIN, "password": "x" * 2000})
        assert large.status_code == 413

        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                sent += 1
                yield b'{"name": "' + b"x" * 500

        for path, kind in (
            ("/api/account/password", "application/json"),
            ("/sign-in", "application/x-www-form-urlencoded"),
        ):
            answer = await browser.post(path, content=endless(), headers={"Content-Type": kind})
            assert answer.status_code in (401, 413)
        answer = await browser.post(
            "/sign-in", content=endless(), headers={"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert answer.status_code == 413
        assert sent < 20


WRONG_BODIES = (
    ("{", "application/json"),
    ("[]", "application/json"),
    ('{"name": 7, "scopes": ["read"]}', "application/json"),
    ('{"name": "x", "scopes": ["root"]}', "application/json"),
    ('{"name": "x", "scopes": ["read"], "surprise": 1}', "application/json"),
    ('{"name": "\\u0000", "scopes": ["read"]}', "application/json"),
    ('{"name": "\\ud800", "scopes": ["read"]}', "application/json"),
    ('{"name": "x", "scopes": ["read"], "expires_in_days": 1e400}', "application/json"),
    ("[" * 5000, "application/json"),
    ("9" * 5000, "application/json"),
    ("name=x", "text/plain"),
    ("\xff\xfe", "application/json"),
)


async def test_wrong_bodies_are_refused_in_one_shape_and_nothing_is_written(
    signed_in: httpx.AsyncClient, accounts: AccountService, admin: User
) -> None:
    for body, kind in WRONG_BODIES:
        answer = await signed_in.post(
            "/api/account/tokens", content=body.encode("latin-1"), headers={"Content-Type": kind}
        )
        assert answer.status_code in (400, 422), body
        assert set(answer.json()["error"]) == {"code", "message", "field", "request_id"}
    assert await accounts.tokens(admin.id) == ()


async def test_a_validation_error_names_the_field_and_not_the_value(signed_in: httpx.AsyncClient) -> None:
    answer = await signed_in.post("/api/account/password", json={"current_password": [PASSWORD], "new_password": "x"})
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "current_password"
    assert PASSWORD not in answer.text


ODD_ADDRESSES = (
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/%00", "/static//etc/passwd",
    "/static/..%5capp.py", "/api/account/tokens/99999999999999999999999", "/api/users/-1", "/%ff%fe",
    "/sign-in?next=%00", "/api/account/sessions/%00", "/activity/%ff%00", "/a" * 3000,
)  # fmt: skip


async def test_odd_addresses_are_refused_without_a_failure(signed_in: httpx.AsyncClient) -> None:
    for path in ODD_ADDRESSES:
        for method in ("GET", "DELETE"):
            answer = await signed_in.request(method, path)
            assert 400 <= answer.status_code < 500, path


@pytest.mark.parametrize("application", ["maintenance", "without_a_package_so_that_no_page_can_be_drawn"])
async def test_an_unexpected_error_shows_an_id_and_nothing_else(
    resources: Resources, settings: Settings, browse: Browse, application: str
) -> None:
    router = APIRouter()

    @router.get("/broken")
    @router.get("/api/broken")
    async def broken() -> None:
        raise ZeroDivisionError(SECRET_OF_OURS)

    @asynccontextmanager
    async def connect() -> AsyncIterator[Resources]:
        yield resources

    app = create_app(settings, (AppManifest(application, "Toy", "", router=lambda: router),), connect)
    async with app.router.lifespan_context(app):
        with capture_logs() as lines:
            page, program = [await browse(app).get(path) for path in ("/broken", "/api/broken")]
    for answer in (page, program):
        assert answer.status_code == 500
        assert SECRET_OF_OURS not in answer.text
        assert "ZeroDivision" not in answer.text
        assert answer.headers["x-request-id"] in answer.text
        assert "content-security-policy" in answer.headers
    assert program.json()["error"]["code"] == "error"
    logged = [line for line in lines if line["event"] == "unexpected_error"]
    assert [str(line["exc_info"]) for line in logged] == [SECRET_OF_OURS, SECRET_OF_OURS]


async def test_not_signed_in_is_a_redirect_for_people_and_401_for_programs(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/account?done=1")).headers["location"] == "/sign-in?next=/account%3Fdone%3D1"
    assert (await browser.post("/account/profile")).headers["location"] == "/sign-in"
    fragment = await browser.get("/account", headers={"HX-Request": "true", "HX-Current-URL": f"{ORIGIN}/account"})
    assert (fragment.status_code, fragment.headers["hx-redirect"]) == (401, "/sign-in?next=/account")
    assert (await browser.get("/api/docs")).headers["location"] == "/sign-in?next=/api/docs"
    program = await browser.get("/api/account")
    assert program.status_code == 401
    assert program.headers["www-authenticate"].startswith("Bearer")


async def test_without_its_parts_the_application_starts_and_says_so(settings: Settings, browse: Browse) -> None:
    present = asyncio.Event()

    @asynccontextmanager
    async def connect() -> AsyncIterator[Resources]:
        present.set()
        raise OSError("nobody there")
        yield

    app = create_app(settings, (), connect)
    async with app.router.lifespan_context(app):
        browser = browse(app)
        assert present.is_set()
        assert (await browser.get("/healthz")).status_code == 200
        assert (await browser.head("/healthz")).status_code == 200
        ready = await browser.get("/readyz")
        assert ready.status_code == 503
        assert "reasons" in ready.json()
        page = await browser.get("/account")
        assert page.status_code == 503
        assert page.headers["retry-after"]
        program = await browser.get("/api/account")
        assert program.json()["error"]["code"] == "temporarily_unavailable"


async def test_a_wrong_setting_keeps_it_from_starting(settings: Settings) -> None:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Resources]:
        raise ConfigurationError("PRESSBOX_DATABASE_URL is wrong")
        yield

    app = create_app(settings, (), connect)
    with pytest.raises(ConfigurationError):
        async with app.router.lifespan_context(app):
            pass


async def test_ready_means_database_migrations_and_temporal(browser: httpx.AsyncClient, resources: Resources) -> None:
    assert (await browser.get("/readyz")).json() == {"status": "ok"}
    async with resources.database.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE core.alembic_version SET version_num = '0001'")
    answer = await browser.get("/readyz")
    assert answer.status_code == 503
    assert "pressbox migrate" in answer.json()["reasons"]["database"]


async def test_metrics_are_for_this_machine_or_an_administrators_token(
    app: FastAPI, browse: Browse, accounts: AccountService, admin: User, open_app: OpenApp, settings: Settings
) -> None:
    assert "pressbox_http_requests_total" in (await browse(app).get("/metrics")).text
    assert (await browse(app, "192.0.2.1").get("/metrics")).status_code == 403
    assert (await browse(app, "127.0.0.1").get("/metrics", headers={"X-Forwarded-For": "192.0.2.1"})).status_code == 403
    web = WebSettings(allowed_hosts=("press.example.org",))
    async with open_app(settings.model_copy(update={"web": web})) as public_app:
        by_name = await browse(public_app).get("/metrics", headers={"Host": "press.example.org"})
    assert by_name.status_code == 403
    for scope, status in ((Scope.READ, 403), (Scope.ADMIN, 200)):
        token = (await accounts.add_token(admin.id, "prometheus", [scope])).secret
        answer = await browse(app, "192.0.2.1").get("/metrics", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == status


async def test_metrics_are_for_a_scraper_with_the_token_of_the_settings(
    browse: Browse, open_app: OpenApp, settings: Settings
) -> None:
    web = WebSettings(metrics_token=SecretStr("a token for the scraper"))
    async with open_app(settings.model_copy(update={"web": web})) as app:
        scraper = browse(app, "192.0.2.1")
        answer = await scraper.get("/metrics", headers={"Authorization": "Bearer a token for the scraper"})
        assert answer.status_code == 200
        assert "pressbox_measures_readable 1.0" in answer.text
        for wrong in ("Bearer another token, as long", "Basic a token for the scraper", ""):
            assert (await scraper.get("/metrics", headers={"Authorization": wrong})).status_code == 403


async def test_requests_are_counted_by_route_and_not_by_address(app: FastAPI, browse: Browse) -> None:
    browser = browse(app)
    await browser.get("/no/such/place/xyzzy")
    await browser.request("BREW", "/no/such/place/xyzzy")
    text = (await browser.get("/metrics")).text
    assert "xyzzy" not in text
    assert "BREW" not in text
    assert 'route="unmatched"' in text


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[tuple[str, int]]:
    """The application behind a real server, for what a well-behaved client library cannot send."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", http="httptools", proxy_headers=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await until(lambda: server.started)
    yield listening.getsockname()
    server.should_exit = True
    await serving


MALFORMED = (
    (b"GET /account HTTP/1.1\r\nHost: localhost\r\nCookie: pressbox_session=\xff\xfe; ;;=;\x80\r\n", 303),
    (b"GET /account HTTP/1.1\r\nHost: localhost\r\nCookie: pressbox_session=" + b"A" * 43 + b"\r\n", 303),
    (b'GET /account HTTP/1.1\r\nHost: localhost\r\nCookie: pressbox_session="\\"\r\n', 303),
    (b"GET /account HTTP/1.1\r\nHost: localhost\r\nX-Large: " + b"x" * 40_000 + b"\r\n", 431),
    (b"GET /account HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", 400),
    (b"GET /account HTTP/1.1\r\n", 400),
    (b"GET /static/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n", 404),
    (b"GET /static/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: localhost\r\n", 404),
    (b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n", 400),
    (b"GET /api/account HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xff\r\n", 401),
    (b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n", 400),
    (b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n", 413),
    (b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n", 400),
    (b"PURGE /account HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n", 405),
    (b"GET http://localhost/account HTTP/1.1\r\nHost: evil.example\r\n", 400),
    (b"NONSENSE\r\n", 400),
)


async def test_malformed_requests_get_the_right_status(address: tuple[str, int]) -> None:
    for head, status in MALFORMED:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(head + b"Connection: close\r\n\r\n")
        line = await asyncio.wait_for(reader.readline(), PATIENCE_SECONDS)
        writer.close()
        assert int(line.split()[1]) == status, head[:200]
