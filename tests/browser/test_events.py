"""An organiser's day in real browsers: create, share, subscribe in three ways, move, announce, cancel, all live."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Page, expect

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings, WebSettings
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.worker import build_workers
from pressbox.delivery.settings import SmtpSecurity
from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.manifest import APP
from pressbox.soonish.settings import SoonishSettings
from tests.browser.conftest import (
    DESKTOP,
    PHONE,
    SCREENSHOTS,
    OpenPage,
    Site,
    Watch,
    free_port,
    has_no_sideways_scroll,
)
from tests.browser.test_looks import OVERLAPS
from tests.conftest import execute
from tests.patience import patience
from tests.waiting import until

pytestmark = pytest.mark.browser

PASSWORD = "four words in a row"
START = (datetime.now(UTC) + timedelta(days=6)).replace(hour=18, minute=30, second=0, microsecond=0)
REFUSED_FORM = ("422 (Unprocessable",)


@dataclass(frozen=True)
class World:
    """A web process and a worker on real parts, with somewhere to send to."""

    site: Site
    target: NotificationTarget
    mail: MailSink

    async def mail_to(self, address: str, count: int = 1) -> str:
        await until(lambda: len(self.mail.to(address)) >= count, f"a mail to {address}")
        return self.mail.to(address)[-1].body


@pytest.fixture
async def world(settings: Settings, resources: Resources, database_url: str, watch: Watch) -> AsyncIterator[World]:
    # Databases are new for every test, Temporal is not: ids must not be those of another test.
    execute(database_url, f"ALTER SEQUENCE soonish.events_id_seq RESTART WITH {secrets.randbelow(10**12) + 10**6}")
    async with NotificationTarget() as target, MailSink() as mail:
        soonish = SoonishSettings(
            merge_window_seconds=1,
            smtp_host="127.0.0.1",
            smtp_port=mail.smtp_port,
            smtp_security=SmtpSecurity.NONE,
            smtp_from="events@example.org",
        )
        web, http = WebSettings(port=free_port()), HttpSettings(allow=("127.0.0.0/8",))
        own = settings.model_copy(update={"web": web, "http": http}).with_group(soonish)
        site = Site(own, replace(resources, settings=own))
        await site.start()
        for email in ("ada@example.org", "grace@example.org"):
            await site.accounts.add_user(email, PASSWORD, role=Role.MEMBER, name=email.split("@")[0].title())
        async with working(site.resources):
            yield World(site, target, mail)
            watch.over = True
        await site.stop()


@asynccontextmanager
async def working(resources: Resources) -> AsyncIterator[None]:
    sink = ProgressSink(resources.database)
    reporting = asyncio.create_task(sink.run())
    (worker,) = build_workers(resources, (APP,), sink)
    async with worker:
        yield
    reporting.cancel()
    await asyncio.wait({reporting})


async def sign_in(page: Page, site: Site, email: str, path: str = "/events") -> None:
    await page.goto(f"{site.url}{path}")
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page).to_have_url(f"{site.url}{path}")


async def create_event(page: Page, site: Site, **fields: str) -> str:
    """From the empty list to the board; gives the slug."""
    await page.goto(f"{site.url}/events")
    await page.get_by_role("link", name="New event").click()
    await page.get_by_label("Name").fill(fields.get("name", "Summer party"))
    await page.get_by_label("Start").fill(f"{START:%Y-%m-%dT%H:%M}")
    await page.get_by_label("Time zone").select_option("Europe/Berlin")
    await page.get_by_label("Where", exact=True).fill("Old fire station")
    await page.get_by_label("What it is about").fill("Bring something to eat.")
    if fields.get("visibility") == "private":
        await page.get_by_label("only people I invite").check()
    await page.get_by_role("button", name="Create event").click()
    await expect(page.get_by_role("status").first).to_contain_text("Your event is ready.")
    found = re.search(r"/events/([^/]+)/board", page.url)
    assert found is not None
    return found[1]


# Four browsers and a worker share what the machine has left: twenty seconds alone, more beside other work.
@pytest.mark.limit(900)
async def test_an_organisers_day_from_creation_to_cancellation(open_page: OpenPage, world: World) -> None:
    site = world.site
    organiser = await open_page()
    await sign_in(organiser, site, "ada@example.org")
    await expect(organiser.get_by_text("No events yet.")).to_be_visible()
    slug = await create_event(organiser, site)
    await organiser.goto(f"{site.url}/events/{slug}/board")
    await expect(organiser.get_by_text("Nobody yet.")).to_be_visible()

    member = await open_page(timezone_id="America/New_York")
    await subscribe_with_channel(member, world, slug)
    await subscribe_by_email(await open_page(java_script_enabled=False), world, slug)
    await subscribe_by_address(await open_page(PHONE, has_touch=True), world, slug)

    await organiser.reload()
    await expect(organiser.locator("#reach")).to_contain_text("reaches 3 people over 2 kinds of channels")
    await organiser.get_by_role("link", name="Edit", exact=True).click()
    await organiser.get_by_label("Start").fill(f"{START + timedelta(hours=1):%Y-%m-%dT%H:%M}")
    await organiser.get_by_role("button", name="Save changes").click()
    # Not reloaded from here on: the board is told.
    update = organiser.locator(".message", has_text="Event update: Summer party")
    await expect(update).to_contain_text("sent 3", timeout=patience(25_000))
    assert "18:30 (Europe/Berlin) → " in world.target.of("grace")[-1].body
    assert "19:30 (Europe/Berlin)" in world.target.of("grace")[-1].body
    assert "19:30" in await world.mail_to("mail@example.org", 2)

    await organiser.get_by_label("In a few words").fill("The room has changed")
    await organiser.get_by_label("Message", exact=True).fill("We are in hall 2.")
    await organiser.get_by_label("only the people I choose").check()
    await organiser.get_by_text("Choose", exact=True).click()
    await expect(organiser.locator("#reach")).to_contain_text("reaches nobody yet")
    await organiser.get_by_label("Grace").check()
    await organiser.get_by_label("m***@example.org").check()
    await expect(organiser.locator("#reach")).to_contain_text("reaches 2 people")
    await organiser.get_by_role("button", name="Send", exact=True).click()
    announced = organiser.locator(".message", has_text="The room has changed")
    await expect(announced).to_contain_text("sent 2", timeout=patience(25_000))
    assert not any("hall 2" in message.body for message in world.target.of("stranger"))
    await announced.get_by_role("link").click()
    await expect(organiser.locator("tbody tr")).to_have_count(2)
    await expect(organiser.locator("tbody tr").first).to_contain_text("sent")

    await mute_from_the_message(member, world)
    await organiser.screenshot(path=SCREENSHOTS / "event-ledger.png", full_page=True)
    await organiser.goto(f"{site.url}/events/{slug}/board")
    await organiser.get_by_role("link", name="Cancel event").click()
    await organiser.get_by_role("button", name="Cancel event").click()
    cancelled = organiser.locator(".message", has_text="Event cancelled")
    await expect(cancelled).to_contain_text("sent 2", timeout=patience(25_000))
    await expect(cancelled).to_contain_text("skipped 1")
    await organiser.screenshot(path=SCREENSHOTS / "event-board.png", full_page=True)
    await member.goto(f"{site.url}/events/{slug}")
    await expect(member.get_by_text("This event is cancelled.")).to_be_visible()


async def subscribe_with_channel(page: Page, world: World, slug: str) -> None:
    """With an account: a channel, a test that answers in place, chips, and both zones."""
    site = world.site
    await sign_in(page, site, "grace@example.org", "/events/channels?service=apprise")
    await page.get_by_label("Apprise address").fill(world.target.apprise_url("grace"))
    await page.get_by_label("Name").fill("phone")
    await page.get_by_label("Tags").fill("urgent")
    await page.get_by_role("button", name="Add channel").click()
    await page.get_by_role("button", name="Send a test over phone").click()
    await expect(page.locator("tr", has_text="phone")).to_contain_text("It was accepted.")
    assert len(world.target.of("grace")) == 1
    await page.get_by_role("link", name="Edit phone").click()
    edited = page.locator("tr form.measure")
    await edited.get_by_label("Name").fill("pocket")
    await edited.get_by_role("button", name="Save").click()
    await expect(page.locator("tr", has_text="pocket")).to_be_visible()
    await page.goto(f"{site.url}/events/{slug}")
    await expect(page.locator(".when")).to_contain_text("18:30")
    await expect(page.locator("[data-own-zone]")).to_contain_text("America/New_York")
    await page.get_by_label("30 minutes").check()
    await page.get_by_label("Custom time: how many").fill("25")
    await page.get_by_role("button", name="Subscribe").click()
    await expect(page.get_by_role("status").first).to_contain_text("You are subscribed.")
    await expect(page.get_by_label("25 minutes")).to_be_checked()
    await page.goto(f"{site.url}/events/subscriptions")
    await expect(page.get_by_role("row", name="Summer party")).to_contain_text("1 day, 1 hour, 30 minutes, 25 minutes")


async def subscribe_by_email(page: Page, world: World, slug: str) -> None:
    """Without scripts and without an account: nothing but one mail before it is confirmed."""
    await page.goto(f"{world.site.url}/events/{slug}")
    await page.get_by_label("E-mail").fill("mail@example.org")
    await page.get_by_role("button", name="Subscribe").click()
    await expect(page.get_by_role("status").first).to_contain_text("We sent you a mail.")
    link = re.search(r"http://\S+/events/confirm/\S+", await world.mail_to("mail@example.org"))
    assert link is not None
    await page.goto(link[0])
    await expect(page.get_by_role("heading", level=1)).to_have_text("Would you like to subscribe?")
    await page.get_by_role("button", name="Yes, subscribe me").click()
    await expect(page.get_by_role("status").first).to_contain_text("your address is confirmed")
    await page.get_by_label("1 day").uncheck()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_label("1 day")).not_to_be_checked()


async def subscribe_by_address(page: Page, world: World, slug: str) -> None:
    """On a phone, with an Apprise address."""
    await page.goto(f"{world.site.url}/events/{slug}")
    assert await has_no_sideways_scroll(page)
    await page.get_by_role("link", name="Apprise, for experts").click()
    await page.get_by_label("Apprise address").fill(world.target.apprise_url("stranger"))
    await page.get_by_role("button", name="Subscribe").click()
    await expect(page.get_by_role("status").first).to_contain_text("We sent a message to your channel.")
    await page.screenshot(path=SCREENSHOTS / "event-message-sent-phone.png", full_page=True)
    [message] = world.target.of("stranger")
    link = re.search(r"http://\S+/events/confirm/\S+", message.body)
    assert link is not None
    await page.goto(link[0])
    await page.get_by_role("button", name="Yes, subscribe me").click()
    await expect(page.get_by_text("The address of this page is yours alone.")).to_be_visible()
    await page.screenshot(path=SCREENSHOTS / "event-confirmed-phone.png", full_page=True)
    assert await has_no_sideways_scroll(page)


async def mute_from_the_message(page: Page, world: World) -> None:
    link = re.search(r"http://\S+/events/why/[^\s>)\]]+", world.target.of("grace")[-1].body)
    assert link is not None
    await page.goto(link[0])
    await expect(page.get_by_role("heading", level=1)).to_have_text("Why did I get this?")
    await expect(page.locator(".facts")).to_contain_text("announcement")
    await expect(page.locator(".facts")).to_contain_text("sent")
    await page.screenshot(path=SCREENSHOTS / "event-why.png", full_page=True)
    await page.get_by_role("button", name="Mute this event").click()
    await expect(page.get_by_role("status").first).to_contain_text("Muted.")


async def test_pages_of_events_stand_in_both_schemes_and_widths(
    open_page: OpenPage, world: World, watch: Watch
) -> None:
    site = world.site
    first = await open_page()
    await sign_in(first, site, "ada@example.org")
    slug = await create_event(first, site, name="A summer party with a name of many words", visibility="private")
    await first.get_by_role("button", name="Create an invitation").click()
    invitation = await first.locator("[data-invitation]").text_content()
    assert invitation is not None
    await first.goto(f"{site.url}/events/channels?service=apprise")
    await first.get_by_label("Apprise address").fill(world.target.apprise_url("ada"))
    await first.get_by_label("Name").fill("phone")
    await first.get_by_role("button", name="Add channel").click()
    await first.goto(f"{site.url}/events/{slug}")
    await first.get_by_role("button", name="Subscribe").click()
    manage = first.url
    paths: tuple[str, ...] = (
        "/events",
        "/events/new",
        f"/events/{slug}",
        f"/events/{slug}/board",
        f"/events/{slug}/edit",
    )
    paths += ("/events/channels", "/events/subscriptions", f"/events/{slug}/cancel", httpx_path(manage))
    signed_in = await first.context.storage_state()
    SCREENSHOTS.mkdir(exist_ok=True)
    for scheme, (name, viewport) in (("light", ("wide", DESKTOP)), ("dark", ("phone", PHONE))):
        locale = "de-DE" if viewport is PHONE else "en-GB"
        page = await open_page(
            viewport, color_scheme=scheme, reduced_motion="reduce", locale=locale, storage_state=signed_in
        )
        for path in paths:
            await page.goto(f"{site.url}{path}")
            assert await has_no_sideways_scroll(page), path
            assert await page.evaluate(OVERLAPS) == [], path
            assert await unlabelled(page) == [], path
            shown = path.replace(slug, "one").strip("/").replace("/", "-")
            await page.screenshot(path=SCREENSHOTS / f"{shown}-{scheme}-{name}.png", full_page=True)
    stranger = await open_page(locale="de-DE")
    await stranger.goto(invitation)
    await expect(stranger.get_by_role("button", name="Anmelden")).to_be_visible()
    watch.expected = ("404 (Not Found)",)
    await stranger.goto(f"{site.url}/events/{slug}")
    await expect(stranger.get_by_role("heading", level=1)).to_have_text("Hier ist nichts")


def httpx_path(url: str) -> str:
    return "/" + url.split("/", 3)[3].split("?")[0]


async def unlabelled(page: Page) -> list[str]:
    """Fields without a name for a screen reader, and headings that skip a level."""
    found: list[str] = await page.evaluate(
        "() => [...document.querySelectorAll('main input:not([type=hidden]), main select, main textarea, main button')]"
        ".filter(e => !(e.labels?.length || e.ariaLabel || e.textContent.trim())).map(e => e.outerHTML)"
    )
    return found


async def test_a_wrong_form_keeps_what_was_typed(open_page: OpenPage, world: World, watch: Watch) -> None:
    watch.expected = REFUSED_FORM
    page = await open_page()
    await sign_in(page, world.site, "ada@example.org", "/events/new")
    await page.get_by_label("Name").fill("Summer party")
    await page.get_by_label("Start").fill("2020-05-01T10:00")
    await page.get_by_role("button", name="Create event").click()
    await expect(page.locator("#e-start_date")).to_contain_text("already be over")
    await expect(page.get_by_label("Name")).to_have_value("Summer party")
