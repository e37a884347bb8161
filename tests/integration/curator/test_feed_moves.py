"""A feed that moved for good: its readers follow, and nothing of it reaches a feed that other people read."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.curator.feeds.domain import Crawl, Validators
from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.library.domain import MOVED, CrawlOutcome
from pressbox.curator.library.rows import (
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    FeedErrorRow,
    FeedRow,
    SeenGuidRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import visible_to
from pressbox.curator.sources.store import SqlSubscriptions
from tests.fakes.curator_rows import NOW, POLICY, Rows, entry, read

OLD_HOME = "https://old.example.org/feed"
NEW_HOME = "https://new.example.org/feed"
LATER = NOW + timedelta(days=30)


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


async def readers(rows: Rows, feed_id: int) -> set[int]:
    return set(await rows.all(select(SubscriptionRow.user_id).where(SubscriptionRow.feed_id == feed_id)))


async def guids(rows: Rows, feed_id: int) -> list[str]:
    return [row.guid for row in await rows.of_feed(feed_id)]


async def seen_by(rows: Rows, user_id: int) -> set[int]:
    return set(await rows.all(select(EntryRow.id).where(visible_to(user_id))))


async def home_of(rows: Rows, url: str) -> int:
    (found,) = await rows.all(select(FeedRow.id).where(FeedRow.url == url))
    return int(found)


@pytest.mark.parametrize("unchanged", [True, False])
async def test_a_stranger_cannot_put_articles_into_a_feed_that_others_read(rows: Rows, unchanged: bool) -> None:
    mallory, anna = await rows.user(), await rows.user()
    evil, trusted = await rows.feed(mallory, url=OLD_HOME), await rows.feed(anna, url=NEW_HOME)
    await rows.crawl(trusted, read(entry(1), etag="trusted"))
    forged = entry(1, title="Forged", content="<p>Send us your money.</p>")
    await rows.crawl(evil, read(forged, entry(2, title="Forged too"), etag="evil"))
    before = await rows.state(trusted)

    moved = Crawl(CrawlOutcome.UNCHANGED, validators=Validators("evil", "", "hash of trusted"), moved_to=NEW_HOME)
    crawl = moved if unchanged else read(entry(2), entry(3, title="Forged as well"), etag="evil", moved_to=NEW_HOME)
    stored = await rows.crawl(evil, crawl)

    assert stored.feed_id == trusted
    assert [(row.guid, row.title) for row in await rows.of_feed(trusted)] == [("guid-1", "Article 1")]
    assert await rows.unread(anna, trusted) == 1
    assert await readers(rows, trusted) == {mallory, anna}
    assert (await rows.one(FeedRow, trusted)).title == "The News"
    after = await rows.state(trusted)
    assert (after.etag, after.content_hash, after.next_crawl_at) == (
        before.etag,
        before.content_hash,
        before.next_crawl_at,
    )


async def test_a_stranger_cannot_prepare_a_feed_that_nobody_reads_yet(rows: Rows) -> None:
    mallory, anna = await rows.user(), await rows.user()
    evil = await rows.feed(mallory, url=OLD_HOME)
    await rows.crawl(evil, read(entry(1, title="Forged")))
    await rows.do(mallory, await rows.ids(evil), starred_at=NOW)
    await rows.add(SeenGuidRow(feed_id=evil, guid="guid-3"))
    await rows.crawl(evil, read(entry(2), entry(3), etag="new", moved_to=NEW_HOME))

    following = await SqlSubscriptions(rows.database).subscribe(anna, OutlineFeed(NEW_HOME), None, NOW)
    assert [row.title for row in await rows.of_feed(following.feed_id)] == ["Article 2", "Article 3"]
    assert await rows.unread(anna, following.feed_id) == 2
    assert not set(await rows.ids(evil)) & await seen_by(rows, anna)
    await rows.crawl(following.feed_id, read(entry(2), entry(3), entry(4), etag="newer"))
    assert await guids(rows, following.feed_id) == ["guid-2", "guid-3", "guid-4"], "nothing counts as cleaned up"


async def test_a_stranger_cannot_mark_what_others_have_not_read(rows: Rows) -> None:
    anna = await rows.user()
    evil, trusted = await rows.feed(anna, url=OLD_HOME), await rows.feed(anna, url=NEW_HOME)
    await rows.crawl(trusted, read(entry(1), etag="trusted"))
    harmless = entry(1, title="Harmless", url="https://evil.example.org/1")
    await rows.crawl(evil, read(harmless, etag="evil"))
    await rows.do(anna, await rows.ids(evil), read_at=NOW)
    await rows.add(SeenGuidRow(feed_id=evil, guid="guid-1"))
    await rows.crawl(evil, read(entry(1), etag="evil 2", moved_to=NEW_HOME))
    assert await rows.unread(anna, trusted) == 1, "she reads both; the one does not speak for the other"


async def test_readers_keep_what_they_starred_noted_and_labelled(rows: Rows) -> None:
    anna, ben = await rows.user(), await rows.user()
    old, new = await rows.feed(anna, url=OLD_HOME), await rows.feed(ben, url=NEW_HOME)
    await rows.crawl(old, read(*(entry(number) for number in range(1, 6))))
    await rows.crawl(new, read(entry(1, title="Another text"), etag="second"))
    ids = await rows.ids(old)
    await rows.do(anna, ids, read_at=NOW)
    await rows.do(anna, ids[:1], starred_at=NOW)
    await rows.do(anna, ids[1:2], note="mine")
    await rows.do(anna, ids[2:3], preference=1)
    await rows.add(EntryLabelRow(label_id=await rows.label(anna), entry_id=ids[3]))
    await rows.crawl(old, read(entry(9), etag="third", moved_to=NEW_HOME))

    assert await readers(rows, new) == {anna, ben}
    assert await readers(rows, old) == set(), "everything was read"
    assert await rows.ids(old) == ids[:4], "what she kept stays, what nobody kept goes"
    assert set(ids[:4]) <= await seen_by(rows, anna)
    assert not set(ids[:4]) & await seen_by(rows, ben)
    (twin,) = await rows.ids(new)
    assert (await rows.one(EntryStateRow, (anna, twin))).starred_at is None, "her star is for another text"
    assert (await rows.one(EntryStateRow, (anna, twin))).read_at == NOW
    assert (await rows.one(FeedRow, old)).moved_to_id == new


async def test_the_very_same_article_takes_its_star_along(rows: Rows) -> None:
    anna = await rows.user()
    old = await rows.feed(anna, url=OLD_HOME)
    await rows.crawl(old, read(entry(1), entry(2)))
    first, second = await rows.ids(old)
    await rows.do(anna, [first], starred_at=NOW, note="mine", read_at=NOW)
    await rows.add(EntryLabelRow(label_id=await rows.label(anna), entry_id=first))
    stored = await rows.crawl(old, read(entry(1), entry(2), entry(3), etag="second", moved_to=NEW_HOME))

    assert (stored.feed_id, stored.created) == (await home_of(rows, NEW_HOME), 3)
    assert await rows.one(FeedRow, old) is None, "nothing is left in it"
    twin, *_ = await rows.ids(stored.feed_id)
    state = await rows.one(EntryStateRow, (anna, twin))
    assert (state.read_at, state.starred_at, state.note) == (NOW, NOW, "mine")
    assert [row.entry_id for row in await rows.all(select(EntryLabelRow))] == [twin]
    assert await rows.unread(anna, stored.feed_id) == await rows.really_unread(anna, stored.feed_id) == 2
    assert set(await rows.documents.removed_ids(10)) == {first, second}


async def test_what_a_person_read_is_not_backlog_at_the_new_address(rows: Rows) -> None:
    anna = await rows.user()
    old, new = await rows.feed(anna, url=OLD_HOME), await rows.feed(anna, url=NEW_HOME)
    posts = [entry(number) for number in range(POLICY.unread_at_start + 5)]
    for feed in (new, old):
        await rows.crawl(feed, read(*posts))
    await rows.do(anna, await rows.ids(old), read_at=NOW)
    await rows.crawl(old, read(*posts, etag="second", moved_to=NEW_HOME))
    at_new_home = select(EntryStateRow.read_at).join(EntryRow).where(EntryRow.feed_id == new)
    assert await rows.all(at_new_home) == [NOW] * len(posts)


async def test_what_is_not_read_yet_stays_until_it_is(rows: Rows) -> None:
    anna = await rows.user()
    old = await rows.feed(anna, url=OLD_HOME)
    await rows.crawl(old, read(entry(1), entry(2)))
    first, _ = await rows.ids(old)
    stored = await rows.crawl(old, read(entry(2), entry(3), etag="second", moved_to=NEW_HOME))

    assert await readers(rows, old) == await readers(rows, stored.feed_id) == {anna}
    assert await rows.ids(old) == [first], "the second one is at the new address"
    left = await rows.one(FeedRow, old)
    assert (left.paused_at, left.moved_to_id) == (NOW, stored.feed_id)
    assert (await rows.state(old)).reason == MOVED
    assert old not in (await rows.feeds.list_due(0, 10, LATER, True)).feed_ids

    await rows.cleanup.clean_up(NOW - timedelta(days=7), False, 100)
    assert await readers(rows, old) == {anna}
    await rows.do(anna, [first], read_at=NOW)
    await rows.cleanup.clean_up(NOW - timedelta(days=7), False, 100)
    assert await rows.one(FeedRow, old) is None
    assert await readers(rows, stored.feed_id) == {anna}


async def test_what_was_cleaned_up_is_not_new_at_the_new_address(rows: Rows) -> None:
    anna = await rows.user()
    old = await rows.feed(anna, url=OLD_HOME)
    await rows.crawl(old, read(entry(1)))
    await rows.do(anna, await rows.ids(old), read_at=NOW)
    await rows.add(SeenGuidRow(feed_id=old, guid="guid-8"))
    edited = entry(1, title="Edited")
    stored = await rows.crawl(old, read(edited, entry(8), entry(9), etag="second", moved_to=NEW_HOME))
    assert await rows.unread(anna, stored.feed_id) == 1


async def test_title_and_category_move_with_the_subscription(rows: Rows) -> None:
    anna = await rows.user()
    old = await rows.feed(url=OLD_HOME, entry_limit=7, full_text=False)
    await rows.add(SubscriptionRow(user_id=anna, feed_id=old, title="Mine"))
    await rows.crawl(old, read(entry(1)))
    stored = await rows.crawl(old, read(entry(1), etag="second", moved_to=NEW_HOME))
    (subscription,) = await rows.all(select(SubscriptionRow).where(SubscriptionRow.feed_id == stored.feed_id))
    assert (subscription.title, subscription.user_id) == ("Mine", anna)
    feed = await rows.one(FeedRow, stored.feed_id)
    assert (feed.entry_limit, feed.full_text) == (7, False)


async def test_the_same_place_by_https_is_the_same_feed(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), url="http://news.example.org/feed?a=1")
    await rows.crawl(feed, read(entry(1)))
    secure = "https://news.example.org/feed?a=1"
    stored = await rows.crawl(feed, Crawl(CrawlOutcome.UNCHANGED, moved_to=secure))
    assert stored.feed_id == feed
    assert (await rows.to_crawl(feed)).url == secure
    assert await guids(rows, feed) == ["guid-1"]


async def test_a_move_without_entries_in_hand_waits_for_them(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), url=OLD_HOME)
    await rows.crawl(feed, read(entry(1)))
    await rows.crawl(feed, Crawl(CrawlOutcome.UNCHANGED, moved_to=NEW_HOME))
    asked = await rows.to_crawl(feed)
    assert (asked.url, asked.validators) == (OLD_HOME, Validators()), "next time the whole feed is asked for"
    assert (await rows.feeds.list_due(0, 10, NOW, True)).feed_ids == (feed,)
    stored = await rows.crawl(feed, read(entry(1), etag="second", moved_to=NEW_HOME))
    assert stored.feed_id == await home_of(rows, NEW_HOME) != feed


async def test_a_feed_that_failed_at_its_new_address_stays_where_it_was(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), url=OLD_HOME)
    await rows.crawl(feed, Crawl(CrawlOutcome.NOT_A_FEED, reason="A page.", moved_to=NEW_HOME))
    assert (await rows.to_crawl(feed)).url == OLD_HOME


async def test_an_address_that_is_too_long_is_not_moved_to(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), url=OLD_HOME)
    stored = await rows.crawl(feed, read(entry(1), moved_to=f"{NEW_HOME}?{'ä' * 1500}"))
    assert (stored.feed_id, stored.created) == (feed, 1)
    assert (await rows.to_crawl(feed)).url == OLD_HOME


async def test_a_redirect_that_is_undone_lets_the_old_feed_live_again(rows: Rows) -> None:
    anna = await rows.user()
    old = await rows.feed(anna, url=OLD_HOME)
    await rows.crawl(old, read(entry(1)))
    await rows.do(anna, await rows.ids(old), starred_at=NOW)
    await rows.crawl(old, read(entry(5), etag="second", moved_to=NEW_HOME))
    following = await SqlSubscriptions(rows.database).subscribe(anna, OutlineFeed(OLD_HOME), None, LATER)
    assert following.feed_id == old
    assert old in (await rows.feeds.list_due(0, 10, LATER, True)).feed_ids
    await rows.crawl(old, read(entry(1), entry(2), etag="third"), LATER)
    assert await guids(rows, old) == ["guid-1", "guid-2"]
    assert (await rows.one(FeedRow, old)).moved_to_id is None


async def test_two_feeds_that_move_to_each_other_lose_nothing_and_block_nobody(rows: Rows) -> None:
    anna, ben = await rows.user(), await rows.user()
    one, two = await rows.feed(anna, url=OLD_HOME), await rows.feed(ben, url=NEW_HOME)
    await rows.crawl(one, read(entry(1)))
    await rows.crawl(two, read(entry(2), etag="two"))
    asked = [await rows.to_crawl(one), await rows.to_crawl(two)]
    await asyncio.gather(
        rows.feeds.store_crawl(asked[0], read(entry(2), moved_to=NEW_HOME), POLICY, NOW),
        rows.feeds.store_crawl(asked[1], read(entry(1), moved_to=OLD_HOME), POLICY, NOW),
    )
    assert await guids(rows, one) == ["guid-1"]
    assert await guids(rows, two) == ["guid-2"]
    for user in (anna, ben):
        assert await rows.all(select(SubscriptionRow.id).where(SubscriptionRow.user_id == user))


async def test_a_chain_of_moves_leads_its_readers_to_the_end(rows: Rows) -> None:
    anna = await rows.user()
    first = await rows.feed(anna, url=OLD_HOME)
    await rows.crawl(first, read(entry(1)))
    await rows.do(anna, await rows.ids(first), starred_at=NOW, read_at=NOW)
    second = (await rows.crawl(first, read(entry(2), etag="b", moved_to=NEW_HOME))).feed_id
    await rows.do(anna, await rows.ids(second), read_at=NOW)
    third = (await rows.crawl(second, read(entry(3), etag="c", moved_to="https://third.example.org/"))).feed_id
    assert await readers(rows, third) == {anna}
    assert await rows.one(FeedRow, second) is None
    assert await guids(rows, first) == ["guid-1"]
    assert (await rows.one(FeedRow, first)).moved_to_id is None, "the place where it moved to is gone"


async def test_a_feed_that_nobody_reads_wakes_up_when_another_moves_to_it(rows: Rows) -> None:
    old = await rows.feed(await rows.user(), url=OLD_HOME)
    kept = await rows.feed(url=NEW_HOME, paused_at=NOW)
    await rows.crawl(old, read(entry(1), moved_to=NEW_HOME))
    assert (await rows.one(FeedRow, kept)).paused_at is None
    assert kept in (await rows.feeds.list_due(0, 10, NOW, True)).feed_ids


async def test_failures_stay_with_the_feed_that_failed(rows: Rows) -> None:
    anna = await rows.user()
    old, new = await rows.feed(anna, url=OLD_HOME), await rows.feed(await rows.user(), url=NEW_HOME)
    await rows.crawl(old, Crawl(CrawlOutcome.UNREACHABLE, reason="away at https://old.example.org/?token=secret"))
    await rows.crawl(old, read(entry(1), moved_to=NEW_HOME))
    assert new not in [row.feed_id for row in await rows.all(select(FeedErrorRow))]
