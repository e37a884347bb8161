"""What one crawl leaves in the database, whatever the feed says."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, select, update

from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.db.migrate import upgrade
from pressbox.core.db.versions import MIGRATIONS
from pressbox.core.errors import NotFoundError
from pressbox.curator.feeds.domain import Crawl, FeedEntry, Validators
from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.feeds.parser import parse_feed
from pressbox.curator.ingest.edits import Change, Edit
from pressbox.curator.ingest.feed_store import ERRORS_KEPT, SqlFeeds
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, Distilled, DistilState, Enclosure, FetchState
from pressbox.curator.library.rows import EntryRow, FeedErrorRow, FeedRow, SeenGuidRow, StoryRow
from pressbox.curator.sources.store import SqlSubscriptions
from tests.fakes.curator_rows import NOW, POLICY, ComparerHere, Rows, entry, read
from tests.statements import count_statements

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


async def test_two_people_share_an_instance_and_a_feed_is_stored_once(rows: Rows) -> None:
    anna, ben = await rows.user(), await rows.user()
    feed = await rows.feed(anna, ben)
    stored = await rows.crawl(feed, read(entry(1), entry(2)))
    assert (stored.outcome, stored.created, stored.updated) == (CrawlOutcome.NEW, 2, 0)
    first, _ = await rows.ids(feed)
    await rows.do(anna, [first], read_at=NOW)
    assert await rows.unread(anna, feed) == 1
    assert await rows.unread(ben, feed) == 2


async def test_entries_and_validators_come_together(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    assert (await rows.to_crawl(feed)).validators == Validators("first", "then", "hash of first")
    state = await rows.state(feed)
    assert state.outcome == CrawlOutcome.NEW
    assert state.last_new_at == state.last_success_at == NOW
    assert state.next_crawl_at is not None
    assert state.next_crawl_at > NOW
    described = await rows.one(FeedRow, feed)
    assert (described.title, described.site_url) == ("The News", "https://news.example.org/")


async def test_a_crash_before_the_commit_leaves_neither_entries_nor_validators(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await rows.feed(await rows.user())

    async def crash(*_: object) -> None:
        raise ConnectionError

    monkeypatch.setattr("pressbox.core.db.database.UnitOfWork.write_changes", crash)
    with pytest.raises(ConnectionError):
        await rows.crawl(feed, read(entry(1)))
    monkeypatch.undo()
    assert await rows.ids(feed) == []
    assert (await rows.to_crawl(feed)).validators == Validators()
    assert (await rows.crawl(feed, read(entry(1)))).created == 1


@pytest.mark.parametrize("together", [True, False])
async def test_not_modified_keeps_validators(rows: Rows, together: bool) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    asked = await rows.to_crawl(feed)
    unchanged = Crawl(CrawlOutcome.UNCHANGED, status=304)
    if together:
        await rows.feeds.store_unchanged([(asked, unchanged)], POLICY, LATER)
    else:
        assert (await rows.feeds.store_crawl(asked, unchanged, POLICY, LATER)).created == 0
    assert (await rows.to_crawl(feed)).validators == asked.validators
    state = await rows.state(feed)
    assert (state.outcome, state.status, state.last_success_at, state.last_new_at) == (
        CrawlOutcome.UNCHANGED,
        304,
        LATER,
        NOW,
    )
    assert state.next_crawl_at is not None
    assert state.next_crawl_at > LATER


@pytest.mark.parametrize("together", [True, False])
async def test_the_same_bytes_under_a_new_etag_keep_the_new_one(rows: Rows, together: bool) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    asked = await rows.to_crawl(feed)
    same = Crawl(CrawlOutcome.UNCHANGED, validators=replace(asked.validators, etag="second"), status=200)
    if together:
        await rows.feeds.store_unchanged([(asked, same)], POLICY, LATER)
    else:
        await rows.feeds.store_crawl(asked, same, POLICY, LATER)
    assert (await rows.to_crawl(feed)).validators == Validators("second", "then", "hash of first")


async def test_an_answer_that_is_overtaken_does_not_bring_old_validators_back(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    asked = await rows.to_crawl(feed)
    await rows.crawl(feed, read(entry(1), entry(2), etag="second"))
    await rows.feeds.store_unchanged(
        [(asked, Crawl(CrawlOutcome.UNCHANGED, validators=asked.validators))], POLICY, LATER
    )
    assert (await rows.to_crawl(feed)).validators.etag == "second"


async def test_a_failure_keeps_what_was_known_and_is_kept_itself(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    before = await rows.state(feed)
    failed = Crawl(CrawlOutcome.SERVER_ERROR, reason="The server answered 500.", status=500)
    for number in range(2):
        assert (await rows.crawl(feed, failed, LATER + timedelta(minutes=number))).outcome.failed
    state = await rows.state(feed)
    assert (state.failures, state.reason, state.status) == (2, "The server answered 500.", 500)
    assert (state.etag, state.last_new_at, state.last_success_at) == (before.etag, NOW, NOW)
    assert state.interval_seconds == before.interval_seconds
    assert len(await rows.ids(feed)) == 1
    errors = await rows.all(select(FeedErrorRow).where(FeedErrorRow.feed_id == feed))
    assert [error.status for error in errors] == [500, 500]
    await rows.feeds.store_unchanged(
        [(await rows.to_crawl(feed), Crawl(CrawlOutcome.UNCHANGED))], POLICY, LATER + timedelta(hours=1)
    )
    assert ((await rows.state(feed)).failures, (await rows.state(feed)).reason) == (0, "")


async def test_only_the_last_failures_of_a_feed_are_kept(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    for number in range(ERRORS_KEPT + 3):
        await rows.crawl(feed, Crawl(CrawlOutcome.UNREACHABLE, reason=str(number)), NOW + timedelta(minutes=number))
    kept = await rows.all(select(FeedErrorRow.reason).order_by(FeedErrorRow.at))
    assert (len(kept), kept[0], kept[-1]) == (ERRORS_KEPT, "3", str(ERRORS_KEPT + 2))


async def test_a_feed_that_is_gone_is_never_due_until_somebody_says_so(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, Crawl(CrawlOutcome.GONE, reason="410", status=410))
    assert (await rows.state(feed)).next_crawl_at is None
    far = NOW + timedelta(days=1000)
    assert (await rows.feeds.list_due(0, 10, far, only_due=True)).feed_ids == ()
    assert (await rows.feeds.list_due(0, 10, far, only_due=False)).feed_ids == ()


async def test_only_due_feeds_with_readers_are_listed_page_by_page(rows: Rows) -> None:
    anna = await rows.user()
    new, soon, later = [await rows.feed(anna) for _ in range(3)]
    await rows.feed(anna, paused_at=NOW)
    await rows.feed()
    for feed in (soon, later):
        await rows.crawl(feed, read(entry(1)))
    due = (await rows.state(soon)).next_crawl_at
    assert due is not None
    async with rows.database.unit_of_work() as work:
        (await work.session.get_one(FeedRow, later)).title = "Later"
    await rows.crawl(later, Crawl(CrawlOutcome.RATE_LIMITED, not_before=due + timedelta(hours=3)), NOW)
    page = await rows.feeds.list_due(0, 1, due, only_due=True)
    assert (page.feed_ids, page.total, page.more) == ((new,), 2, True)
    page = await rows.feeds.list_due(new, 1, due, only_due=True)
    assert (page.feed_ids, page.more) == ((soon,), False)
    # Who refreshes all does not disturb a site that asked for a pause; when that is over, it is asked again.
    assert (await rows.feeds.list_due(0, 10, due, only_due=False)).feed_ids == (new, soon)
    after = due + timedelta(days=3)
    assert (await rows.feeds.list_due(0, 10, after, only_due=False)).feed_ids == (new, soon, later)


async def test_the_newest_entry_of_a_crawl_has_the_highest_id(rows: Rows) -> None:
    """Reader apps ask for the newest twenty by their ids."""
    dated = await rows.feed(await rows.user())
    entries = [replace(entry(number), published_at=NOW - timedelta(hours=number)) for number in (2, 1, 3)]
    await rows.crawl(dated, read(*entries))
    stored = await rows.all(select(EntryRow.guid).where(EntryRow.feed_id == dated).order_by(EntryRow.id))
    assert list(stored) == [entry(3).guid, entry(2).guid, entry(1).guid]
    undated = await rows.feed(await rows.user())
    await rows.crawl(undated, read(*(replace(entry(number), published_at=None) for number in (1, 2, 3))))
    stored = await rows.all(select(EntryRow.guid).where(EntryRow.feed_id == undated).order_by(EntryRow.id))
    assert list(stored) == [entry(3).guid, entry(2).guid, entry(1).guid], "the document begins with the newest"


async def test_the_same_guid_twice_is_one_entry_and_does_not_flicker(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    twice = read(entry(1, title="First"), entry(1, title="Second"))
    assert (await rows.crawl(feed, twice)).created == 1
    again = await rows.crawl(feed, twice, LATER)
    assert (again.created, again.updated) == (0, 0)
    assert [row.title for row in await rows.of_feed(feed)] == ["First"]


async def test_entries_without_date_and_link_or_with_odd_guids_stay_the_same(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    bare = read(
        entry(1, guid="https://news.example.org/a", published_at=None, url="https://news.example.org/a?utm_source=rss"),
        entry(2, guid="two", published_at=None, url=""),
        entry(3, guid="three", published_at=None, url="", title=""),
        entry(4, guid="x" * 5000),
        entry(5, guid="nul\x00 and half \ud800", title="nul\x00"),
    )
    assert (await rows.crawl(feed, bare)).created == 5
    again = await rows.crawl(feed, bare, LATER)
    assert (again.created, again.updated) == (0, 0)
    found = {row.guid: row for row in await rows.of_feed(feed)}
    linked = found["https://news.example.org/a"]
    assert (linked.published_at, linked.dated) == (NOW, False)
    assert sorted(row.fetch_state for row in found.values()) == ["from feed"] * 2 + ["waiting"] * 3


async def test_an_announcement_does_not_stay_on_top(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1, published_at=NOW + timedelta(days=1))))
    assert [row.published_at for row in await rows.of_feed(feed)] == [NOW]


async def test_only_the_newest_entries_of_a_long_feed_are_taken(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    long = read(*(entry(number) for number in reversed(range(10, 16))))
    policy = CuratorPolicy(entries_per_crawl=3)
    assert (await rows.crawl(feed, long, policy=policy)).created == 3
    assert [row.guid for row in await rows.of_feed(feed)] == ["guid-10", "guid-11", "guid-12"]
    own = await rows.feed(await rows.user(), entry_limit=2)
    assert (await rows.crawl(own, long, policy=policy)).created == 2


async def test_what_is_fetched_and_what_is_not(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    file = Enclosure("https://news.example.org/talk.mp3", "audio/mpeg", 12)
    await rows.crawl(
        feed,
        read(
            entry(1),
            entry(2, url="https://www.youtube.com/watch?v=abc"),
            entry(3, url="", enclosures=(file,)),
            entry(4, url=file.url, enclosures=(file,), content=""),
            entry(5, url=""),
            entry(6, url="", content=""),
        ),
    )
    states = [(row.fetch_state, row.distil_state) for row in await rows.of_feed(feed)]
    assert states == [
        (FetchState.WAITING, DistilState.WAITING),
        (FetchState.SKIPPED, DistilState.WAITING),
        (FetchState.SKIPPED, DistilState.WAITING),
        (FetchState.SKIPPED, DistilState.NOTHING),
        (FetchState.FROM_FEED, DistilState.WAITING),
        (FetchState.FROM_FEED, DistilState.NOTHING),
    ]
    assert (await rows.fetches.select_to_fetch(feed, POLICY, NOW)).skipped == 3
    without_pages = await rows.feed(await rows.user(), full_text=False)
    await rows.crawl(without_pages, read(entry(1)))
    (row,) = await rows.of_feed(without_pages)
    assert row.fetch_state == FetchState.FROM_FEED
    assert (await rows.body(row.id)).filtered_content == "What the feed says of the article with the name b1."


async def test_an_edited_entry_changes_in_place_and_is_done_again(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), full_text=False)
    await rows.crawl(feed, read(entry(1), entry(2)))
    first, second = await rows.ids(feed)
    await distil(rows, first, second)
    edited = read(entry(1, title="A better title", content="<p>Other words.</p>"), entry(2))
    assert (await rows.crawl(feed, edited, LATER)).updated == 1
    changed, untouched = await rows.of_feed(feed)
    assert (changed.id, changed.title, changed.updated_at) == (first, "A better title", LATER)
    assert changed.published_at == NOW - timedelta(hours=1)
    assert changed.distil_state == DistilState.WAITING
    assert untouched.distil_state == DistilState.DISTILLED
    assert (await rows.body(first)).filtered_content == "Other words."
    assert list(await rows.documents.unindexed_ids(10)) == [first]


async def test_an_edited_entry_is_fetched_again_and_distilled_only_when_its_article_changed(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    (number,) = await rows.ids(feed)
    await rows.fetched(number, "The whole article.")
    await distil(rows, number)
    await rows.crawl(feed, read(entry(1, content="<p>A new teaser.</p>")), LATER)
    (row,) = await rows.of_feed(feed)
    assert (row.fetch_state, row.distil_state) == (FetchState.WAITING, DistilState.DISTILLED)
    assert (await rows.body(number)).filtered_content == "The whole article."
    assert await rows.fetched(number, "The whole article.", LATER) is False
    assert (await rows.of_feed(feed))[0].distil_state == DistilState.DISTILLED
    await rows.crawl(feed, read(entry(1, content="<p>A third teaser.</p>")), LATER)
    assert await rows.fetched(number, "The whole article, corrected.", LATER) is True
    assert (await rows.of_feed(feed))[0].distil_state == DistilState.WAITING


async def test_a_feed_that_counts_comments_does_not_fetch_again(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1, content="<p>Comments: 9</p>")))
    (number,) = await rows.ids(feed)
    await rows.fetched(number, "The whole article.")
    assert (await rows.crawl(feed, read(entry(1, content="<p>Comments: 12</p>")), LATER)).updated == 1
    (row,) = await rows.of_feed(feed)
    assert row.fetch_state == FetchState.FETCHED
    assert (await rows.body(number)).feed_content == "<p>Comments: 12</p>"


async def test_a_corrected_figure_reaches_text_summary_search_vectors_and_graph(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), full_text=False)
    await rows.crawl(feed, read(entry(1, content="<p>The storm left 3 people without a roof.</p>")))
    (number,) = await rows.ids(feed)
    await distil(rows, number)
    (row,) = await rows.of_feed(feed)
    await rows.documents.mark_indexed({number: row.shown_hash})
    await rows.embeddings.save_embeddings("vectors", {number: [0.0] * 8})
    corrected = read(entry(1, content="<p>The storm left 5 people without a roof.</p>"))
    assert (await rows.crawl(feed, corrected, LATER)).updated == 1
    (changed,) = await rows.of_feed(feed)
    assert (await rows.body(number)).filtered_content == "The storm left 5 people without a roof."
    assert changed.distil_state == DistilState.WAITING
    assert list(await rows.documents.unindexed_ids(10)) == [number]
    # Graph, passages of answers and vectors go by these hashes.
    assert changed.content_hash != row.content_hash
    assert changed.graph_hash != changed.content_hash
    await distil(rows, number)
    assert (await rows.embeddings.select_for_embedding("vectors", 0, 10)).entry_ids == (number,)


async def test_a_corrected_figure_that_comes_too_soon_is_found_again_later(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), full_text=False)
    await rows.crawl(feed, read(entry(1, content="<p>3 dead.</p>")))
    corrected = read(entry(1, content="<p>5 dead.</p>"), etag="second")
    assert (await rows.crawl(feed, corrected, NOW + timedelta(minutes=5))).updated == 0
    (row,) = await rows.of_feed(feed)
    assert (await rows.body(row.id)).filtered_content == "3 dead."
    # With these the site would answer "not modified" from now on.
    assert (await rows.to_crawl(feed)).validators == Validators()
    assert (await rows.crawl(feed, corrected, LATER)).updated == 1
    assert (await rows.body(row.id)).filtered_content == "5 dead."
    assert (await rows.to_crawl(feed)).validators == corrected.validators


async def test_texts_are_compared_before_anything_is_locked(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), full_text=False)
    await rows.crawl(feed, read(entry(1, content="<p>3 dead.</p>")))
    compared: list[Change] = []

    class Watching:
        async def compare(self, changes: tuple[Change, ...]) -> list[Edit]:
            async with rows.database.unit_of_work() as work:
                await work.session.execute(select(FeedRow).where(FeedRow.id == feed).with_for_update(nowait=True))
                await work.session.execute(
                    select(EntryRow).where(EntryRow.feed_id == feed).with_for_update(nowait=True)
                )
            compared.extend(changes)
            return [Edit.WORDS] * len(changes)

    rows.feeds = SqlFeeds(rows.database, Watching())
    assert (await rows.crawl(feed, read(entry(1, content="<p>5 dead.</p>")), NOW)).updated == 1
    assert [change.before.html for change in compared] == ["<p>3 dead.</p>"]


async def test_what_another_crawl_wrote_during_the_comparison_counts_as_edited(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), full_text=False)
    await rows.crawl(feed, read(entry(1, content="<p>3 dead.</p>")))

    class Overtaken:
        async def compare(self, changes: tuple[Change, ...]) -> list[Edit]:
            rows.feeds = SqlFeeds(rows.database, ComparerHere())
            await rows.crawl(feed, read(entry(1, content="<p>4 dead and many hurt.</p>")), NOW)
            return [Edit.FIGURES] * len(changes)

    rows.feeds = SqlFeeds(rows.database, Overtaken())
    assert (await rows.crawl(feed, read(entry(1, content="<p>5 dead.</p>")), NOW)).updated == 1
    (row,) = await rows.of_feed(feed)
    assert (await rows.body(row.id)).filtered_content == "5 dead."


async def test_what_was_cleaned_up_does_not_come_back(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.add(SeenGuidRow(feed_id=feed, guid="guid-1"))
    assert (await rows.crawl(feed, read(entry(1), entry(2)))).created == 1
    assert [row.guid for row in await rows.of_feed(feed)] == ["guid-2"]


async def test_the_same_article_in_several_feeds_is_one_story(rows: Rows) -> None:
    anna = await rows.user()
    one, other = await rows.feed(anna), await rows.feed(anna)
    await rows.crawl(one, read(entry(1), entry(2)))
    await rows.crawl(other, read(entry(1, guid="another", url="http://news.example.org/article/1?utm_source=x#top")))
    (same, different), (copy,) = await rows.of_feed(one), await rows.of_feed(other)
    assert same.story_id == copy.story_id is not None
    assert different.story_id not in (None, same.story_id)
    assert len(await rows.all(select(StoryRow))) == 2


async def test_an_address_that_a_whole_feed_shares_is_no_story(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    show = "https://news.example.org/the-show"
    home = "https://news.example.org/"
    await rows.crawl(feed, read(entry(1, url=show), entry(2, url=show), entry(3, url=home)))
    assert [row.story_id for row in await rows.of_feed(feed)] == [None, None, None]


async def test_pages_hear_of_news_and_failures_but_not_of_nothing_new(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    asked = await rows.to_crawl(feed)
    await rows.feeds.store_unchanged([(asked, Crawl(CrawlOutcome.UNCHANGED))], POLICY, LATER)
    kinds = await rows.all(select(ChangeRow.kind).where(ChangeRow.key == str(feed)))
    assert kinds == ["curator.feed"]
    await rows.crawl(feed, Crawl(CrawlOutcome.NOT_FOUND, reason="404"), LATER)
    assert len(await rows.all(select(ChangeRow.kind))) == 2


async def test_a_hundred_unchanged_feeds_cost_few_statements(rows: Rows) -> None:
    anna = await rows.user()
    feeds = [await rows.feed(anna) for _ in range(100)]
    for feed in feeds:
        await rows.crawl(feed, Crawl(CrawlOutcome.NEW, parsed=read().parsed))
    with count_statements(rows.database) as statements:
        asked = await rows.feeds.load_to_crawl(feeds)
        await rows.feeds.store_unchanged([(feed, Crawl(CrawlOutcome.UNCHANGED)) for feed in asked], POLICY, LATER)
        assert await rows.feeds.find_with_work(feeds, LATER) == []
    assert len(statements) <= 4


async def test_a_hundred_new_and_edited_entries_cost_as_few_statements_as_two(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(*(entry(number) for number in range(102))), policy=CuratorPolicy(unread_at_start=200))
    costs = []
    for known, new, number in ((0, 200, 2), (2, 300, 100)):
        changed = [entry(one, title="Edited") for one in range(known, known + number)]
        added = [entry(one) for one in range(new, new + number)]
        asked = await rows.to_crawl(feed)
        with count_statements(rows.database) as statements:
            stored = await rows.feeds.store_crawl(asked, read(*changed, *added), POLICY, LATER)
        assert (stored.created, stored.updated) == (number, number)
        costs.append(len(statements))
    assert costs[0] == costs[1]


async def test_a_feed_that_left_meanwhile_is_no_error(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    asked = await rows.to_crawl(feed)
    async with rows.database.unit_of_work() as work:
        await work.session.delete(await work.session.get_one(FeedRow, feed))
    assert (await rows.feeds.store_crawl(asked, read(entry(1)), POLICY, NOW)).created == 0
    await rows.feeds.store_unchanged([(asked, Crawl(CrawlOutcome.UNCHANGED))], POLICY, NOW)
    with pytest.raises(NotFoundError):
        await rows.feeds.load_name(feed)


async def test_two_crawls_of_one_feed_at_the_same_time_store_its_entries_once(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    asked = await rows.to_crawl(feed)
    found = read(*(entry(number) for number in range(20)))
    stored = await asyncio.gather(*(rows.feeds.store_crawl(asked, found, POLICY, NOW) for _ in range(3)))
    assert sum(one.created for one in stored) == 20
    assert await rows.unread(anna, feed) == POLICY.unread_at_start


async def distil(rows: Rows, *entry_ids: int) -> None:
    waiting = await rows.summaries.to_distil(entry_ids)
    answers = [
        Distilled(one.entry_id, "In short.", 0, 0, "en", "model", "1", content_hash=one.content_hash) for one in waiting
    ]
    assert await rows.summaries.save_distilled(answers, NOW) == sorted(entry_ids)
    documents = await rows.documents.load_documents(entry_ids)
    await rows.documents.mark_indexed({document.entry_id: document.shown_hash for document in documents})


def parse(document: str) -> Crawl:
    found = parse_feed(document.encode(), "application/rss+xml", "https://news.example.org/feed", now=NOW)
    return read(*found.entries)


def rss(*items: tuple[str, str]) -> str:
    """A feed without guids."""
    told = "".join(f"<item><title>{title}</title><link>{link}</link></item>" for title, link in items)
    return f"<rss><channel><title>The News</title>{told}</channel></rss>"


NOTES = "https://news.example.org/notes"


async def test_release_notes_of_later_crawls_are_not_taken_for_read(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, parse(rss(("May 4", f"{NOTES}#May_04"))))
    await rows.do(anna, await rows.ids(feed), read_at=NOW)
    for _ in range(2):
        await rows.crawl(feed, parse(rss(("May 5", f"{NOTES}#May_05"), ("May 4", f"{NOTES}#May_04"))))
    assert sorted(row.title for row in await rows.of_feed(feed)) == ["May 4", "May 5"]
    assert await rows.unread(anna, feed) == 1


async def test_entries_with_guids_at_one_address_are_not_taken_for_read(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(entry(1, url=NOTES)))
    await rows.do(anna, await rows.ids(feed), read_at=NOW)
    await rows.crawl(feed, read(entry(2, url=NOTES)))
    assert await rows.unread(anna, feed) == 1


async def test_an_article_that_comes_again_under_another_guid_stays_read(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(entry(1)))
    await rows.do(anna, await rows.ids(feed), read_at=NOW)
    await rows.crawl(feed, read(entry(1, guid="another")))
    assert await rows.unread(anna, feed) == 0


async def test_entries_without_guid_that_share_a_link_come_once_each(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    created = []
    for titles in (["One"], ["Two", "One"], ["Two", "One"], ["Three", "Two"], ["Two"]):
        created.append((await rows.crawl(feed, parse(rss(*((title, NOTES) for title in titles))))).created)
    assert created == [1, 1, 0, 1, 0]
    assert sorted(row.title for row in await rows.of_feed(feed)) == ["One", "Three", "Two"]


async def test_what_was_stored_without_its_fragment_is_kept_and_not_doubled(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(FeedEntry(NOTES, f"{NOTES}#May_04", "May 4")))
    (stored,) = await rows.ids(feed)
    await rows.do(anna, [stored], starred_at=NOW)
    crawl = parse(rss(("May 5", f"{NOTES}#May_05"), ("May 4", f"{NOTES}#May_04")))
    assert (await rows.crawl(feed, crawl)).created == 1
    assert {row.id: row.guid for row in await rows.of_feed(feed)}[stored] == f"{NOTES}#May_04"


async def test_notes_that_older_versions_took_for_one_story_are_parted(rows: Rows, database_url: str) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1, url=f"{NOTES}#May_04"), entry(2, url=f"{NOTES}#May_05"), entry(3)))
    story = await rows.add(StoryRow(canonical_url=NOTES))
    merged = update(EntryRow).where(EntryRow.feed_id == feed, EntryRow.url.startswith(NOTES))
    async with rows.database.unit_of_work() as work:
        await work.session.execute(merged.values(story_id=story.id, canonical_url=NOTES))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    (sections,) = [one for one in ScriptDirectory.from_config(config).walk_revisions() if "entry_sections" in one.path]

    def go_back(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.downgrade(config, str(sections.down_revision))

    async with rows.database.engine.connect() as connection:
        await connection.run_sync(go_back)
        await connection.commit()
    upgrade(database_url)
    found = await rows.of_feed(feed)
    assert [row.canonical_url for row in found[:2]] == [f"{NOTES}#May_04", f"{NOTES}#May_05"]
    assert [row.story_id is None for row in found] == [True, True, False]
    assert await rows.one(StoryRow, story.id) is None


async def test_of_a_new_feed_the_newest_are_unread_and_fetched_and_the_backlog_is_not(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(*(entry(number) for number in range(1, 31))))
    assert await rows.unread(anna, feed) == POLICY.unread_at_start
    waiting = {row.title for row in await rows.of_feed(feed) if row.fetch_state == FetchState.WAITING}
    assert waiting == {f"Article {number}" for number in range(1, 11)}
    await rows.crawl(feed, read(*(entry(number, published_at=LATER) for number in range(31, 51))), LATER)
    assert await rows.unread(anna, feed) == POLICY.unread_at_start + 20


async def test_a_new_reader_of_an_old_feed_gets_its_newest_entries_unread(rows: Rows) -> None:
    anna, ben = await rows.user(), await rows.user()
    feed = await rows.feed(anna, url="https://old.example.org/feed")
    await rows.crawl(feed, read(entry(100)))
    await rows.crawl(feed, read(*(entry(number) for number in range(1, 31))))
    await SqlSubscriptions(rows.database, 3).subscribe(ben, OutlineFeed("https://old.example.org/feed"), None, NOW)
    assert (await rows.unread(anna, feed), await rows.unread(ben, feed)) == (31, 3)


async def test_not_modified_does_not_count_as_reading_the_feed(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    asked = await rows.to_crawl(feed)
    same = Crawl(CrawlOutcome.UNCHANGED, validators=asked.validators, status=304)
    await rows.feeds.store_unchanged([(asked, same)], POLICY, LATER)
    assert (await rows.to_crawl(feed)).last_read_at == NOW
    await rows.feeds.store_unchanged([(asked, replace(same, status=200))], POLICY, LATER)
    assert (await rows.to_crawl(feed)).last_read_at == LATER


async def test_refresh_asks_for_the_whole_feed(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(entry(1)))
    await SqlSubscriptions(rows.database).make_due(anna, feed, LATER)
    assert (await rows.to_crawl(feed)).validators == Validators()


async def test_a_feed_that_waits_for_the_turn_of_its_host_has_not_failed(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1)))
    turn = LATER + timedelta(minutes=20)
    await rows.crawl(feed, Crawl(CrawlOutcome.UNCHANGED, not_before=turn, postponed=True), LATER)
    state = await rows.state(feed)
    assert (state.next_crawl_at, state.failures, state.last_success_at) == (turn, 0, NOW)
