"""New articles are told to who follows what concerns them and may read it, once, and old ones to nobody."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import NotFoundError
from pressbox.core.notices.ways import account_way
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.rows import GuardedSubjectRow
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.curator.following.service import ArticleFollows
from pressbox.curator.ingest.entry_writer import move_readers
from pressbox.curator.library.rows import FeedRow, FeedStateRow
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.search.store import SqlIndexStore
from pressbox.delivery.domain.quiet_hours import QUIET, QuietHours
from pressbox.delivery.service.quiet_hours import PersonalQuietHours
from tests.fakes.article_desk import Desk
from tests.fakes.curator_rows import Rows, entry, read
from tests.fakes.notice_sending import Post
from tests.site import PASSWORD, cheap_passwords

CHAT, PUSH = "channel:7", "push:3"
FEED, STORY = FollowedKind.FEED, FollowedKind.STORY
SUBJECT = "footy.fixture.9"
TOLD = "Liverpool 3-2 Arsenal: Salah with a late winner"


@pytest.fixture
async def desk(resources: Resources, settings: Settings) -> Desk:
    accounts = AccountService(resources.database, settings, passwords=cheap_passwords())
    people = [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben")]
    return Desk(resources, people)


@pytest.fixture
def post(desk: Desk) -> Post:
    return Post(desk.database)


async def test_who_follows_a_feed_is_told_of_its_new_article_once(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada, desk.ben, title="The Paper")
    await desk.follow(desk.ada, FEED, feed)
    entry = await desk.find(feed, "A bridge opens")
    await desk.index(entry)
    await desk.index(entry)
    await desk.index(entry, shown="with a summary")
    [line] = await desk.read(desk.ada)
    assert (line.title, line.heading, line.because, line.path) == (
        "A bridge opens",
        "The Paper",
        "The Paper",
        f"/reader/entries/{entry}",
    )
    assert await desk.read(desk.ben) == []


async def test_who_may_not_read_a_feed_is_told_nothing_of_it(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada)
    for person in (desk.ada, desk.ben):
        await desk.follow(person, FEED, feed)
    await desk.index(await desk.find(feed))
    assert (await desk.titles(desk.ada), await desk.titles(desk.ben)) == (["News"], [])


async def test_many_at_once_are_one_notice_and_one_message(desk: Desk, post: Post) -> None:
    feed = await desk.library.feed(desk.ada, desk.ben, title="The Paper")
    for person in (desk.ada, desk.ben):
        await desk.follow(person, FEED, feed)
    await post.choose(desk.ada, account_way(desk.ada))
    await desk.index(*[await desk.find(feed, f"Number {number}") for number in range(7)])
    [line] = await desk.read(desk.ada)
    assert (line.title, line.detail) == ("7 new articles in The Paper", "Number 6 · Number 5 · Number 4")
    assert line.path == f"/reader?list=feed&id={feed}"
    # Both hear the same, so they share it.
    assert [other.id for other in await desk.read(desk.ben)] == [line.id]
    assert [(row.user_id, row.state) for row in await post.rows()] == [(desk.ada, "pending")]


@pytest.mark.parametrize("missing", ["seen", "at"])
async def test_what_is_old_is_told_to_nobody(desk: Desk, missing: str) -> None:
    feed = await desk.library.feed(desk.ada)
    await desk.follow(desk.ada, FEED, feed)
    old = utc_now() - timedelta(days=3)
    await desk.index(await desk.find(feed, "Old", **{missing: old}))
    assert await desk.read(desk.ada) == []


async def test_what_was_there_before_the_follow_is_not_told(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada)
    entry = await desk.find(feed, seen=utc_now() - timedelta(minutes=1))
    await desk.follow(desk.ada, FEED, feed)
    await desk.index(entry)
    assert await desk.read(desk.ada) == []


async def test_what_a_feed_had_when_it_was_first_read_is_not_told(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada)
    await desk.follow(desk.ada, FEED, feed)
    first = utc_now() + timedelta(seconds=1)
    await _note_first_reading(desk, feed, first)
    await desk.index(*[await desk.find(feed, seen=first) for _ in range(3)])
    assert await desk.read(desk.ada) == []
    await desk.index(await desk.find(feed, "Later", seen=first + timedelta(minutes=5)))
    assert await desk.titles(desk.ada) == ["Later"]


async def _note_first_reading(desk: Desk, feed: int, at: datetime) -> None:
    async with desk.database.unit_of_work() as work:
        state = update(FeedStateRow).where(FeedStateRow.feed_id == feed)
        await work.session.execute(state.values(first_read_at=at))


async def test_feeds_that_are_added_read_again_or_moved_tell_of_nothing_old(desk: Desk) -> None:
    rows, start = Rows(desk.database), utc_now()
    feeds = [await rows.feed(desk.ada, url=f"https://{number}.example.org/feed") for number in range(3)]
    # Whoever imports feeds and follows them at once has not waited for their first reading.
    for feed in feeds:
        await desk.follow(desk.ada, FEED, feed)
    old = [entry(number, published_at=start) for number in range(1, 6)]
    for feed in feeds:
        await rows.crawl(feed, read(*old), start + timedelta(minutes=1))
    await desk.index(*[number for feed in feeds for number in await rows.ids(feed)])
    moved = feeds[0]
    new_home = "https://new.example.org/feed"
    await rows.crawl(moved, read(*old, etag="b", moved_to=new_home), start + timedelta(minutes=2))
    await rows.crawl(feeds[1], read(*old, etag="b"), start + timedelta(minutes=2))
    [home] = await rows.all(select(FeedRow.id).where(FeedRow.url == new_home))
    await desk.index(*await rows.ids(home), *await rows.ids(feeds[1]))
    assert await desk.read(desk.ada) == []
    # The next article of each is news, also at the new address.
    fresh = entry(9, title="Fresh", published_at=start + timedelta(minutes=3))
    for feed in (home, feeds[1]):
        await rows.crawl(feed, read(fresh, *old, etag="c"), start + timedelta(minutes=3))
        await desk.index(*await rows.ids(feed))
    assert [line.title for line in await desk.read(desk.ada)] == ["Fresh"]


async def test_what_was_read_already_is_not_told(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada)
    await desk.follow(desk.ada, FEED, feed)
    entry = await desk.find(feed)
    await desk.library.service.states.mark_read(desk.ada, [entry])
    await desk.index(entry)
    assert await desk.read(desk.ada) == []


async def test_a_copy_in_another_followed_feed_is_not_told_again(desk: Desk) -> None:
    paper, echo = [await desk.library.feed(desk.ada, desk.ben) for _ in range(2)]
    for feed in (paper, echo):
        await desk.follow(desk.ada, FEED, feed)
    await desk.follow(desk.ben, FEED, echo)
    await desk.index(await desk.find(paper, "First", story="bridge"))
    await desk.index(await desk.find(echo, "Copy", story="bridge"))
    assert (await desk.titles(desk.ada), await desk.titles(desk.ben)) == (["First"], ["Copy"])


async def test_a_muted_feed_is_silent_whatever_else_is_followed(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada)
    entry = await desk.find(feed, "First", story="bridge")
    await desk.index(entry)
    await desk.follow(desk.ada, STORY, await desk.story_of(entry))
    await desk.follow(desk.ada, FEED, feed)
    await desk.follows.mute(desk.ada, FEED.subject(feed), True)
    await desk.index(await desk.find(feed, "Again", story="bridge"))
    assert await desk.read(desk.ada) == []


async def test_muting_or_leaving_settles_what_is_queued(desk: Desk, post: Post) -> None:
    feed = await desk.library.feed(desk.ada, desk.ben)
    for person in (desk.ada, desk.ben):
        await post.choose(person, account_way(person))
        await desk.follow(person, FEED, feed)
    await desk.index(await desk.find(feed))
    await desk.follows.mute(desk.ada, FEED.subject(feed), True)
    await desk.library.service.sources.unsubscribe(desk.ben, feed)
    assert {(row.user_id, row.state, row.reason) for row in await post.rows()} == {
        (desk.ada, "skipped", "muted"),
        (desk.ben, "skipped", "unfollowed"),
    }
    assert await post.send() == 0


async def test_who_leaves_a_feed_gets_nothing_of_it_that_is_queued(desk: Desk, post: Post) -> None:
    feed = await desk.library.feed(desk.ada)
    await ArticleFollows(desk.database).follow_search(desk.ada, "bridge")
    await post.choose(desk.ada, CHAT)
    await desk.index(await desk.find(feed, "A bridge opens"))
    await desk.library.service.sources.unsubscribe(desk.ada, feed)
    assert [(row.state, row.reason) for row in await post.rows()] == [("skipped", "unfollowed")]


async def test_quiet_hours_hold_articles_back_and_german_is_spoken(desk: Desk, post: Post, settings: Settings) -> None:
    feed = await desk.library.feed(desk.ada, title="The Paper")
    await desk.follow(desk.ada, FEED, feed)
    await post.choose(desk.ada, CHAT, PUSH)
    await AccountService(desk.database, settings, passwords=cheap_passwords()).set_language(desk.ada, "de")
    now, quiet = utc_now(), PersonalQuietHours(desk.database)
    hours = QuietHours((now - timedelta(hours=2)).time(), (now + timedelta(hours=2)).time(), "UTC")
    await quiet.choose(desk.ada, hours)
    await desk.index(*[await desk.find(feed, f"Number {number}") for number in range(2)])
    assert (await post.send(), {row.reason for row in await post.rows()}) == (0, {QUIET})
    await quiet.choose(desk.ada, None)
    assert await post.send() == 2
    assert sorted(post.place.received) == [(CHAT, "2 neue Artikel in The Paper"), (PUSH, "2 neue Artikel in The Paper")]


async def test_a_story_tells_which_other_source_has_it(desk: Desk) -> None:
    paper, echo, other = [await desk.library.feed(desk.ada, title=title) for title in ("Paper", "Echo", "Other")]
    entry = await desk.find(paper, "A bridge opens", story="bridge")
    await desk.index(entry)
    await ArticleFollows(desk.database).follow(desk.ada, STORY, entry)
    await desk.library.service.states.mark_read(desk.ada, [entry])
    await desk.index(await desk.find(echo, "A bridge opens", story="bridge"), await desk.find(other, "Something else"))
    [line] = await desk.read(desk.ada)
    assert (line.title, line.heading, line.because) == (
        "Echo has this story too",
        "A bridge opens",
        "A bridge opens",
    )


async def test_a_label_tells_of_further_copies_of_what_has_it(desk: Desk) -> None:
    paper, echo = [await desk.library.feed(desk.ada, desk.ben, title=title) for title in ("Paper", "Echo")]
    entry = await desk.find(paper, "A bridge opens", story="bridge")
    await desk.index(entry)
    [label] = await desk.library.service.states.set_labels(desk.ada, entry, ["Bridges"])
    follows = ArticleFollows(desk.database)
    await follows.follow(desk.ada, FollowedKind.LABEL, label.id)
    with pytest.raises(NotFoundError):
        await follows.follow(desk.ben, FollowedKind.LABEL, label.id)
    await desk.index(await desk.find(echo, "A bridge opens", story="bridge"))
    [line] = await desk.read(desk.ada)
    assert (line.title, line.heading, line.because, line.detail) == ("A bridge opens", "Bridges", "Bridges", "Echo")
    assert await desk.read(desk.ben) == []


async def test_a_search_tells_of_what_has_its_words_in_what_one_reads(desk: Desk) -> None:
    both = await desk.library.feed(desk.ada, desk.ben, title="Paper")
    hers = await desk.library.feed(desk.ada, title="Echo")
    follows = ArticleFollows(desk.database)
    await follows.follow_search(desk.ada, "new  Bridge -rope")
    await follows.follow_search(desk.ben, " new Bridge -rope")
    await desk.index(
        await desk.find(both, "Bridges of a new kind"),
        await desk.find(both, "A new rope bridge"),
        await desk.find(both, "A new briege"),
        await desk.find(hers, "The bridge", summary="It is new."),
    )
    [line] = await desk.read(desk.ada)
    assert (line.title, line.because) == ("2 new articles with “new Bridge -rope”", "new Bridge -rope")
    assert line.path == "/reader?list=all&q=new+Bridge+-rope"
    assert await desk.titles(desk.ben) == ["Bridges of a new kind"]


async def test_an_article_that_many_follows_concern_is_told_once(desk: Desk) -> None:
    category = await desk.library.service.sources.create_category(desk.ada, "Sport")
    paper, echo = [
        await desk.library.feed(desk.ada, title=title, category_id=category.id) for title in ("Paper", "Echo")
    ]
    first = await desk.find(paper, "A bridge opens", story="bridge")
    await desk.index(first)
    follows = ArticleFollows(desk.database)
    [label] = await desk.library.service.states.set_labels(desk.ada, first, ["Bridges"])
    for kind, number in ((FEED, echo), (FollowedKind.CATEGORY, category.id), (FollowedKind.LABEL, label.id)):
        await follows.follow(desk.ada, kind, number)
    await follows.follow_search(desk.ada, "bridge")
    await desk.index(await desk.find(echo, "A bridge opens", story="bridge"))
    assert [(line.title, line.because) for line in await desk.read(desk.ada)] == [("A bridge opens", "Bridges")]
    await follows.follow(desk.ada, STORY, first)
    third = await desk.library.feed(desk.ada, title="Third", category_id=category.id)
    await desk.index(await desk.find(third, "A bridge opens", story="bridge"))
    newest, *_ = await desk.read(desk.ada)
    assert newest.title == "Third has this story too"


async def test_a_copy_is_not_told_again_for_a_search(desk: Desk) -> None:
    paper, echo = [await desk.library.feed(desk.ada) for _ in range(2)]
    await ArticleFollows(desk.database).follow_search(desk.ada, "bridge")
    for feed in (paper, echo):
        await desk.index(await desk.find(feed, "A bridge opens", story="bridge"))
    assert await desk.titles(desk.ada) == ["A bridge opens"]


async def test_a_category_groups_what_its_feeds_bring_and_each_article_counts_once(desk: Desk) -> None:
    category = await desk.library.service.sources.create_category(desk.ada, "Sport")
    feeds = [await desk.library.feed(desk.ada, title=title, category_id=category.id) for title in ("Paper", "Echo")]
    await desk.follow(desk.ada, FollowedKind.CATEGORY, category.id, "Sport")
    await desk.follow(desk.ada, FEED, feeds[0], "Paper")
    await desk.index(*[await desk.find(feed, f"In {feed}") for feed in feeds])
    assert await desk.titles(desk.ada) == ["2 new articles in Sport"]
    await desk.library.service.sources.delete_category(desk.ada, category.id)
    assert [follow.name for follow in await desk.follows.list(desk.ada)] == ["Paper"]


async def test_who_follows_a_feed_that_moves_follows_it_at_its_new_address(desk: Desk) -> None:
    old, new = await desk.library.feed(desk.ada), await desk.library.feed(desk.ben)
    await desk.follow(desk.ada, FEED, old)
    async with desk.database.unit_of_work() as work:
        rows = [await work.session.get(FeedRow, number) for number in (old, new)]
        assert rows[0] is not None
        assert rows[1] is not None
        await move_readers(work, rows[0], rows[1], utc_now())
    assert [follow.subject for follow in await desk.follows.list(desk.ada)] == [FEED.subject(new)]
    await desk.index(await desk.find(new))
    assert (await desk.titles(desk.ada), await desk.titles(desk.ben)) == (["News"], [])


async def test_a_worker_that_dies_before_the_end_tells_later_and_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await desk.library.feed(desk.ada)
    await desk.follow(desk.ada, FEED, feed)
    entry = await desk.find(feed)

    async def die(*_: object, **__: object) -> None:
        raise ConnectionError("killed")

    # After the notice stands in the inbox, before the transaction ends.
    with monkeypatch.context() as patched:
        patched.setattr("pressbox.core.notices.publish.queue_new", die)
        with pytest.raises(ConnectionError):
            await desk.index(entry)
    assert await desk.read(desk.ada) == []
    assert await SqlIndexStore(desk.database).unindexed_ids(10) == [entry]
    await desk.index(entry)
    await desk.index(entry)
    assert await desk.titles(desk.ada) == ["News"]


async def test_two_workers_with_the_same_articles_tell_once(desk: Desk, post: Post) -> None:
    feed = await desk.library.feed(desk.ada)
    await desk.follow(desk.ada, FEED, feed)
    await post.choose(desk.ada, CHAT)
    one, two, three = [await desk.find(feed, f"Number {number}") for number in range(3)]
    await asyncio.gather(desk.index(one, two), desk.index(two, one, three))
    told = await desk.read(desk.ada)
    assert sum(int(line.title.split()[0]) if "new articles" in line.title else 1 for line in told) == 3
    assert len(await post.rows()) == len(told)


async def test_a_title_with_a_score_is_covered_for_who_hides_scores(desk: Desk) -> None:
    feed = await desk.library.feed(desk.ada, desk.ben)
    for person in (desk.ada, desk.ben):
        await desk.follow(person, FEED, feed)
    spoilers = PersonalSpoilers(desk.database)
    await spoilers.choose(desk.ada, choose("hidden"))
    async with desk.database.unit_of_work() as work:
        names = {"home": ["Liverpool"], "away": ["Arsenal"]}
        work.session.add(GuardedSubjectRow(subject=SUBJECT, changed_at=utc_now(), **names))
    await desk.index(await desk.find(feed, TOLD))
    [line] = await desk.read(desk.ada)
    assert (line.title, line.covered, line.subject) == ("An article about Liverpool – Arsenal", True, SUBJECT)
    assert await desk.titles(desk.ben) == [TOLD]
    await spoilers.reveal(desk.ada, [SUBJECT])
    assert await desk.titles(desk.ada) == [TOLD]
    # Of several at once no title tells it to anybody.
    await desk.index(await desk.find(feed, TOLD), await desk.find(feed, "A harmless one"))
    newest, *_ = await desk.read(desk.ben)
    assert newest.detail == "A harmless one"


async def test_who_wants_scores_later_or_hidden_reads_none_in_a_title_or_a_name(desk: Desk, post: Post) -> None:
    paper, echo = [await desk.library.feed(desk.ada, desk.ben, title=title) for title in ("Paper", "Echo")]
    async with desk.database.unit_of_work() as work:
        names = {"home": ["Liverpool"], "away": ["Arsenal"]}
        work.session.add(GuardedSubjectRow(subject=SUBJECT, changed_at=utc_now(), **names))
    spoilers = PersonalSpoilers(desk.database)
    await spoilers.choose(desk.ada, choose("hidden"))
    await spoilers.choose(desk.ben, choose("delay", 10))
    first = await desk.find(paper, TOLD, story="match")
    await desk.index(first)
    for person in (desk.ada, desk.ben):
        await post.choose(person, account_way(person))
        await ArticleFollows(desk.database).follow(person, STORY, first)
        assert [one.name for one in await desk.follows.list(person)] == ["Liverpool – Arsenal"]
    await desk.index(await desk.find(echo, TOLD, story="match"))
    [line] = await desk.read(desk.ada)
    assert (line.title, line.heading, line.detail) == (
        "An article about Liverpool – Arsenal",
        "Liverpool – Arsenal",
        "",
    )
    assert await desk.read(desk.ben) == []
    assert await post.send() == 1
    assert [key for key, _ in post.place.received] == [account_way(desk.ada)]
    assert "3-2" not in " ".join([*post.place.titles(account_way(desk.ada)), *post.place.bodies])
