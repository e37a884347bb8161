"""A real browser on a real server with real parts. The server can go away and come back on the same port."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, async_playwright, expect
from sqlalchemy import delete
from sqlalchemy.dialects.postgresql import insert
from temporalio.client import Client

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings, TemporalSettings, WebSettings
from pressbox.core.db.database import Database
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow
from tests.browser.install import find_browser
from tests.conftest import TEST_KEY, Parts, open_test_resources
from tests.databases import Databases
from tests.patience import patience
from tests.site import cheap_passwords, lend_app
from tests.waiting import until

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# A machine that does other things as well is slow, not wrong.
expect.set_options(timeout=patience(20_000))
# What Playwright says where a test wants none.
WORKER_BLOCKED = "Service Worker registration blocked by Playwright"


class QuietServer(uvicorn.Server):
    """Leaves the signals of the test run alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass
class Site:
    """One web process, in this process, that a test may stop and start."""

    settings: Settings
    resources: Resources
    app: FastAPI | None = None
    _lent: ExitStack = field(default_factory=ExitStack)
    _server: QuietServer | None = None
    _task: "asyncio.Task[None] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.web.port}"

    @property
    def accounts(self) -> AccountService:
        return AccountService(self.resources.database, self.settings, passwords=cheap_passwords())

    async def start(self) -> None:
        self.app = self._lent.enter_context(lend_app(self.resources, self.settings))
        config = uvicorn.Config(
            self.app,
            port=self.settings.web.port,
            log_config=None,
            proxy_headers=False,
            timeout_graceful_shutdown=0,
            access_log=False,
        )
        self._server = server = QuietServer(config)
        self._task = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        self.app.state.accounts = self.accounts

    async def stop(self) -> None:
        if self._server is None or self._task is None:
            return
        self._server.should_exit = True
        await self._task
        self._server = self._task = None
        self._lent.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@asynccontextmanager
async def serving(settings: Settings, resources: Resources, *, everybody: bool) -> AsyncIterator[Site]:
    web = WebSettings(port=free_port())
    site = Site(settings.model_copy(update={"open": everybody, "web": web}), resources)
    await site.start()
    try:
        yield site
    finally:
        await site.stop()


@pytest.fixture(scope="session")
async def shared_site(
    parts: Parts, databases: Databases, temporal: Client, reachable_folder: Path
) -> AsyncIterator[Site]:
    """One server on one database for most tests: making them anew would take longer than the tests."""
    name = databases.lend()
    database = Database(databases.url(name))
    settings = Settings(
        home=reachable_folder / "browser",
        secret_key=TEST_KEY,
        temporal=TemporalSettings(address=parts.temporal_address, ui_url="/temporal"),
        http=HttpSettings(allow=("127.0.0.0/8",)),
    )
    async with (
        open_test_resources(settings, database, temporal) as resources,
        serving(settings, resources, everybody=True) as site,
    ):
        yield site
    await database.close()
    databases.take_back(name)


@pytest.fixture
async def site(shared_site: Site, watch: "Watch") -> AsyncIterator[Site]:
    """Open to everybody on this machine, who is then its administrator; nothing has run on it."""
    async with shared_site.resources.database.unit_of_work() as work:
        await work.session.execute(delete(ProgressRow))
    yield shared_site
    watch.over = True


@pytest.fixture
async def closed_site(settings: Settings, resources: Resources, watch: "Watch") -> AsyncIterator[Site]:
    """With accounts, and none made yet."""
    async with serving(settings, resources, everybody=False) as site:
        yield site
        watch.over = True


@pytest.fixture(scope="session")
def browser_binary() -> str:
    found = find_browser()
    if found is None:
        pytest.skip("No Chromium is installed.")
    return found


@pytest.fixture(scope="session")
async def browser(browser_binary: str, reachable_folder: Path) -> AsyncIterator[Browser]:
    async with AsyncExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            # Profiles of a run that is killed are found there by the next one.
            patch.setenv("TMPDIR", str(reachable_folder))
            playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=browser_binary, args=["--no-sandbox"])
        yield browser
        await browser.close()


@dataclass
class Watch:
    """What a browser complained of. A refused form and a lost connection are said to it by the test."""

    problems: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    # Once the test is over its server goes away, and a page may complain of that.
    over: bool = False

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._note(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(f"{message.text} ({message.location.get('url', '')})")

    def _note(self, problem: str) -> None:
        if not self.over and WORKER_BLOCKED not in problem:
            self.problems.append(problem)

    def unexpected(self) -> list[str]:
        return [problem for problem in self.problems if not any(words in problem for words in self.expected)]


OpenPage = Callable[..., Awaitable[Page]]


@pytest.fixture
def watch() -> Iterator[Watch]:
    """No page may break a content rule, throw, or log an error: every test asks for that."""
    watch = Watch()
    yield watch
    assert watch.unexpected() == []


@pytest.fixture
async def open_page(browser: Browser, watch: Watch) -> AsyncIterator[OpenPage]:
    contexts: list[BrowserContext] = []

    async def opened(viewport: ViewportSize = DESKTOP, **options: Any) -> Page:
        # What a worker answers from its own stock is for the tests of it alone.
        options = {"locale": "en-GB", "service_workers": "block", **options}
        context = await browser.new_context(viewport=viewport, **options)
        context.set_default_timeout(patience(30_000))
        contexts.append(context)
        page = await context.new_page()
        watch.follow(page)
        return page

    yield opened
    for context in contexts:
        await context.close()


@pytest.fixture
async def page(open_page: OpenPage) -> Page:
    return await open_page()


@dataclass
class Work:
    """Reports as the worker's sink writes them: one row per workflow, and a note of the change."""

    database: Database

    async def report(self, workflow_id: str, title: str = "", **values: Any) -> None:
        await self.report_all([self.row(workflow_id, title, **values)])

    async def report_all(self, rows: Sequence[dict[str, Any]]) -> None:
        async with self.database.unit_of_work() as work:
            for row in rows:
                statement = insert(ProgressRow).values(**row)
                await work.session.execute(statement.on_conflict_do_update(index_elements=["workflow_id"], set_=row))
                work.changed(WORKFLOW_CHANGED, row["workflow_id"])

    def row(self, workflow_id: str, title: str = "", **values: Any) -> dict[str, Any]:
        now = datetime.now(UTC)
        state = values.get("state", ProgressState.RUNNING)
        return {
            "workflow_id": workflow_id,
            "run_id": f"run-{workflow_id}",
            "audience": "everyone",
            "workflow_type": "ToyWorkflow",
            "task_queue": "core",
            "parent_workflow_id": None,
            "state": state,
            "title": title or workflow_id,
            "done": 0,
            "total": None,
            "message": "",
            "error": "",
            "detail": {},
            "started_at": now - timedelta(minutes=3),
            "updated_at": now,
            "closed_at": now if ProgressState(state).final else None,
        } | values


@pytest.fixture
def work(site: Site) -> Work:
    return Work(site.resources.database)


async def arrived(page: Page, address: str | re.Pattern[str]) -> None:
    """Keys may be pressed now: the address of a new page is there before the script that listens to them."""
    await expect(page).to_have_url(address)
    await page.wait_for_load_state()


async def has_no_sideways_scroll(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
