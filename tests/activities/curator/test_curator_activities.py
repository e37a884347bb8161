"""The curator's activities on fakes: what may travel in a message, whose turn it is, and which text is the article."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json
from temporalio.api.history.v1 import History
from temporalio.client import WorkflowHistory
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import RateLimitedError, TransientError
from pressbox.core.models.completions import Said
from pressbox.core.spending.domain import next_day_start
from pressbox.core.spending.till import BUDGET_PAUSE
from pressbox.core.temporal.later import TRY_LATER
from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.distil.contracts import DISTIL_PAGE, SelectForDistillationInput
from pressbox.curator.distil.model import LONGEST_SUMMARY
from pressbox.curator.ingest.contracts import (
    CrawlPageInput,
    FeedReference,
    FetchContentInput,
    ProbeFeedsInput,
    ScheduleFetchInput,
)
from pressbox.curator.ingest.fetcher import HostRateLimiter, choose_richer
from pressbox.curator.library.contracts import EntryIds
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, FetchState
from pressbox.curator.library.urls import host_of
from pressbox.curator.text.plain_text import SUMMARY_BYTES, TITLE_BYTES, shorten
from tests.fakes.curator import TOKENS_PER_DAY, FakeDistiller, FakeRateLimits, FakeWorld

LARGEST_PAYLOAD = 10_000
LONG = "新聞の見出しがとても長い" * 200
POLICY = CuratorPolicy(host_delay=timedelta(0), feed_delay=timedelta(0))
HISTORIES = Path(__file__).parents[2] / "replay" / "histories"


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld(paid=True)


def run(world: FakeWorld, name: str) -> Callable[..., Awaitable[Any]]:
    functions = (*world.plain_activities(), *world.heavy_activities(), *world.index_activities())
    function = next(each for each in functions if each.__name__ == name)
    return lambda input: ActivityEnvironment().run(function, input)


async def test_a_whole_page_of_entries_with_the_longest_titles_fits_a_message(world: FakeWorld) -> None:
    feed = world.feed(name=LONG)
    for number in range(200):
        world.enter(feed, f"https://a-host-with-a-long-name-{number}.example.org/").title = LONG
    found = await run(world, "get_entries_to_fetch")(FeedReference(feed_id=feed.feed_id, policy=POLICY))
    assert (len(found.entries), found.more) == (POLICY.entries_per_fetch, True)
    wanted = ScheduleFetchInput(
        entries=found.entries, feed_name=found.feed_name, parent_workflow_id="x" * 60, policy=POLICY
    )
    assert len(to_json(wanted)) < LARGEST_PAYLOAD


async def test_a_whole_page_of_entries_to_distil_fits_a_message(world: FakeWorld) -> None:
    for entry in world.fetched(world.feed(), 200):
        entry.title = LONG
    found = await run(world, "get_entries_for_distillation")(SelectForDistillationInput(limit=DISTIL_PAGE))
    assert len(found.entries) == DISTIL_PAGE
    assert len(to_json(found)) < LARGEST_PAYLOAD


async def test_a_batch_of_answers_fits_a_message_however_much_a_model_says(world: FakeWorld) -> None:
    class Talkative(FakeDistiller):
        async def converse(self, *_: object, **__: object) -> Said:
            lines = {"article": 1, "main_content_start_line": 0, "main_content_end_line": 0}
            return Said(json.dumps({"articles": [{**lines, "summary": LONG[:LONGEST_SUMMARY]}]}))

    world.distiller = Talkative()
    entries = world.fetched(world.feed(), POLICY.distil_batch)
    batch = await run(world, "distill_entry_content")(
        EntryIds(entry_ids=tuple(entry.entry_id for entry in entries), policy=POLICY)
    )
    assert len(batch.answers) == POLICY.distil_batch
    assert len(to_json(batch)) < LARGEST_PAYLOAD


def test_recorded_histories_hold_no_large_payload() -> None:
    kinds = ("AllFeeds*", "SingleFeed*", "ScheduleFetch*", "DomainFetch*", "ContentDistillation*", "Reprocess*")
    found = {kind: sorted(HISTORIES.glob(f"{kind}/*.json")) for kind in kinds}
    assert [kind for kind, files in found.items() if not files] == []
    for file in (file for files in found.values() for file in files):
        events = WorkflowHistory.from_json("any", file.read_text()).events
        assert max(History(events=[event]).ByteSize() for event in events) < LARGEST_PAYLOAD, file


async def test_unchanged_feeds_are_stored_together_and_only_feeds_with_work_are_named(world: FakeWorld) -> None:
    quiet, busy, broken = world.feed(), world.feed("a.example.org"), world.feed()
    broken.outcome = CrawlOutcome.SERVER_ERROR
    ids = tuple(feed.feed_id for feed in (quiet, busy, broken))
    probed = await run(world, "probe_feeds")(ProbeFeedsInput(feed_ids=ids, policy=POLICY))
    assert (probed.with_work, probed.unchanged, probed.failed, probed.created) == ((busy.feed_id,), 1, 1, 1)


async def test_a_host_that_wants_a_long_pause_is_not_waited_for_and_not_asked(world: FakeWorld) -> None:
    feed = world.feed()
    entry = world.enter(feed, "https://a.example.org/1")
    until = datetime.now(UTC) + timedelta(hours=1)
    world.rate_limits.paused["a.example.org"] = until
    policy = POLICY.model_copy(update={"host_delay": timedelta(seconds=2)})
    wanted = FetchContentInput(entry_id=entry.entry_id, policy=policy)
    result = await run(world, "fetch_single_content")(wanted)
    assert (result.fetched, entry.next_fetch_at, world.pages.read_urls) == (False, until, [])


async def test_a_run_waits_for_the_turns_of_its_feeds_that_come_before_the_next_run(world: FakeWorld) -> None:
    feed = world.feed()
    turn = datetime.now(UTC) + timedelta(minutes=2)
    world.rate_limits.paused[host_of(feed.url)] = turn
    policy = POLICY.model_copy(update={"feed_delay": timedelta(minutes=1)})
    wanted = CrawlPageInput(lingers=False, until=turn + timedelta(minutes=1), policy=policy)
    with pytest.raises(ApplicationError) as caught:
        await run(world, "crawl_due_feeds")(wanted)
    assert caught.value.type == TRY_LATER

    feed.due = True
    too_late = await run(world, "crawl_due_feeds")(wanted.model_copy(update={"until": turn - timedelta(minutes=1)}))
    assert (too_late.crawled, too_late.waiting, too_late.turns_until) == (0, 0, None)

    # The next page of the same shard knows for what it waits, whoever took its feeds meanwhile.
    known = wanted.model_copy(update={"turns_until": turn})
    with pytest.raises(ApplicationError):
        await run(world, "crawl_due_feeds")(known)


async def test_a_host_that_asks_for_fewer_requests_is_left_alone_with_all_its_feeds(world: FakeWorld) -> None:
    feed = world.feed("a.example.org")
    feed.outcome = CrawlOutcome.RATE_LIMITED
    await run(world, "probe_feeds")(ProbeFeedsInput(feed_ids=(feed.feed_id,), policy=POLICY))
    (until,) = world.rate_limits.paused.values()
    assert datetime.now(UTC) < until <= datetime.now(UTC) + POLICY.longest_feed_pause


async def test_one_page_cannot_block_all_feeds_of_its_host_for_a_day(world: FakeWorld) -> None:
    entry = world.enter(world.feed(), "https://a.example.org/1")
    world.pages.broken[entry.url] = RateLimitedError("Later.", retry_after=timedelta(days=1))
    await run(world, "fetch_single_content")(FetchContentInput(entry_id=entry.entry_id, policy=POLICY))
    now = datetime.now(UTC)
    assert world.rate_limits.paused["a.example.org"] <= now + POLICY.longest_page_pause
    assert entry.next_fetch_at is not None
    assert entry.next_fetch_at > now + timedelta(hours=23)


async def test_all_hosts_of_a_domain_with_its_own_pace_share_their_turns() -> None:
    limits = FakeRateLimits()
    limiter = HostRateLimiter(limits, lambda: datetime.now(UTC), {"reddit.com": timedelta(minutes=1)})
    for url in ("https://www.reddit.com/r/a/.rss", "https://old.reddit.com/r/b/.rss", "https://notreddit.com/feed"):
        await limiter.wait(url, timedelta(0))
    assert limits.reserved == ["reddit.com", "reddit.com"]


async def test_a_page_that_stays_away_is_given_up_after_its_tries(world: FakeWorld) -> None:
    entry = world.enter(world.feed(), "https://a.example.org/1")
    world.pages.broken[entry.url] = TransientError("It is busy.")
    for _ in range(POLICY.fetch_tries):
        entry.next_fetch_at = None
        await run(world, "fetch_single_content")(FetchContentInput(entry_id=entry.entry_id, policy=POLICY))
    assert (entry.fetch_state, entry.tries, entry.reason) == (FetchState.FAILED, 3, "It is busy.")


async def test_an_answer_that_was_paid_before_a_crash_is_not_asked_for_again(world: FakeWorld) -> None:
    (entry,) = world.fetched(world.feed(), 1)
    wanted = EntryIds(entry_ids=(entry.entry_id,), policy=POLICY)
    first = await run(world, "distill_entry_content")(wanted)
    again = await run(world, "distill_entry_content")(wanted)
    assert first.answers[0].summary == again.answers[0].summary
    assert len(world.distiller.batches) == 1


async def test_without_tokens_left_the_work_waits_for_midnight_in_utc_or_for_a_larger_budget(world: FakeWorld) -> None:
    (entry,) = world.fetched(world.feed(), 1)
    world.ledger.tokens = TOKENS_PER_DAY
    batch = await run(world, "distill_entry_content")(EntryIds(entry_ids=(entry.entry_id,), policy=POLICY))
    assert batch.waiting == (entry.entry_id,)
    assert "midnight UTC" in batch.reason
    assert "PRESSBOX_SPENDING_TOKENS_PER_DAY" in batch.reason
    assert batch.retry_at is not None
    assert (
        datetime.now(UTC) < batch.retry_at <= min(datetime.now(UTC) + BUDGET_PAUSE, next_day_start(datetime.now(UTC)))
    )
    assert world.claims.held == {}


@pytest.mark.parametrize(
    ("page", "feed", "chosen"),
    [
        (FetchedArticle("p", "a text of the page"), FetchedArticle("f", "a teaser"), "a text of the page"),
        (FetchedArticle("p", "a teaser"), FetchedArticle("f", "all of the text"), "all of the text"),
        (FetchedArticle("p", "menu menu menu menu menu", whole_page=True), FetchedArticle("f", "text"), "text"),
        (FetchedArticle("p", "menu", whole_page=True), FetchedArticle("", ""), "menu"),
    ],
)  # fmt: skip
def test_the_feeds_own_text_is_used_when_it_is_clearly_richer(
    page: FetchedArticle, feed: FetchedArticle, chosen: str
) -> None:
    assert choose_richer(page, feed).text == chosen


@pytest.mark.parametrize("text", ["short", LONG, "word " * 400, "ein Wort" + "x" * 400, "é" * 300])
def test_a_shortened_text_keeps_to_its_bytes_and_its_letters_stay_whole(text: str) -> None:
    for limit in (TITLE_BYTES, SUMMARY_BYTES):
        cut = shorten(text, limit)
        assert len(cut.encode()) <= limit
        assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))
