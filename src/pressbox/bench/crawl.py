"""`pressbox bench crawl`: a thousand feeds, few of them changed, compared with one after the other by feedparser."""

import asyncio
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from statistics import median

from sqlalchemy import TextClause, text
from temporalio.testing import ActivityEnvironment

from pressbox.bench.instance import temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.simulator import run_simulator
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, ObjectsSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.db.migrate import upgrade
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.guard import Address
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect
from pressbox.curator.ingest.contracts import FeedPage, ListFeedsInput, ProbeFeedsInput, ProbeFeedsResult
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.manifest import activities
from pressbox.embedded.home import Home
from pressbox.embedded.postgres import EmbeddedPostgres

FEED_HOST = "pressbox.bench.feed_host"
SECONDS_AIM = 10.0
TIMES_AIM = 20.0
ENTRIES_EACH = 20
DELAY_SECONDS = 0.1
# One in twenty.
CHANGED_STEP = 20
ROUNDS = 3
NEWSBOAT_SECONDS = 900.0

_SUBSCRIBED = text("""
    WITH reader AS (
        INSERT INTO core.users (email, name, password_hash, role)
        VALUES ('bench@example.org', '', 'unusable', 'member') RETURNING id
    ), feed AS (
        INSERT INTO curator.feeds (url)
        SELECT format('http://feed%1$s.example:%2$s/feed/%1$s', number, CAST(:port AS integer))
        FROM generate_series(0, :feeds - 1) AS number RETURNING id
    ), state AS (
        INSERT INTO curator.feed_state (feed_id, next_crawl_at) SELECT id, now() FROM feed
    )
    INSERT INTO curator.subscriptions (user_id, feed_id) SELECT reader.id, feed.id FROM reader, feed
""")
_ENTRIES = text("SELECT count(*) FROM curator.entries")


@dataclass(frozen=True)
class Scale:
    """How much is measured; less is faster and less exact."""

    feeds: int = 1_000
    sampled: int = 50
    delay: float = DELAY_SECONDS


@dataclass(frozen=True)
class CrawlTimes:
    """Seconds of whole rounds over all feeds. `one_by_one` and `newsboat` are for as many unchanged feeds."""

    feeds: int
    first: float
    unchanged: float
    unchanged_processor: float
    changed: float
    news: int
    expected_news: int
    unconditional: int
    one_by_one: float
    sampled: int
    newsboat: float | None


class LoopbackResolver:
    """Resolves every name to loopback, so that each feed has its own host."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        return (ip_address("127.0.0.1"),)


def run_crawl(say: Say, scale: Scale | None = None) -> Report:
    """Takes a minute, on a temporary home."""
    chosen = scale or Scale()
    machine = describe_machine()
    with temporary_home() as home, run_simulator(FEED_HOST, *_host_arguments(chosen)) as address:
        home.create()
        postgres = EmbeddedPostgres(home)
        postgres.start()
        try:
            upgrade(postgres.url)
            found = asyncio.run(_measure(home, postgres.url, int(address.rpartition(":")[2]), chosen, say))
        finally:
            postgres.stop()
    return Report(name="crawl", measured_at=datetime.now(UTC), machine=machine, figures=_figures(found))


def _host_arguments(scale: Scale) -> tuple[str, str, str]:
    return str(scale.feeds), str(ENTRIES_EACH), str(scale.delay)


async def _measure(home: Home, database_url: str, port: int, scale: Scale, say: Say) -> CrawlTimes:
    database = Database(database_url)
    # Nothing listens there and nothing is called: the activities run in this process.
    temporal = await connect(TemporalSettings(), "127.0.0.1:9", lazy=True)
    store = open_store(ObjectsSettings(), home.objects)
    try:
        async with GuardedClient(HttpSettings(allow=("127.0.0.0/8",)), resolver=LoopbackResolver()) as http:
            resources = Resources(Settings(home=home.path), database, temporal, store, http)
            return await _measure_rounds(resources, port, scale, say)
    finally:
        await database.close()


async def _measure_rounds(resources: Resources, port: int, scale: Scale, say: Say) -> CrawlTimes:
    database = resources.database
    async with database.unit_of_work() as work:
        await work.session.execute(_SUBSCRIBED, {"port": port, "feeds": scale.feeds})
    say(f"{scale.feeds:,} feeds for the first time")
    first, _ = await _run_round(resources, scale.feeds)
    before, began_with = _control_host(port, "counts"), await _load_number(database, _ENTRIES)
    say("again, all of them unchanged")
    unchanged = [await _run_round(resources, scale.feeds) for _ in range(ROUNDS)]
    _control_host(port, f"change/{CHANGED_STEP}")
    say("again, one in twenty changed")
    changed, _ = await _run_round(resources, scale.feeds)
    unconditional = _control_host(port, "counts").get("unconditional", 0) - before.get("unconditional", 0)
    say(f"feedparser, one by one, {scale.sampled} feeds")
    alone = await asyncio.to_thread(_crawl_in_turn, port, scale.sampled)
    return CrawlTimes(
        feeds=scale.feeds,
        first=first,
        unchanged=median(seconds for seconds, _ in unchanged),
        unchanged_processor=median(processor for _, processor in unchanged),
        changed=changed,
        news=await _load_number(database, _ENTRIES) - began_with,
        expected_news=len(range(0, scale.feeds, CHANGED_STEP)),
        unconditional=unconditional,
        one_by_one=alone / scale.sampled * scale.feeds,
        sampled=scale.sampled,
        newsboat=await asyncio.to_thread(_run_newsboat, port, scale.feeds, say),
    )


async def _run_round(resources: Resources, expected: int) -> tuple[float, float]:
    """Crawl page by page as the workflow does; returns seconds of real time and of processor time."""
    named = {activity.__name__: activity for activity in activities(resources)[QUEUE]}
    policy, run = CuratorPolicy(), ActivityEnvironment().run
    began, worked, after, asked, failed = time.perf_counter(), time.process_time(), 0, 0, 0
    while True:
        wanted = ListFeedsInput(after_feed_id=after, limit=policy.page_size, only_due=False)
        page: FeedPage = await run(named["list_feeds"], wanted)
        probe = ProbeFeedsInput(feed_ids=page.feed_ids, policy=policy)
        result: ProbeFeedsResult = await run(named["probe_feeds"], probe)
        asked, failed = asked + len(page.feed_ids), failed + result.failed
        if not page.more:
            break
        after = page.feed_ids[-1]
    if failed or asked != expected:
        raise RuntimeError(f"{asked} feeds were asked and {failed} failed; the figures would say nothing.")
    return time.perf_counter() - began, time.process_time() - worked


async def _load_number(database: Database, statement: TextClause) -> int:
    async with database.unit_of_work() as work:
        return int(await work.session.scalar(statement) or 0)


def _control_host(port: int, what: str) -> dict[str, int]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/{what}") as answer:
        return dict(json.loads(answer.read()))


def _crawl_in_turn(port: int, sampled: int) -> float:
    """Crawl in a simple loop, with conditional requests; only the second round counts."""
    import feedparser  # type: ignore[import-untyped]

    urls = [f"http://127.0.0.1:{port}/feed/{number}" for number in range(sampled)]
    tags = [feedparser.parse(url).etag for url in urls]
    began = time.perf_counter()
    for url, tag in zip(urls, tags, strict=True):
        if feedparser.parse(url, etag=tag).status != 304:
            raise RuntimeError("The feed changed although nobody changed it.")
    return time.perf_counter() - began


def _run_newsboat(port: int, feeds: int, say: Say) -> float | None:
    """Seconds of the second reload, with as many threads as we have requests at once; None if not installed."""
    program = shutil.which("newsboat")
    if program is None:
        return None
    say(f"newsboat, {feeds:,} feeds")
    with temporary_home() as home:
        home.create()
        folder: Path = home.path
        (folder / "urls").write_text("".join(f"http://127.0.0.1:{port}/feed/{number}\n" for number in range(feeds)))
        (folder / "config").write_text(f"reload-threads {CuratorPolicy().probes_at_once}\n")
        files = ["-u", str(folder / "urls"), "-c", str(folder / "cache.db"), "-C", str(folder / "config")]
        command = [program, *files, "-x", "reload"]
        subprocess.run(command, check=True, capture_output=True, timeout=NEWSBOAT_SECONDS)
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, timeout=NEWSBOAT_SECONDS)
        return time.perf_counter() - began


def _figures(found: CrawlTimes) -> tuple[Figure, ...]:
    sampled = f"feedparser one by one, sampled on {found.sampled}"
    figures = (
        Figure(name=f"{found.feeds:,} feeds for the first time", value=found.first, unit="s"),
        Figure(
            name=f"{found.feeds:,} unchanged feeds",
            value=found.unchanged,
            unit="s",
            peer=found.one_by_one,
            peer_name=sampled,
            aim=SECONDS_AIM,
            note=f"median of {ROUNDS} rounds",
        ),
        Figure(
            name="times as fast as one by one",
            value=found.one_by_one / found.unchanged,
            unit="times",
            better=Better.HIGHER,
            aim=TIMES_AIM,
        ),
        Figure(
            name="processor time per unchanged feed",
            value=found.unchanged_processor / found.feeds * 1000,
            unit="ms",
            note="of the worker, whatever else the machine does",
        ),
        Figure(
            name=f"{found.feeds:,} feeds, one in {CHANGED_STEP} changed",
            value=found.changed,
            unit="s",
            note=f"{found.news:,} new entries",
        ),
        Figure(name="new entries missed", value=found.expected_news - found.news, unit="entries", aim=0),
        Figure(name="unconditional requests after the first round", value=found.unconditional, unit="requests", aim=0),
    )
    if found.newsboat is None:
        return figures
    beside = Figure(
        name=f"{found.feeds:,} unchanged feeds, beside newsboat",
        value=found.unchanged,
        unit="s",
        peer=found.newsboat,
        peer_name="newsboat",
    )
    return (*figures, beside)
