"""The simulated newspapers: what others build their tests on is as it says."""

import gzip
import io
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from pressbox.demo.news.library import articles, variation
from pressbox.demo.simulators.news_evil import ETAG, HUGE_BYTES, Evil
from pressbox.demo.simulators.news_pages import CHROME
from pressbox.demo.simulators.news_site import PUBLICATIONS, NewsSite
from tests.patience import patience

HELD = "night-ferry-timetable"


@pytest.fixture
async def site() -> AsyncIterator[NewsSite]:
    async with NewsSite(held=[HELD]) as site:
        yield site


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=patience(10)) as client:
        yield client


async def test_every_publication_has_a_feed_that_its_front_page_names(
    site: NewsSite, client: httpx.AsyncClient
) -> None:
    for name, publication in PUBLICATIONS.items():
        front = await client.get(site.site_url(name))
        assert f'href="/{name}/{publication.path}"' in front.text
        feed = await client.get(site.feed_url(name))
        assert feed.status_code == 200
        assert publication.title in feed.text


async def test_an_unchanged_feed_is_304_until_something_is_published(site: NewsSite, client: httpx.AsyncClient) -> None:
    first = await client.get(site.feed_url("harbour"))
    tagged = {"If-None-Match": first.headers["ETag"]}
    dated = {"If-Modified-Since": first.headers["Last-Modified"]}
    assert (await client.get(site.feed_url("harbour"), headers=tagged)).status_code == 304
    assert (await client.get(site.feed_url("harbour"), headers=dated)).status_code == 304
    site.publish(next(one for one in articles() if one.slug == HELD))
    again = await client.get(site.feed_url("harbour"), headers=tagged)
    assert again.status_code == 200
    assert HELD in again.text
    asked = site.asked_for("/harbour/feed.xml")
    assert [(one.conditional, one.status) for one in asked] == [(False, 200), (True, 304), (True, 304), (True, 200)]


async def test_an_article_stands_between_all_that_publishers_put_around_it(
    site: NewsSite, client: httpx.AsyncClient
) -> None:
    for article in articles():
        if article.slug == HELD:
            assert (await client.get(f"{site.url}/harbour/{HELD}")).status_code == 404
            continue
        shown = (await client.get(site.article_url(article.slug))).text
        assert article.html in shown
        assert all(sentence in shown for sentence in CHROME)


async def test_an_edited_article_changes_its_page_and_keeps_its_place(
    site: NewsSite, client: httpx.AsyncClient
) -> None:
    before = [one.slug for one in site.published("workshop")]
    site.edit("sorting-by-hand", "<p>Corrected.</p>")
    assert [one.slug for one in site.published("workshop")] == before
    assert "Corrected." in (await client.get(site.article_url("sorting-by-hand"))).text


async def test_the_digest_lists_articles_of_others_under_marked_addresses(
    site: NewsSite, client: httpx.AsyncClient
) -> None:
    feed = (await client.get(site.feed_url("digest"))).text
    assert f"{site.article_url('tide-mill-bread')}?utm_source=digest" in feed


async def test_pictures_are_pictures(site: NewsSite, client: httpx.AsyncClient) -> None:
    shown = await client.get(f"{site.url}/pictures/tide-mill-bread.png")
    assert shown.content.startswith(b"\x89PNG")
    assert len(shown.content) < 10_000


def test_variations_are_articles_of_their_own() -> None:
    made = [variation(number, "harbour") for number in range(50)]
    assert len({one.slug for one in made}) == 50
    assert len({one.html for one in made}) == 50


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (Evil.ALWAYS_NOT_MODIFIED, 304),
        (Evil.MOVED, 301),
        (Evil.MOVED_FOR_NOW, 302),
        (Evil.LOOP, 301),
        (Evil.GONE, 410),
        (Evil.NOT_FOUND, 404),
        (Evil.FORBIDDEN, 403),
        (Evil.BUSY, 429),
        (Evil.UNAVAILABLE, 503),
        (Evil.FAILING, 500),
        (Evil.PRIVATE, 302),
        (Evil.METADATA, 301),
    ],
)
async def test_evil_feeds_answer_with_the_status_they_are_named_for(
    site: NewsSite, client: httpx.AsyncClient, name: Evil, status: int
) -> None:
    answer = await client.get(site.evil_url(name))
    assert answer.status_code == status
    assert ("Retry-After" in answer.headers) == (status in (429, 503))


async def test_the_bomb_is_small_on_the_wire_and_200_megabytes_afterwards(
    site: NewsSite, client: httpx.AsyncClient
) -> None:
    async with client.stream("GET", site.evil_url(Evil.BOMB)) as answer:
        packed = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert len(packed) < 1_000_000
    with gzip.open(io.BytesIO(packed)) as unpacked:
        size = 0
        while block := unpacked.read(10_000_000):
            size += len(block)
    assert size == HUGE_BYTES


async def test_the_huge_one_goes_on_and_on_without_saying_how_long(site: NewsSite, client: httpx.AsyncClient) -> None:
    read = 0
    async with client.stream("GET", site.evil_url(Evil.HUGE)) as answer:
        assert "Content-Length" not in answer.headers
        async for chunk in answer.aiter_raw():
            read += len(chunk)
            if read > 3_000_000:
                break
    assert read > 3_000_000


async def test_a_truncated_one_breaks_off_and_a_silent_one_never_answers(
    site: NewsSite, client: httpx.AsyncClient
) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await client.get(site.evil_url(Evil.TRUNCATED))
    with pytest.raises(httpx.ReadTimeout):
        await client.get(site.evil_url(Evil.SILENT), timeout=0.2)


async def test_an_evil_304_is_given_to_those_who_have_it(site: NewsSite, client: httpx.AsyncClient) -> None:
    assert (await client.get(site.evil_url(Evil.NOT_MODIFIED))).headers["ETag"] == ETAG
    again = await client.get(site.evil_url(Evil.NOT_MODIFIED), headers={"If-None-Match": ETAG})
    assert again.status_code == 304


async def test_what_was_asked_can_be_seen_from_outside(site: NewsSite, client: httpx.AsyncClient) -> None:
    await client.get(site.feed_url("yokocho"))
    received = (await client.get(f"{site.url}/-/received")).json()
    assert [one["path"] for one in received] == ["/yokocho/feed.json"]
    assert json.dumps(received[0]["conditional"]) == "false"
