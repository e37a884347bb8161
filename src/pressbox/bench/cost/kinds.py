"""The kinds of work whose cost is counted. Each prepares what is not counted, and yields what is, as a function."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime

from pressbox.bench.cost.stage import Stage
from pressbox.bench.simulator import run_simulator
from pressbox.core.app import ScheduleDeclaration
from pressbox.curator.ask.wiring import ask_service
from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.ingest.contracts import ALL_FEEDS_INGESTION, INGEST_WORKFLOW, AllFeedsIngestionInput
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.settings import policy
from pressbox.curator.sources.store import SqlSubscriptions

PRESS = "pressbox.demo.simulators.news_site"
FEEDS = "pressbox.bench.feed_host"
ARTICLES_EACH = 15
Work = Callable[[], Awaitable[None]]
Kind = Callable[[Stage, int], AbstractAsyncContextManager[Work]]


@asynccontextmanager
async def article(stage: Stage, size: int) -> AsyncIterator[Work]:
    """From a feed until it is fetched, summarised, searchable and comparable."""
    channels = max(size // ARTICLES_EACH, 1)
    with run_simulator(PRESS, str(channels), str(-(-size // channels))) as url:
        await _subscribe(stage, [f"{url}/channel-{number}/feed.xml" for number in range(channels)])
        yield lambda: _ingest(stage)


@asynccontextmanager
async def unchanged_feed(stage: Stage, size: int) -> AsyncIterator[Work]:
    """A feed that is due and has nothing new."""
    with run_simulator(FEEDS, str(size), "1", "0") as url:
        await _subscribe(stage, [f"{url}/feed/{number}" for number in range(size)])
        await _ingest(stage, whole=False)
        yield lambda: _ingest(stage, whole=False)


@asynccontextmanager
async def question(stage: Stage, size: int) -> AsyncIterator[Work]:
    async def ask() -> None:
        service = ask_service(stage.resources)
        for number in range(size):
            await service.ask(stage.user_id, f"What did the council decide about bridge {number}?")
        await stage.until_nothing_runs()

    yield ask


@asynccontextmanager
async def poll(stage: Stage, size: int) -> AsyncIterator[Work]:
    """A look at the matches of a day without any."""
    yield lambda: _run_schedule(stage, "monitor-every-30s", size)


@asynccontextmanager
async def sweep(stage: Stage, size: int) -> AsyncIterator[Work]:
    """A look for messages that were never told, with none there."""
    yield lambda: _run_schedule(stage, "soonish-reconcile", size)


@asynccontextmanager
async def look_for_feeds(stage: Stage, size: int) -> AsyncIterator[Work]:
    """A run of the ingestion with nothing to do."""
    yield lambda: _run_schedule(stage, "curator-ingest", size)


KINDS: dict[str, Kind] = {
    "article": article,
    "unchanged feed": unchanged_feed,
    "question": question,
    "poll": poll,
    "sweep": sweep,
    "look for feeds": look_for_feeds,
}
AIMS = {"article": (8.0, 12.0)}


def schedules(stage: Stage) -> list[ScheduleDeclaration]:
    return [one for manifest in stage.manifests for one in manifest.schedules(stage.resources.settings)]


async def _run_schedule(stage: Stage, schedule_id: str, times: int) -> None:
    """Run what a schedule starts, one after the other, as it does."""
    wanted = next(one for one in schedules(stage) if one.id == schedule_id)
    for _ in range(times):
        await stage.resources.temporal.execute_workflow(
            wanted.workflow, wanted.input, id=wanted.workflow_id, task_queue=wanted.task_queue
        )


async def _subscribe(stage: Stage, urls: list[str]) -> None:
    feeds = [OutlineFeed(url) for url in urls]
    await SqlSubscriptions(stage.resources.database).subscribe_many(stage.user_id, feeds, datetime.now(UTC))


async def _ingest(stage: Stage, *, whole: bool = True) -> None:
    limits = policy(stage.resources.settings).model_copy(
        update={"feed_delay": policy(stage.resources.settings).feed_delay * 0}
    )
    input = AllFeedsIngestionInput(only_due=False, enable_content_fetch=whole, auto_distill=whole, policy=limits)
    await stage.resources.temporal.execute_workflow(ALL_FEEDS_INGESTION, input, id=INGEST_WORKFLOW, task_queue=QUEUE)
    await stage.until_nothing_runs()
