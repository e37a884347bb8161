"""The REST API of the reader on the real application; Temporal, the web and the index are stand-ins."""

import html
import re
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.spending.domain import Outcome
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.feeds.domain import FoundFeed, ParsedFeed
from pressbox.curator.ingest.contracts import PREVIEW_FETCH, PreviewFetchOutput
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.manifest import APP
from tests.fakes.reader import NOW, Library
from tests.site import browsing, serving

API = "/api/curator"
URL = "https://example.org/feed.xml"


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def app(library: Library, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(library.resources, settings, [APP], library.overrides()) as app:
        yield app


@pytest.fixture
async def admin(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(app, "admin", Role.ADMIN) as client:
        yield client


@pytest.fixture
async def anna(app: FastAPI, admin: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(app, "anna") as client:
        yield client


async def subscribed(client: httpx.AsyncClient, url: str = URL) -> int:
    answer = await client.post(f"{API}/feeds", json={"url": url})
    assert answer.status_code == 201, answer.text
    feed_id: int = answer.json()["id"]
    return feed_id


async def test_the_page_that_adds_a_source_says_what_will_be_unread_and_keeps_its_name(
    library: Library, anna: httpx.AsyncClient
) -> None:
    library.web.sites["https://example.org"] = [FoundFeed(URL, "Town & Country", ParsedFeed("Town & Country"))]
    page = (await anna.get("/reader/add", params={"address": "example.org"})).text
    assert "The latest 10 articles of a new source are unread; older ones count as read." in page
    (called,) = re.findall(r'name="called" value="([^"]*)"', page)
    await anna.post("/reader/add", data={"url": URL, "called": html.unescape(called)})
    (feed,) = (await anna.get(f"{API}/feeds")).json()
    assert (feed["title"], feed["own_title"]) == ("Town & Country", "")


async def test_from_an_address_to_a_read_article(library: Library, anna: httpx.AsyncClient) -> None:
    library.web.sites["https://example.org"] = [FoundFeed(URL, "News", ParsedFeed("News"))]
    found = (await anna.post(f"{API}/discover", json={"url": "example.org"})).json()
    assert found == [{"url": URL, "title": "News", "entries": 0, "subscribed": False}]
    feed_id = await subscribed(anna, "example.org")
    entry = await library.entry(feed_id, "A fire", body="<p>It burned.</p>")
    page = (await anna.get(f"{API}/entries", params={"view": "unread"})).json()
    assert [item["title"] for item in page["items"]] == ["A fire"]
    assert page["after"] is None
    article = (await anna.get(f"{API}/entries/{entry}")).json()
    assert (article["body_html"], article["summary"], article["read"]) == ("<p>It burned.</p>", "A summary.", False)
    wish = {"read": True, "starred": True, "preference": 1, "note": "Mine.", "labels": ["Later"]}
    changed = (await anna.patch(f"{API}/entries/{entry}", json=wish)).json()
    assert {name: changed[name] for name in ("read", "starred", "preference", "note")} == {
        "read": True,
        "starred": True,
        "preference": 1,
        "note": "Mine.",
    }
    assert [label["name"] for label in changed["labels"]] == ["Later"]
    sources = (await anna.get(f"{API}/sources")).json()
    assert (sources["unread"], sources["starred"], sources["up"]) == (0, 1, 1)
    assert [(label["name"], label["entries"]) for label in sources["labels"]] == [("Later", 1)]
    assert (await anna.post(f"{API}/entries/{entry}/redo")).status_code == 202
    assert library.temporal.ids[-1] == f"reprocess-{entry}"


async def test_a_list_is_read_to_its_end_by_cursor(library: Library, anna: httpx.AsyncClient) -> None:
    feed_id = await subscribed(anna)
    made = [await library.entry(feed_id, at=NOW - timedelta(hours=number)) for number in range(5)]
    found: list[int] = []
    after: str | None = ""
    while after is not None:
        params = {"limit": "2"} | ({"after": after} if after else {})
        page = (await anna.get(f"{API}/entries", params=params)).json()
        found += [item["id"] for item in page["items"]]
        after = page["after"]
    assert found == made
    assert (await anna.get(f"{API}/entries", params={"after": "x"})).status_code == 422
    assert (await anna.get(f"{API}/entries", params={"view": "feed"})).status_code == 422
    assert (await anna.get(f"{API}/entries", params={"view": "feed", "id": 4711})).status_code == 404


async def test_entries_that_the_graph_lacks(library: Library, anna: httpx.AsyncClient) -> None:
    feed_id = await subscribed(anna)
    added, lacking, corrected, empty = [await library.entry(feed_id) for _ in range(4)]
    async with library.resources.database.unit_of_work() as work:
        for entry_id, content, graph in (
            (added, "a", "a"),
            (lacking, "b", None),
            (corrected, "c", "old"),
            (empty, "", None),
        ):
            values = {"content_hash": content, "graph_hash": graph, "graph_added_at": NOW if graph else None}
            await work.session.execute(update(EntryRow).where(EntryRow.id == entry_id).values(values))

    async def listed(**params: str) -> set[int]:
        return {item["id"] for item in (await anna.get(f"{API}/entries", params=params)).json()["items"]}

    assert await listed(graphAdded="false") == {lacking, corrected}
    assert await listed(graphAdded="true") == {added}
    assert await listed() == {added, lacking, corrected, empty}


async def test_all_read_and_back(library: Library, anna: httpx.AsyncClient) -> None:
    feed_id = await subscribed(anna)
    entry = await library.entry(feed_id)
    late = await library.entry(feed_id, seen=NOW + timedelta(minutes=1))
    body = {"view": "feed", "id": feed_id, "until": NOW.isoformat()}
    done = (await anna.post(f"{API}/entries/all-read", json=body)).json()
    assert done["count"] == 1
    unread = (await anna.get(f"{API}/entries", params={"unread": "1"})).json()["items"]
    assert [item["id"] for item in unread] == [late]
    assert (await anna.post(f"{API}/entries/all-read/undo", json={"stamp": done["stamp"]})).json() == {"count": 1}
    assert (await anna.post(f"{API}/entries/read", json={"entry_ids": [entry, late]})).status_code == 204
    assert (await anna.get(f"{API}/feeds/{feed_id}")).json()["feed"]["unread"] == 0


async def test_nobody_reaches_what_is_somebody_elses(
    library: Library, anna: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    feed_id = await subscribed(anna)
    entry = await library.entry(feed_id)
    label = (await anna.post(f"{API}/labels", json={"name": "Mine"})).json()["id"]
    category = (await anna.post(f"{API}/categories", json={"name": "Mine"})).json()["id"]
    for method, path in (
        ("GET", f"/entries/{entry}"),
        ("PATCH", f"/entries/{entry}"),
        ("POST", f"/entries/{entry}/redo"),
        ("GET", f"/feeds/{feed_id}"),
        ("DELETE", f"/feeds/{feed_id}"),
        ("POST", f"/feeds/{feed_id}/refresh"),
        ("POST", f"/feeds/{feed_id}/pause"),
        ("POST", f"/feeds/{feed_id}/retry"),
        ("DELETE", f"/labels/{label}"),
        ("DELETE", f"/categories/{category}"),
        ("GET", f"/entries?view=label&id={label}"),
        ("GET", f"/entries?view=category&id={category}"),
        ("GET", f"/entries/{entry}/related"),
    ):
        answer = await admin.request(method, f"{API}{path}", json={"starred": True} if method == "PATCH" else None)
        assert answer.status_code == 404, path
    assert (await admin.get(f"{API}/feeds")).json() == []


async def test_settings_of_a_feed_that_others_read_are_for_administrators(
    library: Library, anna: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    feed_id = await subscribed(anna)
    rules = [{"kind": "css", "expression": "article", "keep": True}]
    wish = {"title": "Mine", "full_text": False, "rules": rules, "interval_seconds": 1800, "entry_limit": 9}
    changed = (await anna.patch(f"{API}/feeds/{feed_id}", json=wish)).json()
    assert {name: changed[name] for name in wish} == wish
    kept = (await anna.patch(f"{API}/feeds/{feed_id}", json={"interval_seconds": None})).json()
    assert (kept["interval_seconds"], kept["rules"], kept["title"]) == (None, rules, "Mine")
    await subscribed(admin)
    assert (await anna.patch(f"{API}/feeds/{feed_id}", json={"full_text": True})).status_code == 403
    assert (await anna.patch(f"{API}/feeds/{feed_id}", json={"title": "Still mine"})).status_code == 200
    assert (await anna.post(f"{API}/feeds/{feed_id}/pause")).status_code == 403
    assert (await admin.post(f"{API}/feeds/{feed_id}/pause")).json()["paused_at"] is not None
    assert (await admin.post(f"{API}/feeds/{feed_id}/resume")).json()["paused_at"] is None


async def test_outlines_in_and_out_with_the_reasons_of_broken_ones(library: Library, anna: httpx.AsyncClient) -> None:
    content = (
        "<opml version='2.0'><body><outline text='Science'>"
        "<outline type='rss' text='One' xmlUrl='https://example.org/1.xml'/>"
        "<outline type='rss' text='Broken'/></outline></body></opml>"
    )
    answer = await anna.post(f"{API}/opml", content=content, headers={"Content-Type": "text/x-opml"})
    assert answer.status_code == 202, answer.text
    report = answer.json()
    assert (report["total"], report["added"], report["waiting"]) == (2, 1, 1)
    assert [problem["title"] for problem in report["broken"]] == ["Broken"]
    feed_id = (await anna.get(f"{API}/feeds")).json()[0]["id"]
    await library.crawled(feed_id, CrawlOutcome.GONE, "It is gone for good.", 410)
    later = (await anna.get(f"{API}/imports/{report['id']}")).json()
    assert (later["waiting"], later["failing"][0]["reason"]) == (0, "It is gone for good.")
    for path in (f"{API}/opml", "/opml"):
        exported = await anna.get(path)
        assert exported.headers["content-type"].startswith("text/x-opml")
        assert "https://example.org/1.xml" in exported.text
    assert (await anna.post(f"{API}/opml", content="no outline")).status_code == 422
    assert (await anna.get(f"{API}/imports/nothing")).status_code == 404


async def test_a_preview_shows_what_rules_would_do(library: Library, anna: httpx.AsyncClient) -> None:
    library.temporal.results[PREVIEW_FETCH] = PreviewFetchOutput(ok=False, error="nothing there")
    body = {"url": "https://example.org/a", "rules": [{"kind": "css", "expression": "p", "keep": True}]}
    failed = (await anna.post(f"{API}/preview", json=body)).json()
    assert (failed["ok"], failed["error"]) == (False, "nothing there")
    await library.resources.objects.put("scratch/preview.html", b"<p>Kept.</p>")
    library.temporal.results[PREVIEW_FETCH] = PreviewFetchOutput(
        ok=True, preview_key="scratch/preview.html", title="A page", words=1
    )
    shown = (await anna.post(f"{API}/preview", json=body)).json()
    assert (shown["html"], shown["title"], shown["words"]) == ("<p>Kept.</p>", "A page", 1)
    wrong = {"url": "https://example.org/a", "rules": [{"kind": "regex", "expression": "p", "keep": True}]}
    assert (await anna.post(f"{API}/preview", json=wrong)).status_code == 422


async def test_categories_labels_refresh_and_costs(library: Library, anna: httpx.AsyncClient) -> None:
    feed_id = await subscribed(anna)
    one, two = [(await anna.post(f"{API}/categories", json={"name": name})).json()["id"] for name in ("One", "Two")]
    assert (await anna.put(f"{API}/categories/order", json={"category_ids": [two, one]})).status_code == 204
    assert (await anna.patch(f"{API}/categories/{one}", json={"name": "First"})).status_code == 204
    await anna.patch(f"{API}/feeds/{feed_id}", json={"category_id": one})
    sources = (await anna.get(f"{API}/sources")).json()
    assert [category["name"] for category in sources["categories"]] == ["Two", "First"]
    assert sources["feeds"][0]["category"] == "First"
    assert (await anna.delete(f"{API}/categories/{one}")).status_code == 204
    label = (await anna.post(f"{API}/labels", json={"name": "Later"})).json()
    assert (await anna.patch(f"{API}/labels/{label['id']}", json={"name": "Now"})).status_code == 204
    assert [item["name"] for item in (await anna.get(f"{API}/labels")).json()] == ["Now"]
    assert (await anna.delete(f"{API}/labels/{label['id']}")).status_code == 204
    assert (await anna.post(f"{API}/labels", json={"name": " "})).status_code == 422
    assert (await anna.post(f"{API}/feeds/refresh")).status_code == 202
    assert (await anna.post(f"{API}/feeds/{feed_id}/refresh")).json()["workflow_id"] == f"ingest-feed-{feed_id}"
    assert (await anna.post(f"{API}/feeds/{feed_id}/retry")).json() == {"workflow_id": None}
    costs = (await anna.get(f"{API}/costs")).json()
    tokens = {"tokens_today": 0, "tokens_per_day": 1000, "used_up": False, "resumes_at": "2027-04-02T00:00:00Z"}
    budget = {**tokens, "cost_today": 0.0, "cost_per_day": None}
    assert costs == {"days": [], "budget": budget}
    assert (await anna.delete(f"{API}/feeds/{feed_id}")).status_code == 204
    library.temporal.away = True
    assert (await anna.post(f"{API}/feeds/refresh")).status_code == 503


async def test_an_administrator_sees_what_feeds_of_others_cost_without_their_names(
    library: Library, admin: httpx.AsyncClient, anna: httpx.AsyncClient
) -> None:
    feed_id = await subscribed(anna)
    call = {"content_hash": "h", "prompt_version": "1", "model": "m", "feature": "distil", "outcome": Outcome.ANSWERED}
    spent = {"tokens_in": 5, "tokens_out": 1, "weight": 6, "cost": 2.0}
    async with library.database.unit_of_work() as work:
        work.session.add(PaidRequestRow(**call, **spent, source_id=feed_id, at=NOW))
    (own,) = (await anna.get(f"{API}/costs")).json()["days"]
    assert (own["feed_id"], own["feed_title"], own["cost"]) == (feed_id, "A feed", 2.0)
    (others,) = (await admin.get(f"{API}/costs")).json()["days"]
    assert (others["feed_id"], others["feed_title"], others["cost"]) == (None, "", 2.0)
