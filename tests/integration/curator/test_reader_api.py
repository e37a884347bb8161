"""The Google Reader API on the real web application and database."""

from collections.abc import AsyncIterator
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import Client
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import NotSignedInError, RateLimitedError
from pressbox.curator.apps.domain import (
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    STATE,
    long_id,
    microseconds,
    short_id,
)
from pressbox.curator.reading.domain import ListKind, Selection
from tests.fakes.reader import NOW, Library
from tests.fakes.reader_apps import Pairs, ReaderApp, reader_app, reader_site


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def site(library: Library, settings: Settings) -> AsyncIterator[FastAPI]:
    async with reader_site(library, settings) as app:
        yield app


@pytest.fixture
async def anna(library: Library) -> int:
    return await library.person()


@pytest.fixture
async def phone(site: FastAPI, library: Library, anna: int) -> AsyncIterator[ReaderApp]:
    async with reader_app(site, library, anna) as app:
        yield app


async def ids(phone: ReaderApp, *pairs: tuple[str, str]) -> list[str]:
    found = await phone.json("stream/items/ids", [("n", "1000"), *pairs])
    return [one["id"] for one in found["itemRefs"]]


def shorts(*entries: int) -> list[str]:
    return [short_id(entry) for entry in entries]


async def test_an_app_password_opens_the_reader_api_and_nothing_else(
    library: Library, anna: int, phone: ReaderApp
) -> None:
    assert (await phone.json("user-info"))["userEmail"] == phone.email
    assert len((await phone.get("token")).text) == 57
    page = await phone.client.get("/api/curator/sources", headers=phone.headers)
    assert page.status_code == 401
    as_account = await phone.client.post("/sign-in", data={"email": phone.email, "password": phone.password})
    assert as_account.status_code == 422
    (password,) = await library.service.apps.passwords(anna)
    assert password.last_used_at is not None
    await library.service.apps.revoke_password(anna, password.id)
    refused = await phone.get("user-info")
    assert (refused.status_code, refused.text) == (401, "Unauthorized")
    assert (await phone.sign_in()).status_code == 401


async def test_sign_in_is_refused_alike_for_everybody_and_then_throttled(
    library: Library, phone: ReaderApp, anna: int
) -> None:
    right = phone.password
    for email, password in (("nobody@example.org", right), (phone.email, "wrong"), (phone.email, right[:5] + "-x")):
        wish = {"Email": email, "Passwd": password}
        answer = await phone.client.post("/accounts/ClientLogin", data=wish)
        assert (answer.status_code, answer.text) == (401, "Error=BadAuthentication\n")
    in_address = await phone.client.get("/accounts/ClientLogin", params={"Email": phone.email, "Passwd": right})
    assert in_address.status_code == 401
    phone.password = "wrong"
    for _ in range(10):
        last = await phone.sign_in()
    assert last.status_code == 429
    assert "Retry-After" in last.headers


async def test_guesses_lock_nobody_else_out_and_an_own_success_forgives_none(
    site: FastAPI, library: Library, phone: ReaderApp
) -> None:
    """The phone is Anna's; somebody at another address guesses, and at her own address somebody with an account."""
    apps = library.service.apps
    elsewhere, shared = Client("192.0.2.1"), Client("192.0.2.2")
    for _ in range(10):
        with pytest.raises(NotSignedInError):
            await apps.sign_in(phone.email, "wrong", elsewhere)
    with pytest.raises(RateLimitedError):
        await apps.sign_in(phone.email, phone.password, elsewhere)
    assert (await phone.sign_in()).status_code == 200
    async with reader_app(site, library, await library.person()) as own:
        for number in range(30):
            with pytest.raises(NotSignedInError):
                await apps.sign_in(f"{number}@example.org", "wrong", shared)
            if number < 25:
                await apps.sign_in(own.email, own.password, shared)
    with pytest.raises(RateLimitedError):
        await apps.sign_in("one.more@example.org", "wrong", shared)


async def test_subscriptions_are_listed_moved_renamed_left_and_added(
    library: Library, anna: int, phone: ReaderApp
) -> None:
    url = "https://example.org/feed.xml"
    wish = [("ac", "subscribe"), ("s", f"feed/{url}"), ("a", f"{LABEL}News"), ("t", "Mine"), ("T", "x")]
    assert (await phone.post("subscription/edit", wish)).text == "OK"
    (feed,) = (await phone.json("subscription/list"))["subscriptions"]
    assert (feed["title"], feed["url"]) == ("Mine", url)
    assert feed["categories"] == [{"id": f"{LABEL}News", "label": "News"}]
    assert library.temporal.ids[-1].startswith("ingest-feed-")
    moved = [("ac", "edit"), ("s", feed["id"]), ("a", f"{LABEL}Sport"), ("r", f"{LABEL}News")]
    assert (await phone.post("subscription/edit", moved)).text == "OK"
    assert (await phone.post("subscription/edit", [("ac", "edit"), ("s", feed["id"]), ("t", "Other")])).text == "OK"
    (feed,) = (await phone.json("subscription/list"))["subscriptions"]
    assert (feed["title"], feed["categories"][0]["label"]) == ("Other", "Sport")
    await phone.post("subscription/edit", [("ac", "edit"), ("s", feed["id"]), ("r", f"{LABEL}Sport")])
    assert (await phone.json("subscription/list"))["subscriptions"][0]["categories"] == []
    assert (await phone.post("subscription/edit", [("ac", "unsubscribe"), ("s", feed["id"])])).text == "OK"
    assert (await phone.json("subscription/list"))["subscriptions"] == []
    gone = await phone.post("subscription/edit", [("ac", "unsubscribe"), ("s", feed["id"])])
    assert gone.status_code == 404
    unknown = await phone.post("subscription/edit", [("ac", "burn"), ("s", "feed/1")])
    assert unknown.status_code == 400


async def test_an_address_is_added_by_discovery_and_a_wrong_one_says_why(phone: ReaderApp) -> None:
    added = (await phone.post("subscription/quickadd", [("quickadd", "https://example.org/feed.xml")])).json()
    assert added["numResults"] == 1
    assert added["streamId"].startswith("feed/")
    nothing = (await phone.post("subscription/quickadd", [("quickadd", "https://example.org/")])).json()
    assert (nothing["numResults"], "No feed was found" in nothing["error"]) == (0, True)


async def test_outlines_go_out_and_in(phone: ReaderApp) -> None:
    outline = b'<opml version="2.0"><body><outline text="News"><outline text="A" xmlUrl="https://a.example.org/f"/>'
    outline += b"</outline></body></opml>"
    headers = phone.headers | {"Content-Type": "text/xml"}
    path = "/reader/api/0/subscription/import"
    assert (await phone.client.post(path, content=outline, headers=headers)).text == "OK: 1"
    out = await phone.get("subscription/export")
    assert b"https://a.example.org/f" in out.content
    assert (await phone.json("tag/list"))["tags"][1]["id"] == f"{LABEL}News"


async def test_an_item_has_everything_that_apps_show(library: Library, anna: int, phone: ReaderApp) -> None:
    category = (await library.service.sources.create_category(anna, "Sport")).id
    feed = await library.feed(anna, title="A paper", category_id=category)
    at = NOW - timedelta(hours=3)
    entry = await library.entry(feed, "A <b>goal</b>", at=at, body="<p>It was <em>late</em>.</p>")
    await library.service.states.star(anna, entry)
    await library.service.states.set_labels(anna, entry, ["Later"])
    found = await phone.json(f"stream/contents/{READING_LIST}")
    (item,) = found["items"]
    assert item["id"] == long_id(entry)
    assert (item["title"], item["published"]) == ("A <b>goal</b>", int(at.timestamp()))
    assert item["timestampUsec"] == str(microseconds(NOW))
    assert item["crawlTimeMsec"] == str(microseconds(NOW) // 1000)
    assert item["summary"]["content"] == "<p>It was <em>late</em>.</p>"
    assert item["origin"] == {"streamId": f"feed/{feed}", "title": "A paper", "htmlUrl": ""}
    assert item["categories"] == [READING_LIST, f"{LABEL}Sport", STARRED, f"{LABEL}Later"]
    assert item["alternate"][0]["href"].startswith("https://example.org/")


async def test_an_item_is_found_by_every_form_of_its_id(library: Library, anna: int, phone: ReaderApp) -> None:
    feed = await library.feed(anna)
    entry = await library.entry(feed)
    number = int(short_id(entry))
    for named in (short_id(entry), long_id(entry), f"{number:016x}", f"{number:x}"):
        pairs = [("i", named), ("i", "4711"), ("i", "tag:x"), ("i", "-12")]
        answer = await phone.post("stream/items/contents", pairs)
        assert [one["id"] for one in answer.json()["items"]] == [long_id(entry)], named


async def test_streams_are_chosen_by_feed_folder_label_and_state(library: Library, anna: int, phone: ReaderApp) -> None:
    category = (await library.service.sources.create_category(anna, "Sport")).id
    one, two = await library.feed(anna, category_id=category), await library.feed(anna)
    first, second, third = await library.entry(one), await library.entry(two), await library.entry(two)
    await library.service.states.mark_read(anna, [first])
    await library.service.states.star(anna, second)
    await library.service.states.set_labels(anna, third, ["Later"])
    expected: list[tuple[Pairs, list[int]]] = [
        ([("s", READING_LIST)], [third, second, first]),
        ([], [third, second, first]),
        ([("s", READING_LIST), ("r", "o")], [first, second, third]),
        ([("s", READING_LIST), ("xt", READ)], [third, second]),
        ([("s", READ)], [first]),
        ([("s", READING_LIST), ("it", READ)], [first]),
        ([("s", STARRED)], [second]),
        ([("s", STARRED), ("xt", READ)], [second]),
        ([("s", f"feed/{two}")], [third, second]),
        ([("s", f"feed/{two}"), ("xt", STARRED)], [third]),
        ([("s", f"{LABEL}Sport")], [first]),
        ([("s", "user/17/label/Later")], [third]),
        ([("s", f"{LABEL}Nothing")], []),
        ([("s", f"{STATE}broadcast")], []),
        ([("s", "feed/4711")], []),
        ([("s", READING_LIST), ("xt", f"feed/{two}"), ("xt", STARRED)], [first]),
    ]
    for pairs, entries in expected:
        assert await ids(phone, *pairs) == shorts(*entries), pairs
    assert (await phone.get("stream/items/ids", [("s", "nonsense")])).status_code == 400


async def test_a_stream_is_read_to_its_end_while_others_arrive(library: Library, anna: int, phone: ReaderApp) -> None:
    feed = await library.feed(anna)
    made = [await library.entry(feed, at=NOW - timedelta(days=number % 3)) for number in range(7)]
    seen: list[str] = []
    continuation = ""
    while True:
        pairs = [("s", READING_LIST), ("n", "3"), ("c", continuation)]
        page = await phone.json("stream/items/ids", pairs)
        seen += [one["id"] for one in page["itemRefs"]]
        # What arrives between two pages neither moves nor repeats the rest.
        await library.entry(feed)
        if "continuation" not in page:
            break
        continuation = page["continuation"]
    assert seen == shorts(*reversed(made))
    assert (await phone.get("stream/items/ids", [("c", "x")])).status_code == 400
    assert len((await phone.json("stream/contents", [("n", "1000000")]))["items"]) == len(made) + 3


async def test_what_arrived_since_is_told_by_arrival_and_not_by_date(
    library: Library, anna: int, phone: ReaderApp
) -> None:
    feed = await library.feed(anna)
    long_here = await library.entry(feed, "long here", at=NOW, seen=NOW - timedelta(days=2))
    late = await library.entry(feed, "old news, came today", at=NOW - timedelta(days=900), seen=NOW)
    since = str((NOW - timedelta(hours=1)).timestamp())
    assert await ids(phone, ("s", READING_LIST), ("ot", since)) == shorts(late)
    assert await ids(phone, ("s", READING_LIST), ("nt", since)) == shorts(long_here)


async def test_tags_of_many_items_change_at_once(library: Library, anna: int, phone: ReaderApp) -> None:
    feed = await library.feed(anna)
    first, second = await library.entry(feed), await library.entry(feed)
    both = [("i", short_id(first)), ("i", long_id(second))]
    assert (await phone.post("edit-tag", [*both, ("a", READ), ("a", STARRED), ("a", f"{LABEL}Later")])).text == "OK"
    items = [await library.service.reading.load_item(anna, entry) for entry in (first, second)]
    assert [(one.read, one.starred, [label.name for label in one.labels]) for one in items] == [
        (True, True, ["Later"])
    ] * 2
    undo = [("r", READ), ("r", STARRED), ("r", f"{LABEL}Later"), ("a", f"{STATE}kept-unread")]
    assert (await phone.post("edit-tag", [*both, *undo])).text == "OK"
    items = [await library.service.reading.load_item(anna, entry) for entry in (first, second)]
    assert [(one.read, one.starred, one.labels) for one in items] == [(False, False, ())] * 2
    assert (await phone.post("edit-tag", both)).status_code == 400
    assert (await phone.post("edit-tag", [("a", READ)])).status_code == 400


async def test_all_is_read_up_to_a_moment(library: Library, anna: int, phone: ReaderApp) -> None:
    feed, other = await library.feed(anna), await library.feed(anna)
    await library.entry(feed)
    late = await library.entry(feed, seen=NOW + timedelta(minutes=1))
    elsewhere = await library.entry(other)
    moment = str(int(NOW.timestamp()) * 1_000_000)
    assert (await phone.post("mark-all-as-read", [("s", f"feed/{feed}"), ("ts", moment)])).text == "OK"
    assert await ids(phone, ("xt", READ)) == shorts(elsewhere, late)
    assert (await phone.post("mark-all-as-read", [("s", READING_LIST), ("ts", "never")])).status_code == 400
    library.now = NOW + timedelta(hours=1)
    assert (await phone.post("mark-all-as-read", [("s", READING_LIST)])).text == "OK"
    assert await ids(phone, ("xt", READ)) == []


async def test_unread_counts_are_those_of_the_reader(library: Library, anna: int, phone: ReaderApp) -> None:
    category = (await library.service.sources.create_category(anna, "Sport")).id
    feed, quiet = await library.feed(anna, category_id=category), await library.feed(anna)
    await library.entry(feed)
    await library.entry(feed)
    counts = {one["id"]: one["count"] for one in (await phone.json("unread-count"))["unreadcounts"]}
    assert counts == {f"feed/{feed}": 2, f"{LABEL}Sport": 2, READING_LIST: 2}
    assert f"feed/{quiet}" not in counts


async def test_folders_and_labels_are_renamed_and_removed(library: Library, anna: int, phone: ReaderApp) -> None:
    category = (await library.service.sources.create_category(anna, "Sport")).id
    feed = await library.feed(anna, category_id=category)
    await library.service.states.create_label(anna, "Later")
    assert (await phone.post("rename-tag", [("s", f"{LABEL}Sport"), ("dest", f"{LABEL}Games")])).text == "OK"
    assert (await phone.post("rename-tag", [("t", "Later"), ("dest", f"{LABEL}Soon")])).text == "OK"
    tags = {one["id"] for one in (await phone.json("tag/list"))["tags"]}
    assert tags == {STARRED, f"{LABEL}Games", f"{LABEL}Soon"}
    for name in ("Games", "Soon"):
        assert (await phone.post("disable-tag", [("s", f"{LABEL}{name}")])).text == "OK"
    assert (await phone.post("disable-tag", [("s", f"{LABEL}Games")])).status_code == 404
    assert (await phone.post("disable-tag", [("s", STARRED)])).status_code == 400
    assert (await library.service.sources.feed(anna, feed)).category == ""


async def test_nobody_reaches_what_is_somebody_elses_by_an_app(library: Library, anna: int, phone: ReaderApp) -> None:
    ben = await library.person()
    feed = await library.feed(ben)
    entry = await library.entry(feed)
    assert await ids(phone) == []
    assert await ids(phone, ("s", f"feed/{feed}")) == []
    contents = await phone.post("stream/items/contents", [("i", short_id(entry))])
    assert contents.json()["items"] == []
    await phone.post("edit-tag", [("i", short_id(entry)), ("a", READ), ("a", STARRED), ("a", f"{LABEL}Mine")])
    assert (await phone.post("mark-all-as-read", [("s", f"feed/{feed}")])).status_code == 404
    (item,) = (await library.service.reading.load_entries(ben, Selection(ListKind.ALL))).items
    assert (item.read, item.starred, item.labels) == (False, False, ())
    assert await library.service.states.load_labels(anna) == []


async def test_apps_ask_for_ids_by_post_too(library: Library, anna: int, phone: ReaderApp) -> None:
    feed = await library.service.sources.subscribe(anna, "https://example.org/feed.xml")
    entry = await library.entry(feed.id)
    for path, found in (("stream/items/ids", "itemRefs"), ("stream/contents/" + READING_LIST, "items")):
        answer = await phone.post(path, [("s", READING_LIST), ("output", "json")])
        assert (answer.status_code, len(answer.json()[found])) == (200, 1)
    assert await ids(phone, ("s", READING_LIST)) == shorts(entry)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "no/such/call"), ("POST", "user-info"), ("DELETE", "subscription/list"), ("POST", "edit-tag")],
)
async def test_apps_get_a_line_of_text_for_what_there_is_not(phone: ReaderApp, method: str, path: str) -> None:
    headers = phone.headers | {"Accept": "text/html"}
    for base in ("", "/api/greader.php"):
        answer = await phone.client.request(method, f"{base}/reader/api/0/{path}", headers=headers)
        assert answer.status_code in (400, 404)
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.text.startswith("Error: ")


async def test_the_same_api_is_below_every_base(library: Library, anna: int, phone: ReaderApp) -> None:
    for base in ("/greader", "/api/greader.php"):
        phone.base = base
        assert (await phone.sign_in()).status_code == 200
        assert (await phone.json("user-info"))["userEmail"] == phone.email


async def test_an_app_inside_a_browser_signs_in_from_its_own_origin(phone: ReaderApp) -> None:
    wish = {"Email": phone.email, "Passwd": phone.password}
    answer = await phone.client.post("/accounts/ClientLogin", data=wish, headers={"Origin": "null"})
    assert answer.status_code == 200


async def test_old_xml_and_atom_are_given_to_those_who_ask(library: Library, anna: int, phone: ReaderApp) -> None:
    feed = await library.feed(anna, title="A & B")
    entry = await library.entry(feed, "A \x08<goal>")
    xml = ElementTree.fromstring((await phone.get("subscription/list", [("output", "xml")])).content)
    assert xml.find("./list[@name='subscriptions']/object/string[@name='title']").text == "A & B"  # type: ignore[union-attr]
    answer = await phone.client.get(f"/reader/atom/feed/{feed}?n=5", headers=phone.headers)
    atom = ElementTree.fromstring(answer.content)
    name = "{http://www.w3.org/2005/Atom}"
    assert atom.findtext(f"{name}entry/{name}id") == long_id(entry)
    assert atom.findtext(f"{name}entry/{name}title") == "A <goal>"
    labels = [one.get("label") for one in atom.findall(f"{name}entry/{name}category")]
    assert labels == ["reading-list", "fresh"]


async def test_large_answers_are_packed(library: Library, anna: int, phone: ReaderApp) -> None:
    feed = await library.feed(anna)
    await library.entry(feed, body="<p>word</p>" * 1000)
    packed = await phone.get("stream/contents", [])
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.json()["items"]) == 1
