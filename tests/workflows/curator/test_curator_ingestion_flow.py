"""Ingestion: all feeds by pages, one feed from its crawl to readable articles, and what is never done twice."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from pressbox.core.errors import PermanentError, RateLimitedError, TransientError
from pressbox.curator.feeds.domain import FeedToCrawl
from pressbox.curator.ingest.contracts import (
    FETCH_SHARD,
    AllFeedsIngestionInput,
    ScheduleFetchInput,
    SingleFeedIngestionInput,
    feed_workflow_id,
    fetch_shard_id,
)
from pressbox.curator.ingest.fetcher import FeedProber
from pressbox.curator.ingest.workflows.all_feeds import AllFeedsIngestionWorkflow
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.domain import CrawlOutcome, DistilState, FetchState
from tests.fakes.curator import FakeEntry, FakeFeed
from tests.waiting import look_until, until
from tests.workflows.curator.conftest import Stage, children_started

LARGEST_PAYLOAD = 10_000


def activity_inputs(history: Any) -> list[Any]:
    scheduled = (event.activity_task_scheduled_event_attributes for event in history.events)
    return [json.loads(found.input.payloads[0].data) for found in scheduled if found.input.payloads]


async def ingest_all(stage: Stage, **input: Any) -> Any:
    policy = input.pop("policy", stage.policy)
    return await stage.run(AllFeedsIngestionWorkflow, AllFeedsIngestionInput(policy=policy, **input))


async def ingest(stage: Stage, feed: FakeFeed, **input: Any) -> Any:
    wanted = SingleFeedIngestionInput(feed_id=feed.feed_id, policy=stage.policy, **input)
    return await stage.run(SingleFeedIngestionWorkflow, wanted, feed_workflow_id(feed.feed_id))


def entries_of(stage: Stage, feed: FakeFeed) -> list[FakeEntry]:
    return [entry for entry in stage.world.entries.values() if entry.feed_id == feed.feed_id]


async def test_a_feed_with_news_becomes_articles_with_summaries_that_are_searchable_and_comparable(
    stage: Stage,
) -> None:
    feed = stage.world.feed("a.example.org", "b.example.org", "a.example.org", name="Example News")
    result = await ingest(stage, feed)
    assert (result["entriesCreated"], result["contentsFetched"], result["failed"]) == (3, 3, 0)
    await until(stage.world.everything_is_done)
    assert len(stage.world.index.documents) == 3
    assert stage.world.distiller.languages == {"de"}


async def test_unchanged_feeds_cost_no_workflow(stage: Stage) -> None:
    for _ in range(30):
        stage.world.feed()
    with_news = stage.world.feed("a.example.org")
    handle = await stage.start(AllFeedsIngestionWorkflow, AllFeedsIngestionInput(policy=stage.policy))
    result = await handle.result()
    assert (result["feeds"], result["feedsFailed"], result["entriesCreated"]) == (31, 0, 1)
    started = children_started(await handle.fetch_history())
    assert started == ["ScheduleFetchWorkflow", "ContentDistillationWorkflow"], "one shard each, for all feeds together"
    await until(lambda: entries_of(stage, with_news)[0].fetch_state is FetchState.FETCHED)


async def test_a_run_started_by_hand_may_choose_how_much_runs_at_once(stage: Stage) -> None:
    for _ in range(4):
        stage.world.feed("a.example.org")
    policy = stage.policy.model_copy(update={"smallest_page": 1, "entries_per_fetch": 1})
    handle = await stage.start(AllFeedsIngestionWorkflow, AllFeedsIngestionInput(policy=policy, max_concurrent=2))
    assert (await handle.result())["entriesCreated"] == 4
    initiated = [
        event.start_child_workflow_execution_initiated_event_attributes.workflow_id
        for event in (await handle.fetch_history()).events
    ]
    # Shards that crawl at once may ask for the same one twice; it is started once.
    assert {found for found in initiated if found.startswith(FETCH_SHARD)} == {fetch_shard_id(0), fetch_shard_id(1)}


async def test_a_fetch_started_by_hand_may_choose_the_pace_of_hosts(stage: Stage) -> None:
    handle = await stage.start(ScheduleFetchWorkflow, ScheduleFetchInput(shard=0, delay_seconds=0.5))
    await handle.result()
    (asked, *_) = activity_inputs(await handle.fetch_history())
    assert asked["policy"]["hostDelay"] == "PT0.5S"


async def test_pages_follow_each_other_and_the_counts_go_on(stage: Stage) -> None:
    for number in range(7):
        stage.world.feed(*(["a.example.org"] if number % 3 == 0 else []))
    policy = stage.policy.model_copy(update={"page_size": 3})
    handle = await stage.start(AllFeedsIngestionWorkflow, AllFeedsIngestionInput(policy=policy))
    result = await handle.result()
    assert (result["feeds"], result["entriesCreated"]) == (7, 3)
    progress = await handle.query("get_progress")
    assert (progress["currentBatch"], progress["totalBatches"], progress["feedsTotal"]) == (3, 3, 7)
    assert progress["contentsFetched"] == 3
    assert sorted(stage.world.crawler.crawled) == sorted(stage.world.feeds)


async def test_a_slow_feed_never_holds_up_the_next_page(stage: Stage) -> None:
    stage.world.feed("slow.example.org")
    for _ in range(3):
        stage.world.feed()
    stage.world.pages.hold = asyncio.Event()
    policy = stage.policy.model_copy(update={"page_size": 1, "page_patience": timedelta(milliseconds=100)})
    result = await ingest_all(stage, policy=policy)
    assert result["entriesCreated"] == 1
    assert len(stage.world.crawler.crawled) == 4
    stage.world.pages.hold.set()
    await until(stage.world.everything_is_done)


async def test_a_page_that_fails_as_a_whole_never_holds_up_the_next_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        stage.world.feed()
    probe = FeedProber.probe

    async def fail_for_the_first(prober: FeedProber, feeds: Sequence[FeedToCrawl], *rest: Any) -> Any:
        if min(feed.feed_id for feed in feeds) == min(stage.world.feeds):
            raise PermanentError("This page can never be read.")
        return await probe(prober, feeds, *rest)

    monkeypatch.setattr(FeedProber, "probe", fail_for_the_first)
    result = await ingest_all(stage, policy=stage.policy.model_copy(update={"page_size": 2}))
    assert (result["feeds"], result["feedsFailed"]) == (2, 2)
    assert len(stage.world.crawler.crawled) == 2


async def test_a_feed_that_cannot_be_read_is_counted_and_stops_nobody(stage: Stage) -> None:
    broken, fine = stage.world.feed(), stage.world.feed("a.example.org")
    broken.outcome = CrawlOutcome.SERVER_ERROR
    result = await ingest_all(stage)
    assert (result["feedsFailed"], result["entriesCreated"]) == (1, 1)
    assert entries_of(stage, fine)[0].fetch_state is FetchState.FETCHED


async def test_only_due_feeds_are_asked_unless_somebody_wants_all(stage: Stage) -> None:
    stage.world.feed().due = False
    assert (await ingest_all(stage))["feeds"] == 0
    assert (await ingest_all(stage, only_due=False))["feeds"] == 1


async def test_the_same_feed_by_hand_and_by_the_schedule_is_worked_on_once(stage: Stage) -> None:
    feed = stage.world.feed("a.example.org", "a.example.org")
    stage.world.pages.hold = asyncio.Event()
    by_hand = await stage.workflows.ingest_feed(feed.feed_id)
    await until(lambda: stage.world.pages.at_once)
    again = await stage.workflows.ingest_feed(feed.feed_id)
    result = await ingest_all(stage, only_due=False)
    assert by_hand == again == feed_workflow_id(feed.feed_id)
    assert result["feeds"] == 1
    stage.world.pages.hold.set()
    await until(stage.world.everything_is_done)
    assert sorted(stage.world.pages.read_urls) == ["https://a.example.org/0", "https://a.example.org/1"]


async def test_what_an_earlier_run_left_is_found_by_its_state(stage: Stage) -> None:
    feed = stage.world.feed()
    feed.due = False
    waiting = stage.world.enter(feed, "https://a.example.org/left")
    fetched = stage.world.fetched(feed, 7)
    removed = 1
    stage.world.index.documents.add(removed)
    stage.world.entry_store.gone = [removed]
    await ingest_all(stage)
    await until(stage.world.everything_is_done)
    assert waiting.fetch_state is FetchState.FETCHED
    assert {entry.distil_state for entry in fetched} == {DistilState.DISTILLED}
    assert removed not in stage.world.index.documents


async def test_articles_of_one_host_are_fetched_one_after_the_other_and_of_several_at_once(stage: Stage) -> None:
    feed = stage.world.feed(*["a.example.org"] * 4, *["b.example.org"] * 4)
    await ingest(stage, feed)
    assert stage.world.pages.most_at_once == 1
    assert len(stage.world.pages.read_urls) == 8


async def test_summaries_begin_while_articles_still_arrive(stage: Stage) -> None:
    feed = stage.world.feed("a.example.org", "b.example.org")
    entry_at_b = "https://b.example.org/1"
    stage.world.pages.broken[entry_at_b] = TransientError("slow")
    gate = asyncio.Event()
    original = stage.world.pages.read

    async def read(url: str, limit: int) -> Any:
        if url == entry_at_b:
            await gate.wait()
        return await original(url, limit)

    stage.world.pages.read = read  # type: ignore[method-assign]
    running = asyncio.create_task(ingest(stage, feed))
    await until(lambda: stage.world.entry_store.distilled)
    assert not running.done()
    gate.set()
    await running


async def test_an_article_that_cannot_be_had_keeps_its_reason_and_the_others_go_on(stage: Stage) -> None:
    feed = stage.world.feed(*["a.example.org"] * 3)
    stage.world.pages.broken["https://a.example.org/0"] = PermanentError("It is a PDF.")
    stage.world.pages.broken["https://a.example.org/1"] = TransientError("The server is busy.")
    result = await ingest(stage, feed)
    gone, later, fine = entries_of(stage, feed)
    assert (result["contentsFetched"], result["failed"]) == (1, 2)
    assert (gone.fetch_state, gone.reason, gone.next_fetch_at) == (FetchState.FAILED, "It is a PDF.", None)
    assert later.fetch_state is FetchState.WAITING
    assert later.next_fetch_at is not None
    assert fine.fetch_state is FetchState.FETCHED


async def test_a_host_that_says_when_to_come_back_is_left_alone_until_then(stage: Stage) -> None:
    feed = stage.world.feed("a.example.org")
    stage.world.pages.broken["https://a.example.org/0"] = RateLimitedError("429", retry_after=timedelta(minutes=10))
    await ingest(stage, feed)
    assert "a.example.org" in stage.world.rate_limits.paused
    assert entries_of(stage, feed)[0].next_fetch_at == stage.world.rate_limits.paused["a.example.org"]


async def test_without_fetching_the_feeds_own_text_is_used_and_no_page_is_read(stage: Stage) -> None:
    feed = stage.world.feed("a.example.org", "b.example.org")
    await ingest(stage, feed, enable_content_fetch=False)
    await until(stage.world.everything_is_done)
    assert stage.world.pages.read_urls == []
    assert {entry.fetch_state for entry in entries_of(stage, feed)} == {FetchState.FROM_FEED}


async def test_entries_that_need_no_fetch_are_summarised_all_the_same(stage: Stage) -> None:
    feed = stage.world.feed("a.example.org", "b.example.org", full_text=False)
    await ingest_all(stage)
    await until(stage.world.everything_is_done)
    assert len(entries_of(stage, feed)) == 2


async def test_without_auto_distill_nothing_is_summarised(stage: Stage) -> None:
    feed = stage.world.feed("a.example.org")
    await ingest(stage, feed, auto_distill=False)
    assert entries_of(stage, feed)[0].fetch_state is FetchState.FETCHED
    assert stage.world.distiller.batches == []


async def test_progress_counts_what_was_fetched_and_distilled_for_everybody_who_looks(stage: Stage) -> None:
    feed = stage.world.feed(*["a.example.org"] * 6, name="Example News")
    await ingest(stage, feed)
    await until(stage.world.everything_is_done)
    latest = {report.workflow_id: report for report in stage.reports}
    one = latest[feed_workflow_id(feed.feed_id)]
    assert (one.title, one.detail["totalEntries"], one.detail["contentsFetched"]) == ("Example News", 6, 6)
    distilling = [report for report in latest.values() if report.workflow_type == "ContentDistillationWorkflow"]
    assert sum(report.detail["entriesDistilled"] for report in distilling) == 6
    assert all(report.detail["parentWorkflowId"] for report in distilling)


async def test_a_scheduled_run_without_news_is_not_shown(stage: Stage) -> None:
    stage.world.feed()
    await ingest_all(stage, routine=True)
    assert stage.reports == []


async def test_no_payload_is_larger_than_ten_kilobytes(stage: Stage) -> None:
    """Few entries, since each costs time: what many of them come to is tested with the activities."""
    long_title = "新聞の見出しがとても長い" * 40
    feed = stage.world.feed(name=long_title)
    for number in range(7):
        stage.world.enter(feed, f"https://host{number % 2}.example.org/{number}").title = long_title
    await ingest_all(stage)
    await until(stage.world.everything_is_done)

    async def sizes() -> list[int]:
        return [size async for history in stage.histories() for event in history.events for size in payloads(event)]

    # A run is in the list some time after it began.
    found = await look_until(sizes, lambda found: len(found) > 20, "the runs in the list")
    assert max(found) < LARGEST_PAYLOAD


def payloads(event: Any) -> list[int]:
    attributes = getattr(event, event.WhichOneof("attributes"))
    named = [name for name in ("input", "result") if name in attributes.DESCRIPTOR.fields_by_name]
    return [getattr(attributes, name).ByteSize() for name in named]
