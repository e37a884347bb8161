"""Searches X with a logged-in browser, behind the guarded proxy and limited to X's hosts.

Playwright is an extra (`pressbox[x]`): only the commands that need it load this module.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urlsplit

from playwright.async_api import Browser, BrowserContext, Error, Page, Route, async_playwright
from playwright.async_api import TimeoutError as PageTimeoutError

from pressbox.core.environment import browser_environment
from pressbox.core.errors import ConfigurationError
from pressbox.core.http.proxy import GuardedProxy, Lease
from pressbox.core.logs import get_logger
from pressbox.footy.x.contracts import FoundOnX, SearchQuery, SearchResponse, SearchStatus
from pressbox.footy.x.pace import SearchPace
from pressbox.footy.x.results import (
    EMPTY,
    LOGIN,
    LOGIN_PATH,
    LOGIN_PATHS,
    POST,
    READ_POSTS,
    TROUBLE,
    SeenPost,
    select_posts,
)
from pressbox.footy.x.session import Cookie, StoredSession, is_logged_in

log = get_logger(__name__)

SEARCHES_AT_ONCE = 2
PAGE_SECONDS = 15.0
SEARCH_TIME = timedelta(seconds=38)
MOST_BYTES = 50_000_000
LOGIN_TIME = timedelta(minutes=10)
_TOO_MANY = 429
_SCROLLS = 4
_SCROLL_WAIT_MILLISECONDS = 700
_NEVER_LOADED = frozenset({"image", "media", "font"})
# Hosts that the pages of X need. Cookies are sent to X itself only.
_HOSTS_OF_X = ("x.com", "twitter.com", "twimg.com")
# Hosts that signing in needs besides: captchas, and accounts of others. Only the login window opens them.
_HOSTS_OF_LOGIN = (
    "arkoselabs.com",
    "funcaptcha.com",
    "hcaptcha.com",
    "recaptcha.net",
    "challenges.cloudflare.com",
    "google.com",
    "gstatic.com",
    "googleapis.com",
    "googleusercontent.com",
    "apple.com",
    "cdn-apple.com",
)
SEARCHES_PER_WINDOW = 45
_SANDBOX_FIX = (
    "Run this command as another user, on a system that allows user namespaces; or set PRESSBOX_FOOTY_X_SANDBOX=0, in"
    " a container that holds nothing else."
)
_ONLY_VIDEOS = " filter:native_video"


class XBrowser:
    """One browser for the life of the service; a fresh context for every search."""

    def __init__(
        self,
        base_url: str,
        session: StoredSession,
        proxy: GuardedProxy,
        executable: str | None = None,
        pace: SearchPace | None = None,
        *,
        sandbox: bool = True,
    ) -> None:
        self._sandbox = sandbox
        self._pace = pace or SearchPace(SEARCHES_PER_WINDOW)
        self._base_url = base_url.rstrip("/")
        self._session = session
        self._proxy = proxy
        self._executable = executable or shutil.which("chromium") or shutil.which("google-chrome")
        self._gate = asyncio.Semaphore(SEARCHES_AT_ONCE)
        self._browser: Browser | None = None

    @property
    def authenticated(self) -> bool:
        return is_logged_in(self._session.load())

    @asynccontextmanager
    async def running(self, *, visible: bool = False) -> AsyncIterator["XBrowser"]:
        if self._sandbox and os.geteuid() == 0:
            raise ConfigurationError(f"Chromium has no sandbox as root. {_SANDBOX_FIX}")
        async with async_playwright() as playwright:
            try:
                self._browser = await playwright.chromium.launch(
                    executable_path=self._executable,
                    headless=not visible,
                    chromium_sandbox=self._sandbox,
                    # Pages of strangers run in it: none of our settings and keys.
                    env={**browser_environment()},
                )
            except Error as error:
                if "sandboxing failed" in error.message:
                    raise ConfigurationError(f"This system lets Chromium make no sandbox. {_SANDBOX_FIX}") from error
                raise ConfigurationError(
                    "No browser could be started. Install Chromium; for `pressbox x login` a screen is needed too."
                ) from error
            try:
                yield self
            finally:
                browser, self._browser = self._browser, None
                await browser.close()

    async def search(self, question: SearchQuery) -> SearchResponse:
        cookies = self._session.load()
        if not is_logged_in(cookies):
            return _login_needed()
        if (wait := self._pace.take()) is not None:
            return _busy(wait, "The searches of this account are used up for now.")
        async with self._gate, self._proxy.lease(MOST_BYTES, SEARCH_TIME) as lease:
            try:
                async with self._context(lease, cookies) as context:
                    return await self._search_page(await context.new_page(), question)
            except PageTimeoutError:
                return SearchResponse(status=SearchStatus.FAILED, message="X did not show its results in time.")
            except Error:
                # The error text may quote addresses and parts of the page.
                reason = lease.refused.message if lease.refused else "The page of X could not be opened."
                return SearchResponse(status=SearchStatus.FAILED, message=reason)

    async def login(self) -> bool:
        """Wait until somebody has logged in in the visible window, then save the session."""
        async with self._proxy.lease(MOST_BYTES * 10, LOGIN_TIME) as lease, self._context(lease, (), True) as context:
            page = await context.new_page()
            await page.goto(f"{self._base_url}{LOGIN_PATH}", timeout=PAGE_SECONDS * 1000)
            deadline = asyncio.get_running_loop().time() + LOGIN_TIME.total_seconds()
            while asyncio.get_running_loop().time() < deadline:
                cookies = [Cookie.model_validate(item) for item in await context.cookies(self._base_url)]
                if is_logged_in(cookies):
                    await asyncio.to_thread(self._session.save, cookies)
                    return True
                await asyncio.sleep(1)
        return False

    @asynccontextmanager
    async def _context(
        self, lease: Lease, cookies: Sequence[Cookie], everything: bool = False
    ) -> AsyncIterator[BrowserContext]:
        if self._browser is None:
            raise ConfigurationError("The browser is not running.")
        context = await self._browser.new_context(
            # Without the last entry Chromium bypasses the proxy for loopback addresses.
            proxy={
                "server": lease.server,
                "username": lease.username,
                "password": lease.password,
                "bypass": "<-loopback>",
            },
            accept_downloads=False,
            service_workers="block",
            locale="en-US",
        )
        try:
            await context.add_cookies([cookie.model_dump(by_alias=True) for cookie in cookies])  # type: ignore[misc]
            await context.route("**/*", self._route_all if everything else self._route_light)
            yield context
        finally:
            await context.close()

    async def _route_all(self, route: Route) -> None:
        url = route.request.url
        await (route.continue_() if self._is_of_x(url) or _is_at(url, _HOSTS_OF_LOGIN) else route.abort())

    async def _route_light(self, route: Route) -> None:
        wanted = self._is_of_x(route.request.url) and route.request.resource_type not in _NEVER_LOADED
        await (route.continue_() if wanted else route.abort())

    def _is_of_x(self, url: str) -> bool:
        host = (urlsplit(url).hostname or "").lower()
        own = (urlsplit(self._base_url).hostname or "").lower()
        return host == own or _is_at(url, _HOSTS_OF_X)

    async def _search_page(self, page: Page, question: SearchQuery) -> SearchResponse:
        refused: list[int] = []
        page.on("response", lambda answer: refused.append(answer.status) if answer.status == _TOO_MANY else None)
        query = urlencode({"q": question.search_query + _ONLY_VIDEOS, "src": "typed_query", "f": "live"})
        await page.goto(f"{self._base_url}/search?{query}", wait_until="domcontentloaded", timeout=PAGE_SECONDS * 1000)
        await page.wait_for_selector(
            f"{POST}, {EMPTY}, {LOGIN}, {TROUBLE}", state="attached", timeout=PAGE_SECONDS * 1000
        )
        if LOGIN_PATHS.search(urlsplit(page.url).path) or await page.query_selector(LOGIN) is not None:
            log.warning("x_login_expired", msg="X asks for a login; run `pressbox x login`")
            return _login_needed()
        if refused:
            return _busy(self._pace.back_off(), "X refuses further searches of this account for a while.")
        if await page.query_selector(TROUBLE) is not None:
            # X shows the same words for a limit and for a fault; a pause helps against both.
            return _busy(self._pace.back_off(), "X says that something went wrong.")
        self._pace.succeed()
        return SearchResponse(status=SearchStatus.SUCCESS, videos=tuple(await self._collect_posts(page, question)))

    async def _collect_posts(self, page: Page, question: SearchQuery) -> Sequence[FoundOnX]:
        """Collect posts while scrolling: the page only holds those near the window."""
        seen: dict[str, SeenPost] = {}
        for _ in range(_SCROLLS):
            before = len(seen)
            for item in await page.evaluate(READ_POSTS):
                post = SeenPost.model_validate(item)
                seen[post.href] = post
            found = select_posts(seen.values(), question, datetime.now(UTC))
            if len(found) >= question.max_results or len(seen) == before:
                break
            await page.mouse.wheel(0, 4000)
            await page.wait_for_timeout(_SCROLL_WAIT_MILLISECONDS)
        return select_posts(seen.values(), question, datetime.now(UTC))


def _is_at(url: str, hosts: Sequence[str]) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return any(host == known or host.endswith(f".{known}") for known in hosts)


def _busy(wait: timedelta, message: str) -> SearchResponse:
    return SearchResponse(status=SearchStatus.BUSY, message=message, retry_after_seconds=wait.total_seconds())


def _login_needed() -> SearchResponse:
    return SearchResponse(
        status=SearchStatus.AUTHENTICATION_REQUIRED,
        message="X asks for a login. Run `pressbox x login` or `pressbox x import-cookies` on this machine.",
    )
