"""`pressbox bench reader`: pages of the reader with 200,000 entries of 500 feeds, through the real web process."""

import asyncio
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import psutil
import psycopg

from pressbox.bench.instance import measured_instance, temporary_home
from pressbox.bench.memory import MEGABYTE, PartMemory, measure_memory
from pressbox.bench.reader_library import CATEGORIES, fill, mark_read
from pressbox.bench.report import Figure, Report, Say, describe_machine, percentile_milliseconds
from pressbox.core.db.database import Database
from pressbox.curator.reading.access import PATH
from pressbox.curator.search.store import SqlEmbeddingStore
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.instance import Instance
from pressbox.embedded.leftovers import load_parts

ENTRIES = 200_000
FEEDS = 500
REQUESTS = 100
# As many as are added in a week; vectors for all entries would only take longer to make.
VECTORS = 5_000
VECTORS_AT_ONCE = 500
DIMENSIONS = 512
AIM_MILLISECONDS = 50.0
PARTS = ("web", "worker")

# The shares that are read, from the newest tenth of the entries to the oldest.
BROWSING = (0.5, 0.9, *(0.98,) * 8)
# Everything is read except the oldest entries of every feed: the longest way to the first unread one.
UP_TO_DATE = (*(1.0,) * 9, 0.9)

_AFTER = re.compile(rb"[?&;]after=([0-9.]+)")


@dataclass(frozen=True)
class Page:
    """A kind of page, with addresses that are requested in turn."""

    name: str
    path: Callable[[random.Random], str]


@dataclass(frozen=True)
class PageTimes:
    """`computed` is the processor time of the web process per request, the best figure on a busy machine."""

    name: str
    seconds: Sequence[float]
    size: int
    computed: float


def run_reader(say: Say, entries: int = ENTRIES, feeds: int = FEEDS, requests: int = REQUESTS) -> Report:
    """Takes some minutes, mostly to fill the tables, on a temporary home."""
    machine = describe_machine()
    with temporary_home() as home, measured_instance(home, PRESSBOX_CURATOR_INGEST_MINUTES="1440") as instance:
        url = instance.endpoints.database_url
        with httpx.Client(base_url=instance.web_url, trust_env=False, timeout=60.0) as client:
            user_id = find_owner(client, url)
            say(f"{entries:,} entries of {feeds} feeds")
            fill(url, user_id, entries, feeds)
            mark_read(url, user_id, BROWSING, entries)
            asyncio.run(_add_vectors(url, min(VECTORS, entries)))
            web = find_web_process(instance)
            timed = [_measure_page(client, web, page, requests, say) for page in _list_pages(client, entries, feeds)]
            mark_read(url, user_id, UP_TO_DATE, entries)
            unread = Page("list: unread, all but the oldest read", lambda _: PATH)
            timed.append(_measure_page(client, web, unread, requests, say))
        figures = (*map(_page_figure, timed), *_memory_figures(measure_memory(instance)), *_summary_figures(timed))
    return Report(name="reader", measured_at=datetime.now(UTC), machine=machine, figures=figures)


def _list_pages(client: httpx.Client, entries: int, feeds: int) -> Sequence[Page]:
    cursor = _AFTER.search(client.get(f"{PATH}?list=all").raise_for_status().content)
    assert cursor is not None, "a list of so many entries has a second page"
    after = cursor[1].decode()
    return (
        Page("list: unread", lambda _: PATH),
        Page("list: all", lambda _: f"{PATH}?list=all"),
        Page("list: all, second page", lambda _: f"{PATH}?list=all&after={after}"),
        Page("list: all, oldest first", lambda _: f"{PATH}?list=all&sort=oldest"),
        Page("list: one feed", lambda chance: f"{PATH}?list=feed&all=1&id={chance.randint(1, feeds)}"),
        Page("list: unread of one feed", lambda chance: f"{PATH}?list=feed&id={chance.randint(1, feeds)}"),
        Page("list: unread of a category", lambda chance: f"{PATH}?list=category&id={chance.randint(1, CATEGORIES)}"),
        Page("list: starred", lambda _: f"{PATH}?list=starred"),
        Page("list: recommended", lambda _: f"{PATH}?list=all&sort=recommended"),
        Page("article: new", lambda chance: f"{PATH}/entries/{chance.randint(1, min(VECTORS, entries))}"),
        Page("article: any", lambda chance: f"{PATH}/entries/{chance.randint(1, entries)}"),
    )


def _measure_page(client: httpx.Client, web: psutil.Process, page: Page, requests: int, say: Say) -> PageTimes:
    say(page.name)
    chance = random.Random(page.name)  # noqa: S311 - the same requests in every run
    # A reader does not wait for what is loaded, planned or compiled only once.
    for _ in range(3):
        client.get(page.path(chance)).raise_for_status()
    seconds, size, before = [], 0, web.cpu_times()
    for _ in range(requests):
        path = page.path(chance)
        began = time.perf_counter()
        size = len(client.get(path).raise_for_status().content)
        seconds.append(time.perf_counter() - began)
    after = web.cpu_times()
    computed = after.user + after.system - before.user - before.system
    return PageTimes(page.name, seconds, size, computed / requests)


def find_web_process(instance: Instance) -> psutil.Process:
    (pid,) = (record.process.pid for record in load_parts(instance.home).parts if record.name == "web")
    return psutil.Process(pid)


def find_owner(client: httpx.Client, url: str) -> int:
    """The user of the open mode, created by the first request."""
    client.get(PATH).raise_for_status()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT id FROM core.users ORDER BY id LIMIT 1").fetchone()
    assert found is not None
    return int(found[0])


async def _add_vectors(url: str, count: int) -> None:
    """Add random vectors: their meaning does not change how long a search takes."""
    chance, database = random.Random(count), Database(url)  # noqa: S311 - the same in every run
    store, model = SqlEmbeddingStore(database), embedder(CuratorSettings()).model
    try:
        for start in range(1, count + 1, VECTORS_AT_ONCE):
            numbers = range(start, min(start + VECTORS_AT_ONCE, count + 1))
            await store.save_embeddings(model, {n: [chance.gauss(0, 1) for _ in range(DIMENSIONS)] for n in numbers})
    finally:
        await database.close()


def _page_figure(timed: PageTimes) -> Figure:
    return Figure(
        name=f"{timed.name}: p95",
        value=percentile_milliseconds(timed.seconds, 95),
        unit="ms",
        aim=AIM_MILLISECONDS,
        note=f"median {1000 * statistics.median(timed.seconds):.1f} ms, of which the web process computes "
        f"{1000 * timed.computed:.1f} ms; {timed.size / 1000:,.0f} kB",
    )


def _summary_figures(timed: Sequence[PageTimes]) -> tuple[Figure, ...]:
    return tuple(
        Figure(
            name=f"{kind} pages: p95",
            value=percentile_milliseconds(
                [second for one in timed if one.name.startswith(kind) for second in one.seconds], 95
            ),
            unit="ms",
            aim=AIM_MILLISECONDS,
            note="all kinds together, from the request to the whole answer, one after the other",
        )
        for kind in ("list", "article")
    )


def _memory_figures(parts: Sequence[PartMemory]) -> tuple[Figure, ...]:
    return tuple(
        Figure(
            name=f"memory: {part.name}",
            value=part.proportional / MEGABYTE,
            unit="MB",
            note=f"after all of this; {part.processes} processes, resident {part.resident / MEGABYTE:,.0f} MB",
        )
        for part in parts
        if part.name.startswith(PARTS)
    )
