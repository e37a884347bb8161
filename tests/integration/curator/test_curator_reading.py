"""Lists, articles and states as people have them, on a real database."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.curator.feeds.domain import Crawl, FeedEntry, FeedToCrawl, ParsedFeed, Validators
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, FetchState
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.reading.domain import EntryPage, ListKind, ListNote, Preference, Selection, Sort
from pressbox.curator.reading.finding import find_articles
from pressbox.curator.search.store import SqlIndexStore
from pressbox.curator.search.wiring import index_writer
from tests.fakes.curator_rows import ComparerHere
from tests.fakes.reader import NOW, Library

UNREAD = Selection(ListKind.UNREAD)


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


def ids(page: EntryPage) -> list[int]:
    return [item.id for item in page.items]


async def whole(library: Library, user_id: int, selection: Selection, limit: int) -> list[int]:
    found: list[int] = []
    after = None
    while True:
        page = await library.service.reading.load_entries(user_id, selection, after=after, limit=limit)
        assert len(page.items) <= limit
        found += ids(page)
        if (after := page.after) is None:
            return found


@pytest.mark.parametrize("sort", [Sort.NEWEST, Sort.OLDEST])
async def test_pages_are_stable_for_equal_dates_while_entries_arrive(library: Library, sort: Sort) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    made = [await library.entry(feed, at=NOW - timedelta(hours=number // 4)) for number in range(10)]
    first = await library.service.reading.load_entries(anna, Selection(sort=sort), limit=3)
    late = NOW + timedelta(hours=1) if sort is Sort.NEWEST else NOW - timedelta(days=9)
    await library.entry(feed, at=late)
    rest = first.after
    found = ids(first)
    while rest is not None:
        page = await library.service.reading.load_entries(anna, Selection(sort=sort), after=rest, limit=3)
        found += ids(page)
        rest = page.after
    assert sorted(found) == made
    dates = [(NOW - timedelta(hours=made.index(number) // 4), number) for number in found]
    assert dates == sorted(dates, reverse=sort is Sort.NEWEST)


async def test_a_story_of_several_feeds_is_one_line_that_names_the_others(library: Library) -> None:
    anna = await library.person()
    one, two, foreign = await library.feed(anna, title="One"), await library.feed(anna, title="Two"), 0
    foreign = await library.feed(await library.person())
    first = await library.entry(one, story="fire")
    copy = await library.entry(two, story="fire")
    await library.entry(foreign, story="fire")
    page = await library.service.reading.load_entries(anna, Selection())
    assert ids(page) == [first]
    assert [(other.entry_id, other.feed_title) for other in page.items[0].others] == [(copy, "Two")]
    of_feed = await library.service.reading.load_entries(anna, Selection(ListKind.FEED, two))
    assert ids(of_feed) == [copy]
    await library.service.states.mark_read(anna, [copy])
    assert ids(await library.service.reading.load_entries(anna, UNREAD)) == []
    sources = await library.service.sources.sources(anna)
    assert sources.unread == 0


async def test_a_copy_that_comes_after_the_story_was_read_is_read(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    one = await library.feed(anna, bert)
    two = await library.feed(anna, bert, url="https://example.org/two.xml")
    library.now = NOW + timedelta(minutes=5)
    await library.service.states.mark_read(anna, [await library.entry(one, story="fire")])
    copy = FeedEntry(guid="copy", url="https://example.org/fire?utm_source=feed", title="Fire")
    crawl = Crawl(CrawlOutcome.NEW, ParsedFeed("Two", entries=(copy,)))
    await SqlFeeds(library.database, ComparerHere()).store_crawl(
        FeedToCrawl(two, "https://example.org/two.xml", Validators()), crawl, CuratorPolicy(), NOW
    )
    assert [(await library.service.sources.feed(who, two)).unread for who in (anna, bert)] == [0, 1]
    late = await library.person()
    await library.service.sources.subscribe(late, (await library.service.sources.feed(anna, one)).url)
    page = await library.service.reading.load_entries(late, Selection())
    await library.service.states.mark_read(late, ids(page))
    joined = await library.service.sources.subscribe(late, "https://example.org/two.xml")
    assert joined.unread == 0


async def test_what_was_read_in_this_view_stays_in_place_until_the_view_changes(library: Library) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    old, new = await library.entry(feed, at=NOW - timedelta(days=1)), await library.entry(feed)
    opened = Selection(ListKind.UNREAD, opened_at=NOW)
    library.now = NOW + timedelta(minutes=1)
    await library.service.states.mark_read(anna, [new, old])
    assert ids(await library.service.reading.load_entries(anna, opened)) == [new, old]
    assert ids(await library.service.reading.load_entries(anna, UNREAD)) == []
    article = await library.service.reading.load_article(anna, new, opened)
    assert (article.previous_id, article.next_id) == (None, old)


async def test_two_people_share_feeds_but_nothing_that_they_do(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feed, private = await library.feed(anna, bert), await library.feed(anna)
    entry, hidden = await library.entry(feed), await library.entry(private)
    states = library.service.states
    await states.mark_read(anna, [entry])
    await states.star(anna, entry)
    await states.prefer(anna, entry, Preference.UP)
    await states.set_note(anna, entry, "Mine alone.")
    await states.set_labels(anna, entry, ["secret"])
    of_bert = await library.service.reading.load_article(bert, entry)
    assert (of_bert.read, of_bert.starred, of_bert.preference) == (False, False, Preference.NONE)
    assert (of_bert.note, of_bert.labels, of_bert.has_note) == ("", (), False)
    of_anna = await library.service.reading.load_article(anna, entry)
    assert (of_anna.note, [label.name for label in of_anna.labels]) == ("Mine alone.", ["secret"])
    assert (await library.service.sources.sources(bert)).unread == 1
    assert (await library.service.sources.sources(anna)).unread == 1
    with pytest.raises(NotFoundError):
        await library.service.reading.load_article(bert, hidden)
    for act in (states.star(bert, hidden), states.set_note(bert, hidden, "x"), states.set_labels(bert, hidden, ["x"])):
        with pytest.raises(NotFoundError):
            await act
    await states.mark_read(bert, [hidden])
    assert ids(await library.service.reading.load_entries(bert, Selection())) == [entry]


async def test_lists_of_stars_ups_labels_categories_and_feeds(library: Library) -> None:
    anna = await library.person()
    category = await library.service.sources.create_category(anna, "Science")
    inside, outside = await library.feed(anna, category_id=category.id), await library.feed(anna)
    starred, up, plain = [await library.entry(inside), await library.entry(outside), await library.entry(outside)]
    await library.service.states.star(anna, starred)
    await library.service.states.prefer(anna, up, Preference.UP)
    labels = await library.service.states.set_labels(anna, plain, ["Later", "Later", "Now"])
    entries = library.service.reading.load_entries
    assert ids(await entries(anna, Selection(ListKind.STARRED))) == [starred]
    assert ids(await entries(anna, Selection(ListKind.UP))) == [up]
    assert ids(await entries(anna, Selection(ListKind.LABEL, labels[0].id))) == [plain]
    assert ids(await entries(anna, Selection(ListKind.CATEGORY, category.id))) == [starred]
    assert ids(await entries(anna, Selection(ListKind.FEED, outside))) == [plain, up]
    await library.service.states.set_labels(anna, plain, ["Now"])
    assert ids(await entries(anna, Selection(ListKind.LABEL, labels[0].id))) == []
    for kind, foreign in ((ListKind.LABEL, 99), (ListKind.CATEGORY, 99), (ListKind.FEED, 99)):
        with pytest.raises(NotFoundError):
            await entries(anna, Selection(kind, foreign))
    with pytest.raises(InvalidInputError):
        await entries(anna, Selection(ListKind.FEED))


async def test_all_read_leaves_later_arrivals_unread_and_can_be_taken_back(library: Library) -> None:
    anna = await library.person()
    feed, other = await library.feed(anna), await library.feed(anna)
    before = await library.entry(feed)
    already = await library.entry(feed)
    await library.service.states.mark_read(anna, [already])
    elsewhere = await library.entry(other)
    library.now = NOW + timedelta(minutes=5)
    arrived = await library.entry(feed, seen=NOW + timedelta(minutes=1))
    chosen = Selection(ListKind.FEED, feed)
    done = await library.service.states.mark_all_read(anna, chosen, until=NOW)
    assert (done.count, done.stamp) == (1, library.now)
    assert set(ids(await library.service.reading.load_entries(anna, UNREAD))) == {arrived, elsewhere}
    assert (await library.service.sources.feed(anna, feed)).unread == 1
    assert done.stamp is not None
    assert await library.service.states.undo_all_read(anna, done.stamp) == 1
    assert set(ids(await library.service.reading.load_entries(anna, UNREAD))) == {arrived, elsewhere, before}
    nothing = await library.service.states.mark_all_read(anna, chosen, until=NOW - timedelta(days=1))
    assert (nothing.count, nothing.stamp) == (0, None)


async def test_recommended_follows_what_was_marked_up(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feed = await library.feed(anna, bert)
    sport = [await library.entry(feed, vector=(1, number / 10)) for number in range(3)]
    music = [await library.entry(feed, vector=(number / 10, 1)) for number in range(3)]
    bare = await library.entry(feed)
    await library.entry(feed, vector=(1, 0, 0), model="another model")
    recommended = Selection(sort=Sort.RECOMMENDED)
    page = await library.service.reading.load_entries(anna, recommended)
    assert (page.note, page.sort) == (ListNote.NOTHING_MARKED_UP, Sort.NEWEST)
    await library.service.states.prefer(anna, bare, Preference.UP)
    page = await library.service.reading.load_entries(anna, recommended)
    assert page.note is ListNote.NO_VECTORS
    await library.service.states.prefer(anna, sport[0], Preference.UP)
    found = await whole(library, anna, recommended, 2)
    assert found[:5] == [*sport[1:], *reversed(music)]
    assert found[-2:] == [sport[0], bare]
    assert len(found) == len(set(found)) == 8
    await library.service.states.prefer(bert, music[0], Preference.UP)
    assert ids(await library.service.reading.load_entries(bert, recommended))[:2] == music[1:]


async def test_related_entries_are_other_stories_near_in_meaning_in_feeds_of_ones_own(library: Library) -> None:
    anna = await library.person()
    feed, foreign = await library.feed(anna), await library.feed(await library.person())
    one = await library.entry(feed, vector=(1, 0), story="one")
    await library.entry(await library.feed(anna), vector=(1, 0), story="one")
    near = await library.entry(feed, vector=(1, 0.1), story="two")
    await library.entry(await library.feed(anna), vector=(1, 0.2), story="two")
    far = await library.entry(feed, vector=(0, 1))
    await library.entry(foreign, vector=(1, 0))
    await library.entry(feed, vector=(1, 0), model="another model")
    bare = await library.entry(feed)
    assert [item.id for item in await library.service.reading.load_related(anna, one)] == [near, far]
    assert await library.service.reading.load_related(anna, bare) == []


async def test_an_article_has_its_body_sources_and_neighbours(library: Library) -> None:
    anna = await library.person()
    feed = await library.feed(anna, title="News")
    oldest = await library.entry(feed, at=NOW - timedelta(hours=2))
    middle = await library.entry(feed, "Middle", at=NOW - timedelta(hours=1), body="<p>Long text.</p>")
    newest = await library.entry(feed, fetch=FetchState.WAITING, body="")
    article = await library.service.reading.load_article(anna, middle, Selection())
    assert (article.body_html, article.from_feed) == ("<p>Long text.</p>", False)
    assert (article.previous_id, article.next_id) == (newest, oldest)
    turned = await library.service.reading.load_article(anna, middle, Selection(sort=Sort.OLDEST))
    assert (turned.previous_id, turned.next_id) == (oldest, newest)
    waiting = await library.service.reading.load_article(anna, newest)
    assert (waiting.body_html, waiting.from_feed) == ("<p>Fed.</p>", True)


async def test_a_search_looks_in_ones_own_feeds_and_brings_ones_own_states(library: Library) -> None:
    anna = await library.person()
    feed, foreign = await library.feed(anna), await library.feed(await library.person())
    found, hidden = await library.entry(feed), await library.entry(foreign)
    gone = 10_000
    library.index.hits = [hidden, found, gone]
    await library.service.states.star(anna, found)
    page = await library.service.reading.load_entries(anna, Selection(query="  big   fire ", sort=Sort.RELEVANCE))
    assert [(item.id, item.starred, item.title_html) for item in page.items] == [(found, True, "<mark>big fire</mark>")]
    assert library.index.asked == [("big fire", (feed,), False)]
    nobody = await library.person()
    assert (await library.service.reading.load_entries(nobody, Selection(query="fire"))).total == 0
    await library.service.states.mark_read(anna, [found])
    assert ids(await library.service.reading.load_entries(anna, Selection(ListKind.UNREAD, query="fire"))) == []


async def test_a_search_lists_one_story_once_and_names_the_others(library: Library) -> None:
    anna = await library.person()
    one, two, three = [await library.feed(anna) for _ in range(3)]
    first = await library.entry(one, story="fire")
    between = await library.entry(one)
    copy = await library.entry(two, story="fire")
    moved, same_text, other_title = [
        await library.entry(feed, title) for feed, title in ((one, "A flood"), (three, "A Flood"), (two, "Comments"))
    ]
    async with library.resources.database.unit_of_work() as work:
        same = EntryRow.id.in_([moved, same_text, other_title])
        await work.session.execute(update(EntryRow).where(same).values(content_hash="the same"))
    library.index.hits = [copy, between, first, same_text, other_title, moved]
    reading = library.service.reading
    page = await reading.load_entries(anna, Selection(query="fire"))
    assert ids(page) == [copy, between, same_text, other_title]
    assert [[other.entry_id for other in item.others] for item in page.items] == [[first], [], [moved], []]
    assert page.total == 4
    assert await whole(library, anna, Selection(query="fire"), 1) == ids(page), "copies on later pages are folded too"


async def test_a_search_lists_an_agency_s_text_once_however_papers_cut_it(library: Library) -> None:
    anna = await library.person()
    one, two = [await library.feed(anna) for _ in range(2)]
    title = "Ferry to the northern islands runs aground in fog"
    first = await library.entry(one, title, body="<p>All of it.</p>")
    cut = await library.entry(two, title.upper(), body="<p>A part.</p>")
    next_week = await library.entry(two, title, at=NOW + timedelta(days=7))
    letters = [await library.entry(feed, "Letters") for feed in (one, two)]
    library.index.hits = [first, *letters, cut, next_week]
    page = await library.service.reading.load_entries(anna, Selection(query="ferry"))
    assert ids(page) == [first, *letters, next_week]
    assert [other.entry_id for other in page.items[0].others] == [cut]


async def test_the_top_line_lists_an_agency_s_text_once_too(library: Library) -> None:
    anna = await library.person()
    one, two = [await library.feed(anna) for _ in range(2)]
    title = "Ferry to the northern islands runs aground in fog"
    entries = [await library.entry(one, title, body="<p>All of it.</p>"), await library.entry(two, title)]
    documents = await SqlIndexStore(library.database).load_documents(entries)
    await index_writer(library.resources).add(documents)
    (found,) = await find_articles(library.resources, Viewer(user_id=anna), "ferry", 5)
    assert (found.title, found.path) in {(title, f"/reader/entries/{entry}") for entry in entries}


@pytest.mark.parametrize("cursor", ["nonsense", "1.2.3.4", "-", "9" * 40 + ".1", "1.x", "x.1.2"])
async def test_a_cursor_that_is_none_is_refused(library: Library, cursor: str) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    await library.service.states.prefer(anna, await library.entry(feed, vector=(1, 0)), Preference.UP)
    for selection in (Selection(), Selection(sort=Sort.RECOMMENDED), Selection(query="fire")):
        with pytest.raises(InvalidInputError):
            await library.service.reading.load_entries(anna, selection, after=cursor)


async def test_a_search_inside_a_list_counts_what_it_shows(library: Library) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    made = [await library.entry(feed) for _ in range(5)]
    states, reading = library.service.states, library.service.reading
    (label,) = await states.set_labels(anna, made[0], ["Later"])
    await states.star(anna, made[1])
    await states.mark_read(anna, made[:3], read=True)
    library.index.hits = made
    for selection, expected in [
        (Selection(ListKind.LABEL, label.id, query="word"), made[:1]),
        (Selection(ListKind.STARRED, query="word"), [made[1]]),
        (Selection(ListKind.ALL, unread_only=True, query="word"), made[3:]),
        (Selection(ListKind.FEED, feed, query="word"), made),
    ]:
        page = await reading.load_entries(anna, selection, limit=1)
        assert (page.total, ids(page)) == (len(expected), expected[:1])
        assert await whole(library, anna, selection, 2) == expected
