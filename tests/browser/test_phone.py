"""Pressbox on a phone: installed, without network, with push messages, signed out, and after an update."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import CDPSession, Locator, Page, Worker, expect
from sqlalchemy import text

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.web import installable
from pressbox.core.web.pages.access import provide
from pressbox.delivery.push.api import make_sender
from pressbox.delivery.push.keys import PushKeys
from pressbox.delivery.push.message import PushAction, PushActionKind, PushMessage, encode_message
from pressbox.delivery.push.sender import PushSender
from pressbox.demo.simulators.push_service import PushService
from pressbox.inbox.store import InboxStore
from tests.browser.conftest import PHONE, SCREENSHOTS, OpenPage, Site, Watch
from tests.browser.test_every_page import AXE, RUN, SMALL_TARGETS
from tests.fakes.footy_day import MatchDay
from tests.fakes.newsstand import Newsstand
from tests.fakes.notices import GOAL, TEAM, tell
from tests.waiting import look_until, until

pytestmark = pytest.mark.browser
EMAIL, OTHER, PASSWORD = "ada@example.org", "ben@example.org", "four words in a row"
FERRY = "<p>It leaves at <b>six</b> in the evening, whatever the weather.</p><p>Take a coat.</p>"


async def sign_in(page: Page, site: Site, email: str = EMAIL) -> Page:
    await page.goto(f"{site.url}/sign-in")
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()
    return page


class Phone:
    """A page in a phone's browser, with the worker behind it."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site = page, site

    async def worker(self) -> Worker:
        await self.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        found: list[Worker] = []

        async def is_there() -> bool:
            found[:] = [one for one in self.page.context.service_workers if one.url.startswith(self.site.url)]
            return bool(found)

        await look_until(is_there)
        return found[-1]

    async def keeps(self, count: int) -> None:
        """Until the worker has fetched what there is to read."""
        worker = await self.worker()

        async def kept() -> bool:
            return int(await worker.evaluate("allThings().then((things) => things.length)")) == count

        await look_until(kept)
        await look_until(lambda: worker.evaluate("caches.match('/offline').then(Boolean)"))

    async def go(self, path: str) -> None:
        await self.page.goto(f"{self.site.url}{path}")

    async def ask(self, script: str) -> Any:
        return await (await self.worker()).evaluate(script)


OpenPhone = Callable[..., Awaitable[Phone]]


@pytest.fixture
async def open_phone(open_page: OpenPage, closed_site: Site) -> OpenPhone:
    async def opened(email: str = EMAIL, **options: Any) -> Phone:
        known = {"has_touch": True, "is_mobile": True, "service_workers": "allow", "permissions": ["notifications"]}
        page = await open_page(PHONE, **(known | options))
        return Phone(await sign_in(page, closed_site, email), closed_site)

    return opened


@pytest.fixture
async def ada(closed_site: Site) -> int:
    return (await closed_site.accounts.add_user(EMAIL, PASSWORD)).id


async def publish(resources: Resources, user_id: int, *titles: str) -> list[int]:
    stand = Newsstand(resources, user_id)
    feed = await stand.feed("Harbour news")
    return [await stand.entry(feed, title, FERRY) for title in titles]


async def test_chromium_finds_nothing_that_keeps_it_from_installing(
    open_phone: OpenPhone, closed_site: Site, ada: int
) -> None:
    phone = await open_phone()
    await phone.worker()
    await phone.page.reload()
    assert await phone.page.evaluate("navigator.serviceWorker.controller !== null")
    session = await phone.page.context.new_cdp_session(phone.page)
    manifest = await session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"] == f"{closed_site.url}/manifest.webmanifest"
    told = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
    # A context of a test is a private one, in which nothing is ever installed.
    assert [error["errorId"] for error in told if error["errorId"] != "in-incognito"] == []


async def test_articles_matches_and_events_are_read_and_marked_without_network(
    open_phone: OpenPhone, closed_site: Site, ada: int, watch: Watch
) -> None:
    watch.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch", "Failed to load resource")
    resources = closed_site.resources
    first, second = await publish(resources, ada, "The ferry to the outer islands", "A shop for ink")
    await MatchDay(resources).fixture(1, "Liverpool", "Arsenal")
    phone = await open_phone()
    await phone.keeps(3)
    await closed_site.stop()

    await phone.go("/")
    await expect(phone.page.get_by_text("Offline, as of")).to_be_visible()
    await expect(phone.page.get_by_role("link", name="Liverpool")).to_be_visible()
    await picture(phone.page, "offline-list")
    await check_reachable(phone.page)
    await phone.page.get_by_role("link", name="The ferry to the outer islands").click()
    await expect(phone.page.get_by_text("whatever the weather")).to_be_visible()
    await expect(phone.page.get_by_role("button", name="Read")).to_have_attribute("aria-pressed", "true")
    await phone.page.get_by_role("button", name="Star").click()
    await expect(phone.page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    await expect(phone.page.get_by_text("Waiting to be sent: 2.")).to_be_visible()
    await picture(phone.page, "offline-article")
    await check_reachable(phone.page)
    await phone.go("/footy/matches/77")
    await expect(phone.page.get_by_text("This page is not kept on this device.")).to_be_visible()

    await closed_site.start()
    await phone.go("/reader")
    await look_until(lambda: has_marks(resources, 2))
    state = await load_state(resources, ada)
    assert state == {first: (True, True)}, "and nothing of the other one"
    assert second not in state
    assert await phone.ask("allMarks().then((marks) => marks.length)") == 0


async def test_two_tabs_and_a_lost_answer_send_a_mark_once(
    open_phone: OpenPhone, closed_site: Site, ada: int, watch: Watch
) -> None:
    watch.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch", "Failed to load resource")
    resources = closed_site.resources
    [article] = await publish(resources, ada, "The ferry to the outer islands")
    phone = await open_phone()
    await phone.keeps(1)
    await closed_site.stop()
    await phone.go(f"/reader/entries/{article}")
    await expect(phone.page.get_by_text("Waiting to be sent: 1.")).to_be_visible()
    waiting = await phone.ask("allMarks()")
    await closed_site.start()
    other = await phone.page.context.new_page()
    await phone.go("/reader")
    await other.goto(f"{closed_site.url}/footy")
    await look_until(lambda: has_marks(resources, 1))
    # The answer was lost: the phone believes that it was not sent, and somebody made it unread meanwhile.
    await closed_site.accounts.user(ada)
    async with resources.database.unit_of_work() as work:
        await work.session.execute(text("UPDATE curator.entry_states SET read_at = NULL"))
    await phone.ask(
        f"onShelf('readwrite', ['marks'], (marks) => void marks.put({json.dumps(waiting[0])})).then(sendMarks)"
    )
    assert await phone.ask("allMarks().then((marks) => marks.length)") == 0
    assert await load_state(resources, ada) == {article: (False, False)}


async def test_what_is_marked_in_the_open_reader_waits_too(
    open_phone: OpenPhone, closed_site: Site, ada: int, watch: Watch
) -> None:
    watch.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch", "Failed to load resource")
    resources = closed_site.resources
    [article] = await publish(resources, ada, "The ferry to the outer islands")
    phone = await open_phone()
    await phone.keeps(1)
    await phone.go(f"/reader/entries/{article}")
    assert await phone.page.evaluate("navigator.serviceWorker.controller !== null")
    await closed_site.stop()
    status = await phone.page.evaluate(
        """(path) => fetch(path, { method: "POST", body: new URLSearchParams({ starred: "yes" }) })
            .then((answer) => answer.status)""",
        f"/reader/entries/{article}/state",
    )
    assert status == 204
    await closed_site.start()
    await phone.go("/reader")
    await look_until(lambda: has_marks(resources, 1))
    assert (await load_state(resources, ada))[article][1] is True


async def test_signing_out_leaves_nothing_on_the_device(
    open_phone: OpenPhone, closed_site: Site, ada: int, watch: Watch
) -> None:
    watch.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch", "Failed to load resource")
    await publish(closed_site.resources, ada, "The ferry to the outer islands")
    phone = await open_phone()
    await phone.keeps(1)
    await phone.go("/account")
    await phone.page.get_by_role("button", name="Sign out", exact=True).click()
    await expect(phone.page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert await phone.ask("allThings()") == []
    assert await phone.ask("fact('person').then((one) => one ?? null)") is None
    assert await phone.ask("caches.match('/offline').then(Boolean)") is False
    await closed_site.stop()
    await phone.go("/")
    await expect(phone.page.get_by_text("nothing of Pressbox is kept on this device yet")).to_be_visible()
    await closed_site.start()


async def test_another_person_at_the_same_phone_sees_nothing_of_the_first(
    open_phone: OpenPhone, closed_site: Site, ada: int, watch: Watch
) -> None:
    watch.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch", "Failed to load resource")
    await publish(closed_site.resources, ada, "The ferry to the outer islands")
    ben = (await closed_site.accounts.add_user(OTHER, PASSWORD)).id
    phone = await open_phone()
    await phone.keeps(1)
    # Her session ends elsewhere; the phone hears of it with its next page.
    await closed_site.accounts.sign_out_everywhere(ada)
    await phone.go("/reader")
    await expect(phone.page.get_by_role("heading", name="Sign in")).to_be_visible()
    await look_until(lambda: phone.ask("allThings().then((things) => things.length === 0)"))
    await sign_in(phone.page, closed_site, OTHER)
    await look_until(lambda: phone.ask(f"fact('person').then((one) => one === {ben})"))
    await look_until(lambda: phone.ask("fact('madeAt').then(Boolean)"))
    await closed_site.stop()
    await phone.go("/")
    await expect(phone.page.get_by_text("Offline, as of")).to_be_visible()
    await expect(phone.page.get_by_text("ferry")).to_have_count(0)
    await closed_site.start()


async def test_a_new_version_takes_over_at_once_and_forgets_the_files_of_the_old_one(
    open_phone: OpenPhone, closed_site: Site, ada: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = await open_phone()
    await phone.worker()
    old = await phone.ask("VERSION")
    monkeypatch.setattr(installable, "hash_files", lambda _: "the-next-version")
    await phone.go("/reader")

    async def only_the_new() -> bool:
        names = await phone.page.evaluate("caches.keys()")
        return bool(names == ["pressbox-files-the-next-version"])

    await look_until(only_the_new)
    assert old != "the-next-version"
    active = "navigator.serviceWorker.getRegistration().then((one) => [one.waiting === null, one.active.state])"
    await look_until(lambda: phone.page.evaluate(f"{active}.then(([alone, state]) => alone && state === 'activated')"))


async def test_a_network_that_is_too_slow_is_replaced_only_by_what_was_asked_for(
    open_phone: OpenPhone, closed_site: Site, ada: int
) -> None:
    [article] = await publish(closed_site.resources, ada, "The ferry to the outer islands")
    phone = await open_phone()
    await phone.keeps(1)

    async def shown(path: str) -> bool:
        asked = f"new Request(location.origin + {json.dumps(path)})"
        text = await phone.ask(f"standIn({asked}, Promise.resolve(new Response('slow'))).then((one) => one.text())")
        return "data-offline" in text

    assert await shown("/")
    assert await shown(f"/reader/entries/{article}")
    assert not await shown("/account")
    assert not await shown("/reader/entries/999999")


async def registered(phone: Phone) -> tuple[CDPSession, str]:
    """A session that can deliver push messages, and the worker to which."""
    await phone.worker()
    session = await phone.page.context.new_cdp_session(phone.page)
    found: list[str] = []

    def note(event: dict[str, Any]) -> None:
        found.extend(one["registrationId"] for one in event["registrations"] if not one["isDeleted"])

    session.on("ServiceWorker.workerRegistrationUpdated", note)
    await session.send("ServiceWorker.enable")
    await until(lambda: bool(found))
    return session, found[-1]


async def deliver(session: CDPSession, registration: str, site: Site, data: str) -> None:
    known = {"origin": site.url, "registrationId": registration, "data": data}
    await session.send("ServiceWorker.deliverPushMessage", known)


SHOWN = """registration.getNotifications().then((all) => all.map(({ title, body, tag, actions }) =>
    ({ title, body, tag, actions: actions.map(({ action, title }) => `${action}: ${title}`) })))"""


async def click(phone: Phone, action: str) -> None:
    """As a finger does; what a browser asks for in trust, such as keeping the worker alive, an own event has not."""
    await phone.ask(
        f"""registration.getNotifications().then(([notification]) =>
            answerPush({{ notification, action: {json.dumps(action)} }}))"""
    )
    # Browsers close it in their own time, by its tag: the next one of that tag would go with it.
    await look_until(lambda: phone.ask("registration.getNotifications().then((all) => all.length === 0)"))


async def test_a_push_message_is_shown_replaced_and_taken_back(
    open_phone: OpenPhone, closed_site: Site, ada: int
) -> None:
    phone = await open_phone()
    session, registration = await registered(phone)
    watch_it = PushAction(PushActionKind.WATCH, "/footy")
    mute = PushAction(PushActionKind.MUTE, TEAM)
    goal = PushMessage("Goal for Liverpool", "1–0", "/footy", "goal-1", (watch_it, mute), badge=2)

    async def shows(*titles: str) -> bool:
        return sorted(one["title"] for one in await phone.ask(SHOWN)) == sorted(titles)

    await phone.ask("navigator.setAppBadge = async (count) => void (self.shownBadge = count)")
    await deliver(session, registration, closed_site, encode_message(goal).decode())
    await look_until(lambda: shows("Goal for Liverpool"))
    assert await phone.ask("self.shownBadge") == 2
    [shown] = await phone.ask(SHOWN)
    assert shown["actions"] == ["watch: Watch", "mute: Mute"]
    with_clip = PushMessage("Goal for Liverpool by Salah", "1–0. The clip is there.", "/footy", "goal-1")
    await deliver(session, registration, closed_site, encode_message(with_clip).decode())
    await look_until(lambda: shows("Goal for Liverpool by Salah"))
    taken_back = PushMessage("Goal for Liverpool", "", "/footy", "goal-1", withdrawn=True)
    await deliver(session, registration, closed_site, encode_message(taken_back).decode())
    await look_until(lambda: shows("Taken back: Goal for Liverpool"))
    await deliver(session, registration, closed_site, "not what it should be")
    await look_until(lambda: shows("Taken back: Goal for Liverpool", "Something new in Pressbox"))


async def test_the_buttons_of_a_push_message_read_mute_and_lead_there(
    open_phone: OpenPhone, closed_site: Site, ada: int, watch: Watch
) -> None:
    watch.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch", "Failed to load resource")
    database = closed_site.resources.database
    await PersonalFollows(database).follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    [notice] = (await InboxStore(database).load(ada)).lines
    phone = await open_phone()
    session, registration = await registered(phone)
    await look_until(lambda: phone.ask(f"fact('person').then((one) => one === {ada})"))

    async def push(kind: PushActionKind, target: str) -> None:
        message = PushMessage("Goal", path="/inbox", tag="goal", actions=(PushAction(kind, target),))
        await deliver(session, registration, closed_site, encode_message(message).decode())
        await look_until(lambda: phone.ask("registration.getNotifications().then((all) => all.length === 1)"))

    await push(PushActionKind.READ, str(notice.id))
    await closed_site.stop()
    await click(phone, "read")
    assert (await InboxStore(database).load(ada)).unread == 1, "it waits for the network"
    await closed_site.start()
    await phone.go("/inbox")

    async def all_read() -> bool:
        return (await InboxStore(database).load(ada)).unread == 0

    await look_until(all_read)
    await push(PushActionKind.MUTE, TEAM)
    await click(phone, "mute")
    assert [follow.muted for follow in await PersonalFollows(database).list(ada)] == [True]
    await push(PushActionKind.WATCH, "/footy/follow")
    await click(phone, "watch")
    await phone.page.wait_for_url("**/footy/follow")
    await push(PushActionKind.WATCH, "/footy/follow")
    await click(phone, "")
    await phone.page.wait_for_url("**/inbox")


# Chromium has no push service without a company behind it: ours takes its place.
SUBSCRIPTION = """(said) => {
  const unsubscribe = async () => delete sessionStorage.subscribed;
  const made = { endpoint: said.endpoint, toJSON: () => said, unsubscribe };
  PushManager.prototype.subscribe = async () => ((sessionStorage.subscribed = "yes"), made);
  PushManager.prototype.getSubscription = async () => (sessionStorage.subscribed ? made : null);
}"""


@pytest.fixture
async def push_service(closed_site: Site) -> AsyncIterator[PushService]:
    """Which the site may reach, though it is on loopback."""
    resources, settings = closed_site.resources, closed_site.settings
    async with PushService() as service, GuardedClient(HttpSettings(allow=(f"127.0.0.1:{service.port}",))) as http:
        sender = PushSender(http, PushKeys(resources.database, settings), settings)
        assert closed_site.app is not None
        closed_site.app.dependency_overrides[provide(make_sender)] = lambda: sender
        yield service


async def test_one_button_turns_messages_on_and_a_test_arrives(
    open_phone: OpenPhone, closed_site: Site, ada: int, push_service: PushService
) -> None:
    phone = await open_phone()
    page = phone.page
    said = json.dumps(dict(push_service.add_browser("phone").subscription()))
    await page.add_init_script(f"({SUBSCRIPTION})({said})")
    await phone.go("/account")
    device = page.get_by_role("region", name="This device")
    await expect(device.get_by_text("This device gets no messages")).to_be_visible()
    await device.get_by_role("button", name="Send messages to this device").click()
    await expect(device.get_by_text("This device gets messages about what you follow.")).to_be_visible()
    await expect(device.get_by_text("this one")).to_be_visible()
    await device.get_by_role("button", name="Send a test").click()
    await expect(device.get_by_text("Sent. It appears in a moment.")).to_be_visible()
    assert [message["title"] for message in push_service.of("phone")] == ["Pressbox reaches this device"]
    await picture(page, "this-device", device)
    await device.get_by_role("button", name="Send no more", exact=True).click()
    await expect(device.get_by_text("This device gets no messages")).to_be_visible()
    await expect(device.get_by_role("button", name="Send a test")).to_be_hidden()


async def test_a_browser_that_refused_or_cannot_says_so(open_phone: OpenPhone, closed_site: Site, ada: int) -> None:
    refused = await open_phone(permissions=[])
    await refused.page.add_init_script("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })")
    await refused.go("/account")
    device = refused.page.get_by_role("region", name="This device")
    await expect(device.get_by_text("You have refused messages")).to_be_visible()
    await expect(device.get_by_role("button", name="Send messages to this device")).to_be_hidden()
    unable = await open_phone()
    await unable.page.add_init_script("delete window.PushManager")
    await unable.go("/account")
    device = unable.page.get_by_role("region", name="This device")
    await expect(device.get_by_text("This browser cannot get messages from a web page.")).to_be_visible()


async def test_pages_of_the_phone_in_both_colours(open_phone: OpenPhone, closed_site: Site, ada: int) -> None:
    """Pictures to look at, and thumb-sized targets in the bottom navigation."""
    await publish(closed_site.resources, ada, "The ferry to the outer islands", "A shop for ink")
    await MatchDay(closed_site.resources).fixture(1, "Liverpool", "Arsenal")
    phone = await open_phone()
    for name, path in (("home", "/"), ("reader", "/reader"), ("inbox", "/inbox"), ("share", "/events/new?name=Party")):
        await phone.go(path)
        await picture(phone.page, name)
        small = await phone.page.evaluate(
            """() => [...document.querySelectorAll(".masthead .places a")].map((one) => one.getBoundingClientRect())
                .filter((box) => box.width && (box.height < 44 || box.width < 44)).length"""
        )
        assert small == 0, path


async def check_reachable(page: Page) -> None:
    """What holds for every other page holds for what the worker shows."""
    await page.evaluate(AXE)
    assert [one for one in await page.evaluate(RUN, None) if one["impact"] != "minor"] == []
    assert await page.evaluate(SMALL_TARGETS) == []


async def picture(page: Page, name: str, part: Locator | None = None) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        file = SCREENSHOTS / f"phone-{name}-{scheme}.png"
        await (part.screenshot(path=file) if part else page.screenshot(path=file, full_page=True))


async def has_marks(resources: Resources, count: int) -> bool:
    async with resources.database.unit_of_work() as work:
        return bool(await work.session.scalar(text("SELECT count(*) FROM curator.offline_marks")) == count)


async def load_state(resources: Resources, user_id: int) -> dict[int, tuple[bool, bool]]:
    statement = text(
        "SELECT entry_id, read_at IS NOT NULL, starred_at IS NOT NULL FROM curator.entry_states WHERE user_id = :person"
    )
    async with resources.database.unit_of_work() as work:
        rows = await work.session.execute(statement, {"person": user_id})
        return {entry: (read, starred) for entry, read, starred in rows}
