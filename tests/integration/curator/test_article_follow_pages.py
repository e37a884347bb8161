"""“Tell me” in a browser without scripts, and for programs: of what one reads, and of nothing else."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.notices.follows import PersonalFollows
from tests.fakes.reader import Library
from tests.site import Browser, browsing, serving


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def site(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def ada(site: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(site, "ada") as browser:
        yield browser


@pytest.fixture
async def ben(site: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(site, "ben") as browser:
        yield browser


def is_pressed(page: str) -> bool:
    """Whether the button says that the person is told."""
    button = page[page.index('name="tell"') :]
    return 'aria-pressed="true"' in button[: button.index(">")]


async def test_a_feed_is_followed_shown_muted_and_left(library: Library, ada: Browser) -> None:
    feed = await library.feed(ada.user_id, title="The Paper")
    place = f"/reader?list=feed&id={feed}"
    assert not is_pressed((await ada.get(place)).text)
    form = {"kind": "feed", "id": str(feed), "tell": "true"}
    answer = await ada.post(f"/reader/follow?list=feed&id={feed}", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, place)
    assert is_pressed((await ada.get(place)).text)
    followed = (await ada.get("/follows")).text
    assert "The Paper" in followed
    assert f"/reader?list=feed&amp;id={feed}" in followed
    await ada.post("/follows/mute", data={"subject": f"curator.feed.{feed}"})
    assert not is_pressed((await ada.get(place)).text)
    await ada.post(f"/reader/follow?list=feed&id={feed}", data=form)
    assert is_pressed((await ada.get(place)).text)
    await ada.post(f"/reader/follow?list=feed&id={feed}", data={**form, "tell": "false"})
    assert not is_pressed((await ada.get(place)).text)
    assert "The Paper" not in (await ada.get("/follows")).text


async def test_a_search_is_followed_from_what_it_found(library: Library, ada: Browser, ben: Browser) -> None:
    await library.feed(ada.user_id)
    place = "/reader?list=all&q=new+bridge"
    assert not is_pressed((await ada.get(place)).text)
    answer = await ada.post("/reader/follow-search?list=all&q=new+bridge", data={"tell": "true"})
    assert (answer.status_code, answer.headers["location"]) == (303, place)
    assert is_pressed((await ada.get(place)).text)
    assert "new bridge" in (await ada.get("/follows")).text
    await ada.post("/reader/follow-search?list=all&q=+new++bridge", data={"tell": "false"})
    assert (await ada.get("/api/follows")).json() == []
    assert (await ben.put("/api/curator/follow/own/search", params={"q": "bridge"})).status_code == 204
    assert (await ben.put("/api/curator/follow/own/search", params={"q": " "})).status_code == 422
    assert [one["name"] for one in (await ben.get("/api/follows")).json()] == ["bridge"]


async def test_the_quota_of_follows_counts_them_too(library: Library, ada: Browser) -> None:
    for number in range(50):
        assert (await ada.put("/api/curator/follow/own/search", params={"q": f"word{number}"})).status_code == 204
    feed = await library.feed(ada.user_id)
    assert (await ada.put(f"/api/curator/follow/own/feed/{feed}")).status_code == 403
    assert len((await ada.get("/api/follows")).json()) == 50


async def test_only_lists_that_can_be_followed_have_the_button(library: Library, ada: Browser) -> None:
    feed = await library.feed(ada.user_id)
    for place in (
        "/reader",
        "/reader?list=starred",
        f"/reader?list=feed&id={feed}&q=word",
        "/reader?list=feed&id=9999",
    ):
        assert 'name="tell"' not in (await ada.get(place)).text, place


async def test_a_story_is_followed_from_its_article(library: Library, ada: Browser) -> None:
    entry = await library.entry(await library.feed(ada.user_id), "A bridge opens", story="bridge")
    lonely = await library.entry(await library.feed(ada.user_id), "A page that many share")
    assert 'value="story"' not in (await ada.get(f"/reader/entries/{lonely}")).text
    for place in (f"/reader/entries/{entry}", f"/reader/entries/{entry}/part"):
        assert not is_pressed((await ada.get(place)).text)
    answer = await ada.post("/reader/follow", data={"kind": "story", "id": str(entry), "tell": "true"})
    assert answer.headers["location"].startswith(f"/reader/entries/{entry}")
    assert is_pressed((await ada.get(f"/reader/entries/{entry}/part")).text)
    assert "A bridge opens" in (await ada.get("/follows")).text


async def test_nobody_follows_what_they_may_not_read(library: Library, ada: Browser, ben: Browser) -> None:
    feed = await library.feed(ada.user_id)
    entry = await library.entry(feed, story="bridge")
    [label] = await library.service.states.set_labels(ada.user_id, entry, ["Bridges"])
    category = await library.service.sources.create_category(ada.user_id, "Sport")
    for kind, number in (("feed", feed), ("story", entry), ("label", label.id), ("category", category.id)):
        place = f"/api/curator/follow/own/{kind}/{number}"
        assert (await ben.put(place)).status_code == 404, kind
        assert (await ada.put(place)).status_code == 204, kind
    assert (await ben.get("/api/follows")).json() == []
    assert len((await ada.get("/api/follows")).json()) == 4


async def test_a_follow_ends_with_what_was_followed_and_takes_its_name(library: Library, ada: Browser) -> None:
    feed = await library.feed(ada.user_id)
    entry = await library.entry(feed)
    [label] = await library.service.states.set_labels(ada.user_id, entry, ["Bridges"])
    for kind, number in (("feed", feed), ("label", label.id)):
        await ada.put(f"/api/curator/follow/own/{kind}/{number}")
    await library.service.states.rename_label(ada.user_id, label.id, "Rivers")
    follows = PersonalFollows(library.database)
    assert [one.name for one in await follows.list(ada.user_id)] == ["A feed", "Rivers"]
    await library.service.states.delete_label(ada.user_id, label.id)
    await library.service.sources.unsubscribe(ada.user_id, feed)
    assert await follows.list(ada.user_id) == []


async def test_the_button_speaks_german(library: Library, ada: Browser, site: FastAPI) -> None:
    feed = await library.feed(ada.user_id)
    await site.state.accounts.set_language(ada.user_id, "de")
    assert "Mitteilen" in (await ada.get(f"/reader?list=feed&id={feed}")).text
