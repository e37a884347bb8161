"""Subscriptions, categories, feed settings and OPML as people have them, on a real database."""

import asyncio
from datetime import timedelta

import listparser
import pytest
from sqlalchemy import func, select

from pressbox.core.app import Resources
from pressbox.core.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from pressbox.curator.feeds.domain import FoundFeed, ParsedFeed
from pressbox.curator.library.domain import CrawlOutcome, DistilState, ExtractionRule, FetchState
from pressbox.curator.library.rows import EntryRow, FeedRow, RemovedEntryRow, StoryRow
from pressbox.curator.reading.domain import ListKind, Preference, Selection
from pressbox.curator.sources.domain import FeedSettings
from tests.fakes.reader import NOW, Library

URL = "https://example.org/feed.xml"


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


async def count(library: Library, row: type[FeedRow] | type[EntryRow] | type[StoryRow] | type[RemovedEntryRow]) -> int:
    async with library.database.unit_of_work() as work:
        return await work.session.scalar(select(func.count()).select_from(row)) or 0


def outline(*lines: str) -> bytes:
    return ("<opml version='2.0'><body>" + "\n".join(lines) + "</body></opml>").encode()


def feed_line(number: int) -> str:
    return f"<outline type='rss' text='Feed {number}' xmlUrl='https://example.org/{number}.xml'/>"


async def test_the_address_of_a_site_gives_its_feeds_and_the_best_is_read_at_once(library: Library) -> None:
    anna = await library.person()
    library.web.sites["https://example.org"] = [FoundFeed(URL, "News", ParsedFeed("News")), FoundFeed(URL + "2", "")]
    found = await library.service.sources.discover(anna, " example.org ")
    assert [(feed.url, feed.title, feed.subscribed) for feed in found] == [
        (URL, "News", False),
        (URL + "2", "example.org", False),
    ]
    feed = await library.service.sources.add(anna, "example.org")
    assert library.temporal.ids == [f"ingest-feed-{feed.id}"]
    assert (feed.url, feed.health.outcome, feed.health.next_crawl_at) == (URL, None, NOW)
    assert [item.subscribed for item in await library.service.sources.discover(anna, "example.org")] == [True, False]
    again = await library.service.sources.subscribe(anna, URL)
    assert again.id == feed.id
    assert len(library.temporal.ids) == 1
    with pytest.raises(InvalidInputError, match="No feed was found"):
        await library.service.sources.discover(anna, "https://example.org/nothing")
    for nonsense in ("", "ftp://example.org", "http://", "two words", "http://[", "x" * 3000):
        with pytest.raises(InvalidInputError):
            await library.service.sources.discover(anna, nonsense)


async def test_a_new_source_is_called_as_it_was_found_until_it_is_read(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    library.web.sites["https://example.org"] = [FoundFeed(URL, "The  News\x00", ParsedFeed("News"))]
    added = await library.service.sources.add(anna, "example.org")
    assert (added.title, added.own_title) == ("The News", "")
    assert library.temporal.starts[-1].input.feed_name == "The News"
    theirs = await library.service.sources.subscribe(bert, URL, called="What bert says")
    assert theirs.title == "The News"
    await library.service.sources.place(bert, theirs.id, title="What bert says", category_id=None)
    for person, shown in ((anna, "The News"), (bert, "example.org")):
        await library.service.sources.refresh(person, added.id)
        assert library.temporal.starts[-1].input.feed_name == shown


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        (" example.org/feed.xml ", "example.org/feed.xml"),
        ("feed://example.org/feed.xml", "example.org/feed.xml"),
        ("feed:https://example.org/feed.xml", "https://example.org/feed.xml"),
        ("HTTPS://example.org/feed.xml", "https://example.org/feed.xml"),
        ("http://example.org/feed.xml", "http://example.org/feed.xml"),
    ],
)
async def test_where_no_scheme_was_typed_none_is_chosen_before_the_site_is_asked(
    library: Library, typed: str, asked: str
) -> None:
    await library.service.sources.discover(await library.person(), typed)
    assert library.web.asked == [asked]


async def test_a_subscription_made_while_temporal_is_away_is_due(library: Library) -> None:
    anna = await library.person()
    library.temporal.away = True
    feed = await library.service.sources.subscribe(anna, URL)
    assert feed.health.next_crawl_at == NOW
    report = await library.service.outlines.take(anna, outline(feed_line(1)))
    assert report.added == 1


async def test_two_people_share_a_feed_with_their_own_titles_and_counts(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feed = await library.service.sources.subscribe(anna, URL, title="Mine")
    await library.entry(feed.id)
    await library.entry(feed.id)
    theirs = await library.service.sources.subscribe(bert, URL)
    assert (theirs.id, theirs.title, theirs.unread) == (feed.id, "example.org", 2)
    assert (await library.service.sources.feed(anna, feed.id)).title == "Mine"
    assert await count(library, FeedRow) == 1


async def test_people_who_subscribe_at_the_same_time_get_one_feed(library: Library) -> None:
    people = [await library.person() for _ in range(4)]
    feeds = await asyncio.gather(*(library.service.sources.subscribe(person, URL) for person in people))
    assert len({feed.id for feed in feeds}) == 1


async def test_a_feed_without_subscribers_is_removed_with_what_belongs_to_it(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feed = await library.feed(anna, bert)
    entry = await library.entry(feed, story="fire")
    await library.service.states.mark_read(anna, [entry])
    await library.service.sources.unsubscribe(anna, feed)
    assert await count(library, EntryRow) == 1
    with pytest.raises(NotFoundError):
        await library.service.reading.load_article(anna, entry)
    await library.service.sources.subscribe(anna, (await library.service.sources.feed(bert, feed)).url)
    assert (await library.service.sources.feed(anna, feed)).unread == 1, "read states go with the subscription"
    await library.service.sources.unsubscribe(anna, feed)
    await library.service.sources.unsubscribe(bert, feed)
    assert [await count(library, row) for row in (FeedRow, EntryRow, StoryRow)] == [0, 0, 0]
    assert await count(library, RemovedEntryRow) == 1, "the index is to forget it"
    with pytest.raises(NotFoundError):
        await library.service.sources.unsubscribe(bert, feed)


async def test_what_somebody_kept_stays_when_the_feed_is_left(library: Library) -> None:
    anna = await library.person()
    feed = await library.feed(anna, url=URL)
    starred, labelled, _ = [await library.entry(feed) for _ in range(3)]
    await library.service.states.star(anna, starred)
    await library.service.states.set_labels(anna, labelled, ["Later"])
    await library.service.sources.unsubscribe(anna, feed)
    assert await count(library, EntryRow) == 2
    kept = await library.service.reading.load_entries(anna, Selection(ListKind.STARRED))
    assert [(item.id, item.feed_title) for item in kept.items] == [(starred, "A feed")]
    assert (await library.service.reading.load_article(anna, labelled)).labels[0].name == "Later"
    assert (await library.service.reading.load_entries(anna, Selection())).items == ()
    async with library.database.unit_of_work() as work:
        row = await work.session.get(FeedRow, feed)
        assert row is not None
        assert row.paused_at is not None, "nobody reads it, so it is not crawled"
    back = await library.service.sources.subscribe(anna, URL)
    assert (back.id, back.paused_at, back.health.next_crawl_at) == (feed, None, NOW)


async def test_categories_are_made_renamed_arranged_and_removed(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    sources = library.service.sources
    one, two = await sources.create_category(anna, "One"), await sources.create_category(anna, " Two ")
    assert (await sources.create_category(anna, "Two")).id == two.id
    feed = await library.feed(anna)
    await sources.place(anna, feed, title="Renamed", category_id=two.id)
    await sources.arrange_categories(anna, [two.id])
    await sources.rename_category(anna, one.id, "First")
    view = await sources.sources(anna)
    assert [(category.name, [item.title for item in category.feeds]) for category in view.categories] == [
        ("Two", ["Renamed"]),
        ("First", []),
    ]
    with pytest.raises(ConflictError):
        await sources.rename_category(anna, one.id, "Two")
    for foreign in (
        sources.rename_category(bert, one.id, "x"),
        sources.delete_category(bert, one.id),
        sources.place(bert, feed, title="", category_id=None),
        sources.place(anna, feed, title="", category_id=(await sources.create_category(bert, "His")).id),
    ):
        with pytest.raises(NotFoundError):
            await foreign
    await sources.delete_category(anna, two.id)
    assert [item.id for item in (await sources.sources(anna)).uncategorised] == [feed]


async def test_what_is_common_to_all_is_changed_by_the_only_reader_or_an_administrator(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feed = await library.feed(anna)
    rules = (ExtractionRule("css", "article .body", True), ExtractionRule("xpath", "//aside", False))
    wanted = FeedSettings(full_text=False, rules=rules, interval=timedelta(minutes=20), entry_limit=5)
    changed = await library.service.sources.change(anna, feed, wanted)
    assert (changed.full_text, changed.rules, changed.interval, changed.entry_limit) == (
        False,
        rules,
        timedelta(minutes=20),
        5,
    )
    assert changed.health.next_crawl_at == NOW + timedelta(minutes=20)
    paused = await library.service.sources.pause(anna, feed)
    assert (paused.paused_at, paused.health.next_crawl_at) == (NOW, None)
    resumed = await library.service.sources.resume(anna, feed)
    assert (resumed.paused_at, resumed.health.next_crawl_at) == (None, NOW)
    await library.service.sources.subscribe(bert, changed.url)
    for refused in (
        library.service.sources.pause(anna, feed),
        library.service.sources.change(bert, feed, FeedSettings()),
    ):
        with pytest.raises(ForbiddenError):
            await refused
    assert (await library.service.sources.pause(anna, feed, administrator=True)).paused_at == NOW
    for wrong in (
        FeedSettings(interval=timedelta(seconds=1)),
        FeedSettings(entry_limit=0),
        FeedSettings(rules=(ExtractionRule("regex", ".*", True),)),
        FeedSettings(rules=(ExtractionRule("css", " ", True),)),
    ):
        with pytest.raises(InvalidInputError):
            await library.service.sources.change(anna, feed, wrong, administrator=True)


async def test_a_failing_feed_says_why_since_when_and_when_it_is_tried_again(library: Library) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    await library.crawled(feed, CrawlOutcome.NEW)
    for minutes in (10, 20):
        library.now = NOW + timedelta(minutes=minutes)
        await library.crawled(feed, CrawlOutcome.SERVER_ERROR, "The server answered 500.", 500)
    detail = await library.service.sources.detail(anna, feed)
    health = detail.feed.health
    assert (health.failing, health.outcome, health.reason) == (
        True,
        CrawlOutcome.SERVER_ERROR,
        "The server answered 500.",
    )
    assert (health.failures, health.failing_since) == (2, NOW + timedelta(minutes=10))
    assert health.next_crawl_at == NOW + timedelta(hours=1)
    assert [error.at for error in detail.errors] == [NOW + timedelta(minutes=20), NOW + timedelta(minutes=10)]
    assert (await library.service.sources.sources(anna)).failing == 1
    await library.service.sources.refresh(anna, feed)
    assert library.temporal.ids == [f"ingest-feed-{feed}"]
    assert (await library.service.sources.feed(anna, feed)).health.next_crawl_at == library.now
    await library.crawled(feed, CrawlOutcome.UNCHANGED)
    mended = (await library.service.sources.feed(anna, feed)).health
    assert (mended.failing, mended.failing_since) == (False, None)


async def test_failed_entries_of_a_feed_are_done_again_on_demand(library: Library) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    assert await library.service.sources.retry(anna, feed) is None
    unfetched = await library.entry(feed, fetch=FetchState.FAILED)
    undistilled = await library.entry(feed, distil=DistilState.FAILED)
    await library.entry(feed)
    assert await library.service.sources.retry(anna, feed) is not None
    (started,) = library.temporal.starts
    assert (started.input.entry_ids, started.input.fetch, started.input.distill) == (
        (undistilled, unfetched),
        True,
        True,
    )


async def test_an_import_names_the_broken_ones_with_reasons_and_the_rest_is_readable(library: Library) -> None:
    anna = await library.person()
    await library.service.sources.subscribe(anna, "https://example.org/7.xml")
    library.now = NOW + timedelta(minutes=1, microseconds=123457)
    lines = [feed_line(number) for number in range(300)]
    broken = ["<outline type='rss' text='No address'/>", "<outline type='rss' text='Odd' xmlUrl='file:///etc/x'/>"]
    report = await library.service.outlines.take(
        anna, outline(*lines[:150], "<outline text='Science'>", *lines[150:], *broken, "</outline>")
    )
    assert (report.added, report.known, report.waiting) == (299, 1, 299)
    assert {problem.title for problem in report.broken} == {"No address", "Odd"}
    assert all(problem.reason for problem in report.broken)
    started = library.temporal.starts[-1]
    assert (started.id, started.input.only_due) == ("curator-ingest-by-hand", True)
    sources = await library.service.sources.sources(anna)
    assert [(category.name, len(category.feeds)) for category in sources.categories] == [("Science", 150)]
    by_url = {feed.url: feed.id for feed in sources.feeds}
    await library.crawled(by_url["https://example.org/1.xml"], CrawlOutcome.NEW)
    await library.crawled(
        by_url["https://example.org/2.xml"], CrawlOutcome.NOT_FOUND, "The server has no such page.", 404
    )
    later = await library.service.outlines.progress(anna, report.id)
    assert (later.waiting, later.readable, later.done) == (297, 1, False)
    assert [(feed.title, feed.health.reason) for feed in later.failing] == [("Feed 2", "The server has no such page.")]
    assert later.broken == report.broken
    with pytest.raises(NotFoundError):
        await library.service.outlines.progress(await library.person(), report.id)
    for nonsense in ("x", "", "1" * 20, "-5"):
        with pytest.raises(NotFoundError):
            await library.service.outlines.progress(anna, nonsense)


async def test_an_import_without_a_usable_feed_names_what_is_wrong_with_it(library: Library) -> None:
    anna = await library.person()
    report = await library.service.outlines.take(
        anna, outline("<outline type='rss' text='No address'/>", "<outline type='rss' text='Odd' xmlUrl='file:///x'/>")
    )
    assert (report.added, report.known, [problem.title for problem in report.broken]) == (0, 0, ["No address", "Odd"])
    assert (await library.service.outlines.progress(anna, report.id)).broken == report.broken


@pytest.mark.parametrize(
    "spelling",
    [
        "HTTPS://Example.ORG/feed.xml",
        "https://example.org/feed.xml#recent",
        "https://example.org:443/feed.xml",
        "feed://example.org/feed.xml",
        "feed:https://example.org/feed.xml",
        "example.org/feed.xml",
    ],
)
async def test_however_an_address_is_spelt_it_is_one_feed(library: Library, spelling: str) -> None:
    anna = await library.person()
    feed = await library.service.sources.subscribe(anna, URL)
    assert (await library.service.sources.subscribe(anna, spelling)).id == feed.id
    if "://" in spelling:
        report = await library.service.outlines.take(anna, outline(f"<outline type='rss' xmlUrl='{spelling}'/>"))
        assert (report.added, report.known) == (0, 1)
    assert await count(library, FeedRow) == 1


async def test_export_gives_the_same_tree_back(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    lines = [feed_line(number) for number in range(6)]
    content = outline(
        *lines[:2],
        "<outline text='A &amp; B'>",
        *lines[2:4],
        "</outline>",
        "<outline text='C'>",
        *lines[4:],
        "</outline>",
    )
    await library.service.outlines.take(anna, content)
    exported = await library.service.outlines.export(anna)
    await library.service.outlines.take(bert, exported)

    async def tree(user_id: int) -> dict[str, list[tuple[str, str]]]:
        view = await library.service.sources.sources(user_id)
        named = {category.name: [(feed.title, feed.url) for feed in category.feeds] for category in view.categories}
        return named | {"": [(feed.title, feed.url) for feed in view.uncategorised]}

    assert await tree(anna) == await tree(bert)
    assert {name: len(feeds) for name, feeds in (await tree(anna)).items()} == {"A & B": 2, "C": 2, "": 2}
    parsed = listparser.parse(exported)
    assert {(feed.title, feed.url) for feed in parsed.feeds} == {
        (f"Feed {number}", f"https://example.org/{number}.xml") for number in range(6)
    }
    with pytest.raises(InvalidInputError):
        await library.service.outlines.take(anna, b"this is no outline")


async def test_a_person_with_up_marks_keeps_them_after_leaving_and_others_do_not_see_them(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feed = await library.feed(anna, bert)
    entry = await library.entry(feed)
    await library.service.states.prefer(anna, entry, Preference.UP)
    await library.service.sources.unsubscribe(bert, feed)
    with pytest.raises(NotFoundError):
        await library.service.reading.load_article(bert, entry)
    await library.service.sources.unsubscribe(anna, feed)
    assert (await library.service.reading.load_article(anna, entry)).preference is Preference.UP
