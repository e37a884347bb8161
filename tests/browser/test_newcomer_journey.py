"""The whole way of a newcomer with a phone: a team, a site and an event, with a real worker behind the page.

A team is typed, its next match is there, a reminder waits, and a goal comes to the inbox, to the first page and to the
phone. Nothing of it needs a page that explains anything.
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import text
from temporalio.client import Client

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import HttpSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.core.http.client import GuardedClient
from pressbox.core.temporal.client import connect
from pressbox.demo.simulators.news_site import NewsSite
from pressbox.demo.simulators.push_service import PushService
from pressbox.footy.domain.fixtures import FixtureStatus
from tests.browser.conftest import PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_phone import SUBSCRIPTION
from tests.conftest import TEST_KEY, Parts
from tests.integration.footy.footy_world import World, goal, match, with_goals
from tests.patience import patience
from tests.waiting import look_until, until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.limit(900)]
EMAIL, PASSWORD = "ada@example.org", "four words in a row"
LOOPBACK = HttpSettings(allow=("127.0.0.0/8",))
QUEUES = ("matchday", "delivery", "soonish", "curator", "curator-heavy")
# A worker process reads the site, also on a busy machine.
READING_MILLISECONDS = patience(90_000)
GOAL = "Goal for Liverpool by Mohamed Salah, 23′"


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home=tmp_path_factory.mktemp("newcomer"), secret_key=TEST_KEY, http=LOOPBACK)


@pytest.fixture
async def temporal(parts: Parts, namespace: str) -> Client:
    return await connect(TemporalSettings(namespace=namespace), parts.temporal_address, lazy=False)


@pytest.fixture
async def resources(resources: Resources) -> AsyncIterator[Resources]:
    """Which may reach the newspaper and the push service, though they are on loopback."""
    async with GuardedClient(LOOPBACK) as http:
        yield replace(resources, http=http)


@contextmanager
def working(parts: Parts, namespace: str, database_url: str, settings: Settings) -> Iterator[None]:
    environment = child_environment(
        PRESSBOX_HOME=str(settings.home),
        PRESSBOX_DATABASE_URL=database_url,
        PRESSBOX_TEMPORAL_ADDRESS=parts.temporal_address,
        PRESSBOX_TEMPORAL_NAMESPACE=namespace,
        PRESSBOX_SECRET_KEY=TEST_KEY.get_secret_value(),
        PRESSBOX_HTTP_ALLOW=",".join(LOOPBACK.allow),
        PRESSBOX_WORKER_HEALTH_PORT="0",
        PRESSBOX_LOG_LEVEL="error",
    )
    queues = [part for queue in QUEUES for part in ("--queue", queue)]
    process = subprocess.Popen([sys.executable, "-m", "pressbox", "worker", *queues], env=environment)
    try:
        yield
        assert process.poll() is None, "the worker runs"
    finally:
        process.terminate()
        process.wait(patience(60))


async def photograph(page: Page, name: str) -> None:
    assert await has_no_sideways_scroll(page), name
    SCREENSHOTS.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await page.screenshot(path=SCREENSHOTS / f"newcomer-{name}-{scheme}.png", full_page=True)
    await page.emulate_media(color_scheme="light")


async def count_reminders(database: Database) -> int:
    """Which Temporal keeps until their time has come."""
    async with database.unit_of_work() as work:
        return await work.session.scalar(text("SELECT count(*) FROM soonish.reminder_schedules")) or 0


async def test_a_team_a_site_and_an_event_are_there_in_a_minute(
    open_page: OpenPage, closed_site: Site, parts: Parts, namespace: str, database_url: str
) -> None:
    database, url = closed_site.resources.database, closed_site.url
    await closed_site.accounts.add_user(EMAIL, PASSWORD)
    world, kickoff = World(database), utc_now().replace(microsecond=0) + timedelta(hours=20)
    coming = match(kickoff=kickoff, status=FixtureStatus.NOT_STARTED, elapsed=None, home_goals=None, away_goals=None)
    await world.ingest(coming)
    async with PushService() as service, NewsSite() as news:
        with working(parts, namespace, database_url, closed_site.settings):
            phone = {"has_touch": True, "is_mobile": True, "service_workers": "allow", "permissions": ["notifications"]}
            page = await open_page(PHONE, **phone)
            said = json.dumps(dict(service.add_browser("phone").subscription()))
            await page.add_init_script(f"({SUBSCRIPTION})({said})")
            await page.goto(f"{url}/sign-in")
            await page.get_by_label("E-mail").fill(EMAIL)
            await page.get_by_label("Password").fill(PASSWORD)
            await page.get_by_role("button", name="Sign in", exact=True).click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Today")
            await photograph(page, "1-fields")

            # The team: its match is in the place of the field, an event with a reminder is made of it.
            await page.get_by_label("Your team").fill("Liverp")
            await expect(page.locator("#found .star").first).to_be_visible()
            await photograph(page, "2-typing")
            await page.get_by_label("Your team").press("Enter")
            await expect(page.locator("#today-matches")).to_contain_text("Liverpool – Arsenal")
            await look_until(lambda: count_reminders(database), what="a reminder")
            await photograph(page, "3-next-match")

            # The site: its feed is found by its address, and an article stands on the same page.
            await page.get_by_label("A site you like to read").fill(news.site_url("harbour"))
            await page.get_by_role("button", name="Read it here").click()
            await expect(page.locator("#today-stories .things li").first).to_be_visible(timeout=READING_MILLISECONDS)
            await photograph(page, "4-articles")

            await page.goto(f"{url}/account")
            await page.get_by_role("button", name="Send messages to this device").click()
            await expect(page.get_by_text("This device gets messages about what you follow.")).to_be_visible()

            # The goal: in the inbox while it is open, and on the phone.
            await page.goto(f"{url}/inbox")
            await expect(page.locator("[data-live]")).to_have_text("Live.")
            await world.polls.record_staging([match(kickoff=kickoff)], {}, world.now)
            await world.polls.activate("monitor-0", world.policy, kickoff)
            await world.poll(with_goals(1, goal(23), kickoff=kickoff), times=3)
            await expect(page.get_by_role("link", name=GOAL)).to_be_visible()
            await photograph(page, "5-goal")
            await until(lambda: [one["title"] for one in service.of("phone")] == [GOAL], "a push with the goal")
            await page.goto(url)
            await expect(page.locator("#today-matches")).to_contain_text("Liverpool 1–0 Arsenal")
            await expect(page.locator("#today-events")).not_to_contain_text("Arsenal")
            await photograph(page, "6-live")
            await page.get_by_label("Something that is coming up").fill("Dinner with Anna on Friday at 19:30")
            await page.get_by_role("button", name="Make it an event").click()
            await expect(page.get_by_label("Name", exact=True)).to_have_value("Dinner with Anna")
            await photograph(page, "7-event")
            await page.get_by_role("button", name="Create event").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Dinner with Anna")
            await page.goto(url)
            await expect(page.locator("#today-events")).to_contain_text("Dinner with Anna")
