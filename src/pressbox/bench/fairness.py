"""`pressbox bench fairness`: what a reader waits for while a greedy member holds streams and heavy previews."""

import asyncio
import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import psycopg

from pressbox.bench.instance import instance_resources, measured_instance, temporary_home
from pressbox.bench.reader import find_owner
from pressbox.bench.reader_library import fill
from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.core.accounts.models import Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.processes.parents import bind_to_parent
from pressbox.curator.reading.access import PATH
from pressbox.demo.instance import Instance

ENTRIES, FEEDS = 5_000, 50
STREAMS = 400
REQUESTS = 200
CHANGES = 1_000
TIMES_SLOWER = 2.0
AGAIN_SECONDS = 1.0
HEAVY_RULE = "//*[count(.//*[count(.//*[count(preceding::*) > 3]) > 0]) > 0]"
HEAVY_PAGE = b"<html><body>" + b"<div><p><b>x</b></p>" * 5_000 + b"</div>" * 5_000 + b"</body></html>"


@dataclass(frozen=True)
class Greed:
    """What the greedy member does, in a process of its own."""

    web_url: str
    token: str
    page_url: str
    streams: int


def run_fairness(say: Say, streams: int = STREAMS, requests: int = REQUESTS) -> Report:
    machine = describe_machine()
    # The limits of everybody, not those of benchmarks.
    usual = {"PRESSBOX_QUOTAS": "", "PRESSBOX_WEB_STREAMS_PER_ADDRESS": "", "PRESSBOX_WEB_CONNECTIONS_PER_ADDRESS": ""}
    with (
        temporary_home() as home,
        serve_heavy_page() as page_url,
        measured_instance(
            home, PRESSBOX_CURATOR_INGEST_MINUTES="1440", PRESSBOX_HTTP_ALLOW="127.0.0.0/8", **usual
        ) as instance,
        httpx.Client(base_url=instance.web_url, trust_env=False, timeout=120.0) as client,
    ):
        url = instance.endpoints.database_url
        fill(url, find_owner(client, url), ENTRIES, FEEDS)
        _note_changes(url)
        token = asyncio.run(_add_member(instance))
        say("quiet")
        quiet = _time_pages(client, requests)
        say(f"{streams} streams and heavy previews of another member")
        with _greedy(Greed(instance.web_url, token, page_url, streams)):
            loaded = _time_pages(client, requests)
    return Report(name="fairness", measured_at=datetime.now(UTC), machine=machine, figures=_figures(quiet, loaded))


def _figures(quiet: Sequence[float], loaded: Sequence[float]) -> tuple[Figure, ...]:
    return (
        Figure(name="a reader's page, quiet: p50", value=_percentile(quiet, 50), unit="ms"),
        Figure(name="a reader's page, quiet: p95", value=_percentile(quiet, 95), unit="ms"),
        Figure(name="a reader's page, beside greed: p50", value=_percentile(loaded, 50), unit="ms"),
        Figure(name="a reader's page, beside greed: p95", value=_percentile(loaded, 95), unit="ms"),
        Figure(
            name="p95 beside greed, in quiet ones",
            value=_percentile(loaded, 95) / _percentile(quiet, 95),
            unit="times",
            aim=TIMES_SLOWER,
            note="both figures are of one run on one machine",
        ),
    )


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return 1000 * statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1]


def _time_pages(client: httpx.Client, requests: int) -> list[float]:
    seconds = []
    for number in range(requests + 3):
        began = time.perf_counter()
        answer = client.get(f"{PATH}?list=all")
        assert answer.status_code == 200, answer.text
        # A reader does not wait for what is loaded, planned or compiled only once.
        if number >= 3:
            seconds.append(time.perf_counter() - began)
    return seconds


def _note_changes(url: str) -> None:
    """What a stream from the beginning has to catch up with."""
    statement = "INSERT INTO core.changes (kind, key) SELECT 'workflow', 'w' || n FROM generate_series(1, %s) AS n"
    with psycopg.connect(url) as connection:
        connection.execute(statement, (CHANGES,))


async def _add_member(instance: Instance) -> str:
    async with instance_resources(instance) as resources:
        accounts = AccountService(resources.database, resources.settings)
        member = await accounts.add_user("greedy@example.org", "four words in a row")
        return (await accounts.add_token(member.id, "greed", {Scope.READ, Scope.WRITE})).secret


@contextmanager
def serve_heavy_page() -> Iterator[str]:
    """A page that is small to send and heavy to search."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(HEAVY_PAGE)))
            self.end_headers()
            self.wfile.write(HEAVY_PAGE)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the report is what is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/heavy.html"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _greedy(greed: Greed) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    process = context.Process(target=be_greedy, args=(greed, begun), daemon=True)
    process.start()
    try:
        begun.wait(60)
        yield
    finally:
        process.kill()
        process.join()


def be_greedy(greed: Greed, begun: "threading.Event") -> None:
    """Hold as many streams and previews as one gets, and come back for more, until killed."""
    bind_to_parent(os.getppid())
    asyncio.run(_take_all(greed, begun))


async def _take_all(greed: Greed, begun: "threading.Event") -> None:
    limits = httpx.Limits(max_connections=greed.streams + 10)
    # From elsewhere, as far as the server can tell.
    transport = httpx.AsyncHTTPTransport(limits=limits, local_address="127.0.0.2", trust_env=False)
    headers = {"Authorization": f"Bearer {greed.token}"}
    async with httpx.AsyncClient(base_url=greed.web_url, headers=headers, transport=transport, timeout=120.0) as client:
        tasks = [asyncio.create_task(_hold_stream(client)) for _ in range(greed.streams)]
        tasks += [asyncio.create_task(_preview(client, greed.page_url)) for _ in range(4)]
        await asyncio.sleep(AGAIN_SECONDS)
        begun.set()
        await asyncio.gather(*tasks)


async def _hold_stream(client: httpx.AsyncClient) -> None:
    while True:
        try:
            async with client.stream("GET", "/api/stream?topics=workflow&cursor=0") as answer:
                async for _ in answer.aiter_raw():
                    pass
        except httpx.HTTPError:
            # Refused or ended: that is what the limits are for.
            pass
        await asyncio.sleep(AGAIN_SECONDS)


async def _preview(client: httpx.AsyncClient, page_url: str) -> None:
    rule = {"kind": "xpath", "expression": HEAVY_RULE}
    while True:
        with suppress(httpx.HTTPError):
            await client.post("/api/curator/preview", json={"url": page_url, "rules": [rule]})
        await asyncio.sleep(AGAIN_SECONDS)
