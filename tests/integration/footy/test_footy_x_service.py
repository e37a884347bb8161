"""The browser search of X: a real Chromium against a simulated page of X, the service before it, and its client."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psutil
import pytest
import uvicorn

from pressbox.core.config import HttpSettings
from pressbox.core.errors import ConfigurationError
from pressbox.core.http.proxy import GuardedProxy
from pressbox.core.sealing import Seal
from pressbox.demo.simulators.social_posts import SocialPost
from pressbox.demo.simulators.social_site import Mood, SocialSite
from pressbox.footy.adapters.sources.x_browser import XBrowserSource
from pressbox.footy.domain.errors import SourceBusyError, SourceError, SourceLoginError
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.x.browser import XBrowser
from pressbox.footy.x.contracts import FoundOnX, SearchQuery, SearchResponse, SearchStatus
from pressbox.footy.x.results import SeenPost, parse_duration, select_posts
from pressbox.footy.x.service import build_service
from pressbox.footy.x.session import Cookie, StoredSession
from tests.waiting import PATIENCE_SECONDS, until

TOKEN = "a token of the tests"
# Root has none.
SANDBOX = os.geteuid() != 0
QUESTION = SearchQuery(search_query="(Florian OR Wirtz) (LFC OR Liverpool)", max_results=5, max_age_minutes=3)
REQUEST = SearchRequest(
    query=QUESTION.search_query, player_names=(), team_aliases=(), max_results=5, max_age=timedelta(minutes=3)
)


def seal(key: str = "an instance key") -> Seal:
    return Seal([key], "test")


def logged_in(folder: Path, host: str = "127.0.0.1") -> StoredSession:
    session = StoredSession(folder, seal(), host)
    session.save([Cookie(name="auth_token", value="secret-of-x", domain=host, secure=False)])
    return session


# ---- The stored session


def test_the_session_is_sealed_and_holds_cookies_of_x_only(tmp_path: Path) -> None:
    session = StoredSession(tmp_path, seal(), "x.com")
    assert list(session.load()) == []
    own = Cookie(name="auth_token", value="secret-of-x", domain=".x.com")
    session.save([own, Cookie(name="other", value="elsewhere", domain=".example.org")])
    assert list(session.load()) == [own]
    file = tmp_path / "x-session"
    assert b"secret-of-x" not in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConfigurationError, match="another key"):
        StoredSession(tmp_path, seal("another instance key"), "x.com").load()


# ---- What is read from the page


@pytest.mark.parametrize(
    ("label", "expected"), [("0:32", 32), ("1:02", 62), ("Live", None), ("", None), ("1:00:05", 3605)]
)
def test_the_length_is_read_from_the_picture(label: str, expected: float | None) -> None:
    assert parse_duration(label) == expected


def test_old_known_and_videoless_posts_are_left_out() -> None:
    now = datetime(2026, 11, 15, 20, tzinfo=UTC)
    fresh = now - timedelta(minutes=1)
    posts = [
        SeenPost(href="/a/status/1", posted_at=fresh, has_video=True, label="0:10"),
        SeenPost(href="/a/status/1", posted_at=fresh, has_video=True, label="0:10"),
        SeenPost(href="/a/status/2", posted_at=now - timedelta(minutes=4), has_video=True),
        SeenPost(href="/a/status/3", posted_at=fresh),
        SeenPost(href="/a/status/4", posted_at=fresh, has_video=True),
        SeenPost(href="javascript:alert(1)", posted_at=fresh, has_video=True),
    ]
    question = QUESTION.model_copy(update={"exclude_urls": ("https://twitter.com/other/status/4/video/1",)})
    assert [video.video_page_url for video in select_posts(posts, question, now)] == [
        "https://x.com/a/status/1/video/1"
    ]


# ---- The browser


@pytest.fixture
async def site() -> AsyncIterator[SocialSite]:
    async with SocialSite() as site:
        now = datetime.now(UTC)
        for number, text in enumerate(["Wirtz scores #LFC", "Florian & Liverpool <3", "Salah for Liverpool"], start=1):
            post = SocialPost(id=f"90{number}", text=text, posted_at=now, duration_seconds=30 + number)
            site.post(post, b"")
        yield site


@pytest.fixture
async def browser(site: SocialSite, tmp_path: Path) -> AsyncIterator[XBrowser]:
    async with GuardedProxy(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as proxy:
        searching = XBrowser(site.face_url("x"), logged_in(tmp_path), proxy, sandbox=SANDBOX)
        async with searching.running():
            yield searching


@pytest.mark.browser
async def test_a_browser_searches_and_notices_when_the_login_is_over(browser: XBrowser, site: SocialSite) -> None:
    answer = await browser.search(QUESTION)
    assert answer.status is SearchStatus.SUCCESS
    assert {(video.tweet_text, video.duration_seconds) for video in answer.videos} == {
        ("Wirtz scores #LFC", 31),
        ("Florian & Liverpool <3", 32),
    }
    site.set_mood("x", Mood.EMPTY)
    assert await browser.search(QUESTION) == SearchResponse(status=SearchStatus.SUCCESS)
    site.set_mood("x", Mood.EXPIRED)
    assert (await browser.search(QUESTION)).status is SearchStatus.AUTHENTICATION_REQUIRED


@pytest.mark.browser
async def test_the_browser_stays_behind_the_guard(site: SocialSite, tmp_path: Path) -> None:
    async with GuardedProxy(HttpSettings()) as proxy:
        forbidden = XBrowser(site.face_url("x"), logged_in(tmp_path), proxy, sandbox=SANDBOX)
        async with forbidden.running():
            answer = await forbidden.search(QUESTION)
    assert answer.status is SearchStatus.FAILED
    assert site.asked == []


@pytest.mark.browser
async def test_a_login_is_kept_and_searches_with_it(site: SocialSite, tmp_path: Path) -> None:
    async with GuardedProxy(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as proxy:
        new = XBrowser(site.face_url("x"), StoredSession(tmp_path, seal(), "127.0.0.1"), proxy, sandbox=SANDBOX)
        assert not new.authenticated
        async with new.running():
            assert await new.login()
            assert new.authenticated
            assert (await new.search(QUESTION)).status is SearchStatus.SUCCESS


@pytest.mark.browser
async def test_the_browser_knows_none_of_our_settings(
    site: SocialSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSBOX_SECRET_KEY", "nothing for strangers")
    async with GuardedProxy(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as proxy:
        searching = XBrowser(site.face_url("x"), logged_in(tmp_path), proxy, sandbox=SANDBOX)
        async with searching.running():
            await searching.search(QUESTION)
            environments = list(environments_of_browsers())
    assert len(environments) > 1
    assert [name for environment in environments for name in environment if name.startswith("PRESSBOX_")] == []


def environments_of_browsers() -> Iterator[dict[str, str]]:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "chrom" in child.name():
                yield child.environ()


async def test_as_root_a_browser_without_sandbox_must_be_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    async with GuardedProxy(HttpSettings()) as proxy:
        browser = XBrowser("https://x.com", logged_in(tmp_path), proxy)
        with pytest.raises(ConfigurationError, match=r"as root.*PRESSBOX_FOOTY_X_SANDBOX=0"):
            async with browser.running():
                pass


@pytest.mark.browser
@pytest.mark.skipif(SANDBOX, reason="Root alone has none for certain.")
async def test_a_system_without_sandbox_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    async with GuardedProxy(HttpSettings()) as proxy:
        browser = XBrowser("https://x.com", logged_in(tmp_path), proxy)
        with pytest.raises(ConfigurationError, match=r"no sandbox.*user namespaces"):
            async with browser.running():
                pass


async def test_without_a_session_no_page_is_opened(tmp_path: Path) -> None:
    async with GuardedProxy(HttpSettings()) as proxy:
        nobody = XBrowser("https://x.com", StoredSession(tmp_path, seal(), "x.com"), proxy)
        assert not nobody.authenticated
        assert (await nobody.search(QUESTION)).status is SearchStatus.AUTHENTICATION_REQUIRED


# ---- The service and its client


class Scripted:
    """A searcher that answers as it is told."""

    authenticated = True

    def __init__(self, answer: SearchResponse) -> None:
        self.answer = answer
        self.asked: list[SearchQuery] = []

    async def search(self, question: SearchQuery) -> SearchResponse:
        self.asked.append(question)
        return self.answer


@pytest.fixture
async def scripted() -> AsyncIterator[tuple[Scripted, str]]:
    video = FoundOnX(video_page_url="https://x.com/a/status/1/video/1", tweet_url="https://x.com/a/status/1")
    searcher = Scripted(SearchResponse(status=SearchStatus.SUCCESS, videos=(video,)))
    server = uvicorn.Server(uvicorn.Config(build_service(searcher, TOKEN), port=0, log_config=None, ws="none"))
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    yield searcher, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await serving


async def asked(url: str, token: str = TOKEN) -> list[str]:
    source = XBrowserSource(url, token)
    try:
        return [video.video_page_url for video in await source.search(REQUEST)]
    finally:
        await source.close()


async def test_the_client_asks_the_service_in_the_words_of_its_contract(scripted: tuple[Scripted, str]) -> None:
    searcher, url = scripted
    assert await asked(url) == ["https://x.com/a/status/1/video/1"]
    assert searcher.asked == [QUESTION]


@pytest.mark.parametrize(
    ("status", "code", "error", "words"),
    [
        (SearchStatus.AUTHENTICATION_REQUIRED, 503, SourceLoginError, "x-browser: login expired"),
        (SearchStatus.FAILED, 502, SourceError, "x-browser: "),
        (SearchStatus.BUSY, 429, SourceBusyError, "x-browser: "),
    ],
)
async def test_each_trouble_has_a_status_and_words(
    scripted: tuple[Scripted, str], status: SearchStatus, code: int, error: type[Exception], words: str
) -> None:
    searcher, url = scripted
    searcher.answer = SearchResponse(status=status)
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_SECONDS) as client:
        answer = await client.post(f"{url}/search", json={"search_query": "Wirtz"})
    assert (answer.status_code, answer.json()["status"]) == (code, status)
    with pytest.raises(error, match=words):
        await asked(url)


async def test_without_the_token_nothing_is_searched(scripted: tuple[Scripted, str]) -> None:
    searcher, url = scripted
    with pytest.raises(SourceLoginError, match="token"):
        await asked(url, "another token")
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        assert (await client.post(f"{url}/search", json={"search_query": "Wirtz"})).status_code == 401
        assert (await client.get(f"{url}/health")).json() == {"status": "healthy", "authenticated": True}
    assert searcher.asked == []


@pytest.mark.parametrize("body", ["", "{broken", "{}", json.dumps({"search_query": "a", "max_results": 0})])
async def test_a_question_that_cannot_be_read_is_refused(scripted: tuple[Scripted, str], body: str) -> None:
    searcher, url = scripted
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_SECONDS) as client:
        assert (await client.post(f"{url}/search", content=body)).status_code == 422
        assert (await client.post(f"{url}/search", content=b"x" * 1_100_000)).status_code == 413
    assert searcher.asked == []


async def test_a_service_that_is_away_is_a_failure_that_says_what_to_do() -> None:
    with pytest.raises(SourceError, match="pressbox x serve"):
        await asked("http://127.0.0.1:9")


@pytest.mark.browser
async def test_the_command_serves_until_it_is_stopped(site: SocialSite, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "pressbox",
        "x",
        "serve",
        env={
            "PATH": os.environ["PATH"],
            "PRESSBOX_HOME": str(tmp_path),
            "PRESSBOX_HTTP_ALLOW": f"127.0.0.1:{site.port}",
            "PRESSBOX_FOOTY_X_PAGE_URL": site.face_url("x"),
            "PRESSBOX_FOOTY_X_SERVE_PORT": str(port),
            "PRESSBOX_FOOTY_X_BROWSER_TOKEN": TOKEN,
            "PRESSBOX_FOOTY_X_SANDBOX": str(SANDBOX),
        },
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert (await process.stdout.readline()).startswith(b"Searching X at ")
        while True:
            try:
                with pytest.raises(SourceLoginError, match="login expired"):
                    await asked(f"http://127.0.0.1:{port}")
                break
            except SourceError:
                await asyncio.sleep(0.1)
        process.terminate()
        assert await process.wait() in (0, -signal.SIGTERM)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
