"""`pressbox bench ingest`: the time from feeds to searchable articles, and the history events per entry."""

import asyncio
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import text
from temporalio.api.common.v1 import Payload
from temporalio.client import Client

from pressbox.bench.instance import instance_resources, measured_instance, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.simulator import run_simulator
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.ingest.contracts import ALL_FEEDS_INGESTION, AllFeedsIngestionInput
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.sources.store import SqlSubscriptions

PRESS = "pressbox.demo.simulators.news_site"
CHANNELS = 20
ARTICLES_EACH = 15
PAYLOAD_AIM = 10_000
LOOK_SECONDS = 0.2
LONGEST_SECONDS = 1800.0

_DONE = text("""
    SELECT count(*) AS entries,
        count(*) FILTER (WHERE fetch_state IN ('fetched', 'from feed')) AS fetched,
        count(*) FILTER (WHERE distil_state = 'distilled') AS distilled,
        count(*) FILTER (WHERE indexed_hash = shown_hash) AS indexed
    FROM curator.entries
""")


@dataclass(frozen=True)
class Costs:
    """Events and payloads of all histories together."""

    workflows: int
    events: int
    bytes: int
    payload_bytes: int
    largest_payload: int


@dataclass(frozen=True)
class IngestTimes:
    """Seconds until the first entry was fetched, and until all were done."""

    entries: int
    first_seconds: float
    seconds: float
    costs: Costs


def run_ingest(say: Say, channels: int = CHANNELS, articles_each: int = ARTICLES_EACH) -> Report:
    """Takes a minute or two, on a temporary home."""
    machine = describe_machine()
    with run_simulator(PRESS, str(channels), str(articles_each)) as url, temporary_home() as home:
        environment = {"PRESSBOX_HTTP_ALLOW": url.removeprefix("http://"), "PRESSBOX_CURATOR_HOST_DELAY_SECONDS": "0"}
        with measured_instance(home, **environment) as instance:
            say(f"{channels} feeds with {articles_each} articles each")
            feeds = [f"{url}/channel-{number}/feed.xml" for number in range(channels)]

            async def measure() -> IngestTimes:
                async with instance_resources(instance) as resources:
                    return await measure_ingest(resources, feeds, channels * articles_each)

            found = asyncio.run(measure())
    return Report(name="ingest", measured_at=datetime.now(UTC), machine=machine, figures=_figures(found))


async def measure_ingest(resources: Resources, feeds: Sequence[str], wanted: int) -> IngestTimes:
    """Measure on an instance with a running worker and no feeds."""
    accounts = AccountService(resources.database, resources.settings)
    reader = await accounts.add_user("bench@example.org", secrets.token_urlsafe(16), name="bench")
    subscriptions = SqlSubscriptions(resources.database)
    await subscriptions.subscribe_many(reader.id, [OutlineFeed(url) for url in feeds], datetime.now(UTC))
    # No pause is needed between two pages of our own machine.
    unhurried = CuratorPolicy()
    policy = unhurried.model_copy(
        update={"host_delay": unhurried.host_delay * 0, "feed_delay": unhurried.feed_delay * 0}
    )
    began = time.monotonic()
    handle = await resources.temporal.start_workflow(
        ALL_FEEDS_INGESTION, AllFeedsIngestionInput(policy=policy), id="bench-ingest", task_queue=QUEUE
    )
    first, seconds = await _wait_until_done(resources, wanted, began)
    await handle.result()
    return IngestTimes(wanted, first, seconds, await _measure_costs(resources.temporal))


async def _wait_until_done(resources: Resources, wanted: int, began: float) -> tuple[float, float]:
    first = 0.0
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            async with resources.database.unit_of_work() as work:
                row = (await work.session.execute(_DONE)).one()
            passed = time.monotonic() - began
            first = first or (passed if row.fetched else 0.0)
            if row.fetched == row.distilled == row.indexed == wanted:
                return first, passed
            await asyncio.sleep(LOOK_SECONDS)


async def _measure_costs(temporal: Client) -> Costs:
    workflows = events = size = payloads = largest = 0
    async for run in temporal.list_workflows(f'TaskQueue = "{QUEUE}"'):
        if run.id.startswith("curator-"):
            # Runs of schedules, which exist without any entry.
            continue
        history = await temporal.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        sizes = [len(payload.data) for event in history.events for payload in _list_payloads(event)]
        workflows += 1
        events += len(history.events)
        size += sum(event.ByteSize() for event in history.events)
        payloads += sum(sizes)
        largest = max((largest, *sizes))
    return Costs(workflows, events, size, payloads, largest)


def _list_payloads(message: object) -> Iterator[Payload]:
    """List all payloads inside a protobuf message, at any depth."""
    if isinstance(message, Payload):
        yield message
        return
    for field, value in message.ListFields():  # type: ignore[attr-defined]
        if field.type != field.TYPE_MESSAGE:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = value.values() if field.message_type.fields_by_name["value"].type == field.TYPE_MESSAGE else ()
        else:
            inner = value if field.is_repeated else (value,)
        for one in inner:
            yield from _list_payloads(one)


def _figures(found: IngestTimes) -> tuple[Figure, ...]:
    costs = found.costs
    return (
        Figure(
            name="crawl → fetch → distil → index",
            value=found.entries / found.seconds,
            unit="entries per second",
            better=Better.HIGHER,
            note=f"{found.entries:,} entries in {found.seconds:.1f} s",
        ),
        Figure(name="first article readable", value=found.first_seconds, unit="s"),
        Figure(
            name="history events per entry",
            value=costs.events / found.entries,
            unit="events",
            note=f"{costs.events:,} events of {costs.workflows} workflows",
        ),
        Figure(name="history per entry", value=costs.bytes / found.entries, unit="bytes"),
        Figure(name="payloads per entry", value=costs.payload_bytes / found.entries, unit="bytes"),
        Figure(name="largest payload", value=costs.largest_payload, unit="bytes", aim=PAYLOAD_AIM),
    )
