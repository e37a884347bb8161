"""`pressbox bench together`: the first page and the search as one types, with much of everything."""

import asyncio
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psutil

from pressbox.bench.cost.meter import count_statements
from pressbox.bench.instance import instance_resources, measured_instance, temporary_home
from pressbox.bench.reader import BROWSING, FEEDS, find_owner, find_web_process
from pressbox.bench.reader_library import fill, mark_read
from pressbox.bench.report import Figure, Report, Say, describe_machine, percentile_milliseconds
from pressbox.bench.together_library import bring_to_now, fill_together, list_typed
from pressbox.core.app import AppManifest, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.errors import InvalidInputError
from pressbox.core.today.front_page import load_front_page
from pressbox.core.today.searching import search_everything
from pressbox.core.web.topics import audience_kinds
from pressbox.curator.search.store import SqlIndexStore
from pressbox.curator.search.wiring import index_writer
from pressbox.demo.instance import Instance
from pressbox.embedded.home import Home

ENTRIES = 200_000
MATCHES = 10_000
EVENTS = 10_000
REQUESTS = 200
INDEXED_AT_ONCE = 2_000
OF_EACH = 4
AIM_MILLISECONDS = 60.0
AIM_STATEMENTS = 12
NANOSECONDS = 1e9
FLOOR = "/healthz"
FLOOR_NAME = "bare handler"


@dataclass(frozen=True)
class Size:
    """How much of everything there is."""

    entries: int = ENTRIES
    matches: int = MATCHES
    events: int = EVENTS

    def __str__(self) -> str:
        return f"{self.entries:,} entries, {self.matches:,} matches, {self.events:,} events"


@dataclass(frozen=True)
class Measured:
    """Seconds of each request, and seconds that the web process computed for it."""

    seconds: Sequence[float]
    computed: Sequence[float]


def run_together(
    say: Say,
    manifests: Sequence[AppManifest],
    size: Size | None = None,
    kept: Path | None = None,
    requests: int = REQUESTS,
) -> Report:
    """Takes some minutes, mostly to fill the tables and the index. What is `kept` in a folder is filled once only."""
    machine, size = describe_machine(), size or Size()
    with _home(kept, size) as home, measured_instance(home, PRESSBOX_CURATOR_INGEST_MINUTES="1440") as instance:
        url = instance.endpoints.database_url
        with httpx.Client(base_url=instance.web_url, trust_env=False, timeout=60.0) as client:
            user_id = find_owner(client, url)
            if _is_filled(home):
                bring_to_now(url)
            else:
                say(str(size))
                _fill(url, user_id, size)
                say("The index of the articles")
                asyncio.run(_fill_index(instance))
                _mark_path(home).write_text(str(size))
            typed = list_typed(url, requests)
            counted = asyncio.run(_count(instance, manifests, user_id, typed))
            web = find_web_process(instance)
            floor = _measure(client, web, [FLOOR] * requests)
            say("The first page")
            front = _measure(client, web, ["/"] * requests)
            say("The search, as one types")
            search = _measure(client, web, [f"/search/part?q={words}" for words in typed])
    timed = (*_figures("first page", front, floor), *_figures("search", search, floor))
    figures = (*timed, *_statement_figures(*counted))
    return Report(name="together", measured_at=datetime.now(UTC), machine=machine, figures=figures)


@contextmanager
def _home(kept: Path | None, size: Size) -> Iterator[Home]:
    """A home of its own for this run, or the one that is kept, if it holds as much as is asked for."""
    if kept is None:
        with temporary_home() as home:
            yield home
        return
    home = Home(kept.absolute())
    if _is_filled(home) and (filled := _mark_path(home).read_text()) != str(size):
        raise InvalidInputError(f"{kept} holds {filled}. Name another folder, or remove it.", field="home")
    if not _is_filled(home) and home.path.exists():
        raise InvalidInputError(f"{kept} was not filled by this benchmark. Name another folder.", field="home")
    home.path.parent.mkdir(parents=True, exist_ok=True)
    yield home


def _mark_path(home: Home) -> Path:
    return home.path / "together.txt"


def _is_filled(home: Home) -> bool:
    return _mark_path(home).exists()


def _fill(url: str, user_id: int, size: Size) -> None:
    fill(url, user_id, size.entries, FEEDS)
    mark_read(url, user_id, BROWSING, size.entries)
    fill_together(url, user_id, size.matches, size.events)


async def _fill_index(instance: Instance) -> None:
    async with instance_resources(instance) as resources:
        await _index(resources)


async def _count(
    instance: Instance, manifests: Sequence[AppManifest], user_id: int, typed: Sequence[str]
) -> tuple[int, Sequence[int]]:
    """The statements of the page and of searches."""
    viewer = Viewer(user_id, is_administrator=True, kinds=audience_kinds(manifests))
    async with instance_resources(instance) as resources:
        await load_front_page(resources, viewer, manifests)
        with count_statements(resources.database) as page:
            await load_front_page(resources, viewer, manifests)
        searches = []
        for words in typed[:20]:
            with count_statements(resources.database) as one:
                await search_everything(resources, viewer, manifests, words, OF_EACH)
            searches.append(one.number)
        return page.number, searches


async def _index(resources: Resources) -> None:
    store, index = SqlIndexStore(resources.database), index_writer(resources)
    generation, last = await index.begin_generation(), 0
    while ids := await store.ids_after(last, INDEXED_AT_ONCE):
        await index.add(await store.load_documents(ids), generation)
        last = ids[-1]
    await index.swap(generation)
    await store.record_index(await index.find(), complete=True)


def _measure(client: httpx.Client, web: psutil.Process, paths: Sequence[str]) -> Measured:
    for path in paths[:5]:
        client.get(path).raise_for_status()
    seconds, computed = [], []
    for path in paths:
        before, began = _computed_seconds(web), time.perf_counter()
        client.get(path).raise_for_status()
        seconds.append(time.perf_counter() - began)
        computed.append(_computed_seconds(web) - before)
    return Measured(seconds, computed)


def _computed_seconds(process: psutil.Process) -> float:
    """Processor time of all its threads. Where the kernel tells it to the nanosecond; elsewhere in hundredths."""
    try:
        threads = list(Path(f"/proc/{process.pid}/task").iterdir())
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / NANOSECONDS
    except (OSError, ValueError, IndexError):
        times = process.cpu_times()
        return float(times.user + times.system)


def _figures(name: str, measured: Measured, floor: Measured) -> tuple[Figure, ...]:
    return (
        Figure(
            name=f"{name}: processor time, p95",
            value=percentile_milliseconds(measured.computed, 95),
            unit="ms",
            peer=percentile_milliseconds(floor.computed, 95),
            peer_name=FLOOR_NAME,
            aim=AIM_MILLISECONDS,
            note=f"of the web process; median {1000 * statistics.median(measured.computed):.1f} ms",
        ),
        Figure(
            name=f"{name}: p95",
            value=percentile_milliseconds(measured.seconds, 95),
            unit="ms",
            peer=percentile_milliseconds(floor.seconds, 95),
            peer_name=FLOOR_NAME,
            aim=AIM_MILLISECONDS,
            note=f"from the request to the whole answer; p50 {percentile_milliseconds(measured.seconds, 50):.1f} ms",
        ),
    )


def _statement_figures(page: int, searches: Sequence[int]) -> tuple[Figure, ...]:
    note = "without who asks"
    return (
        Figure(name="first page: statements", value=page, unit="statements", aim=AIM_STATEMENTS, note=note),
        Figure(name="search: statements", value=max(searches, default=0), unit="statements", note=f"the most; {note}"),
    )
