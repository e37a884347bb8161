"""`pressbox bench reader-api`: what a reader app waits for with 200,000 entries, through the real web process."""

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import httpx
import psutil
import psycopg

from pressbox.bench.instance import instance_resources, measured_instance, temporary_home
from pressbox.bench.reader import BROWSING, ENTRIES, FEEDS, UP_TO_DATE, find_owner, find_web_process
from pressbox.bench.reader_library import fill, mark_read
from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.curator.apps.domain import READ, READING_LIST
from pressbox.curator.apps.wiring import app_service
from pressbox.demo.instance import Instance

REQUESTS = 40
# Contents are a hundred times larger than ids.
LARGE_REQUESTS = 15
ITEMS = 1_000
MANY_ITEMS = 10_000
SMALL_PAGE = 20
API = "/reader/api/0"
IDS_MILLISECONDS = 100.0
CONTENTS_MILLISECONDS = 1_500.0

# The middle page of the stream, found by counting from the beginning.
BY_OFFSET = """
    SELECT e.id, e.feed_id, e.first_seen_at
    FROM curator.entries e JOIN curator.subscriptions s ON s.feed_id = e.feed_id AND s.user_id = %s
    ORDER BY e.id DESC OFFSET %s LIMIT %s
"""


@dataclass(frozen=True)
class RequestTimes:
    """`computed` is the processor time of the web process per request, the best figure on a busy machine."""

    seconds: Sequence[float]
    size: int
    computed: float

    @property
    def p95(self) -> float:
        return 1000 * statistics.quantiles(self.seconds, n=100, method="inclusive")[94]

    @property
    def note(self) -> str:
        return (
            f"median {1000 * statistics.median(self.seconds):.1f} ms, of which the web process computes "
            f"{1000 * self.computed:.1f} ms; {self.size / 1000:,.0f} kB unpacked"
        )


@dataclass(frozen=True)
class App:
    """A reader app that is signed in."""

    client: httpx.Client
    web: psutil.Process
    say: Say

    def get(self, path: str) -> bytes:
        return self.client.get(f"{API}/{path}").raise_for_status().content

    def post(self, path: str, ids: Sequence[str]) -> bytes:
        return self.client.post(f"{API}/{path}", data={"i": list(ids)}).raise_for_status().content

    def measure(self, name: str, ask: Callable[[], bytes], requests: int) -> RequestTimes:
        self.say(name)
        # An app does not wait for what is loaded, planned or compiled only once.
        ask()
        seconds, size, before = [], 0, self.web.cpu_times()
        for _ in range(requests):
            began = time.perf_counter()
            size = len(ask())
            seconds.append(time.perf_counter() - began)
        after = self.web.cpu_times()
        return RequestTimes(seconds, size, (after.user + after.system - before.user - before.system) / requests)


def run_reader_api(say: Say, entries: int = ENTRIES, feeds: int = FEEDS, requests: int = REQUESTS) -> Report:
    """Takes some minutes, mostly to fill the tables, on a temporary home."""
    machine = describe_machine()
    with temporary_home() as home, measured_instance(home, PRESSBOX_CURATOR_INGEST_MINUTES="1440") as instance:
        url = instance.endpoints.database_url
        with httpx.Client(base_url=instance.web_url, trust_env=False, timeout=60.0) as client:
            user_id = find_owner(client, url)
            say(f"{entries:,} entries of {feeds} feeds")
            fill(url, user_id, entries, feeds)
            # Apps order by arrival, so that the newest entries have the largest numbers here.
            mark_read(url, user_id, BROWSING[::-1], entries)
            client.headers["Authorization"] = f"GoogleLogin auth={_sign_in(client, instance, user_id)}"
            app = App(client, find_web_process(instance), say)
            figures = [
                *_id_figures(app, url, user_id, entries, requests),
                *_content_figures(app, min(requests, LARGE_REQUESTS)),
            ]
            mark_read(url, user_id, UP_TO_DATE[::-1], entries)
            unread = f"stream/items/ids?s={READING_LIST}&xt={READ}&n={ITEMS}"
            timed = app.measure("ids: unread, all but the oldest read", lambda: app.get(unread), requests)
            figures.append(_request_figure("ids: 1,000 unread, all but the oldest read", timed, IDS_MILLISECONDS))
    return Report(name="reader-api", measured_at=datetime.now(UTC), machine=machine, figures=tuple(figures))


def _id_figures(app: App, url: str, user_id: int, entries: int, requests: int) -> Sequence[Figure]:
    middle = entries // 2
    asked = (
        ("ids: 1,000 of everything", f"s={READING_LIST}&n={ITEMS}", IDS_MILLISECONDS),
        ("ids: 1,000 unread", f"s={READING_LIST}&xt={READ}&n={ITEMS}", IDS_MILLISECONDS),
        ("ids: 1,000 of a folder", f"s=user/-/label/Category 3&n={ITEMS}", IDS_MILLISECONDS),
        ("ids: 10,000 unread", f"s={READING_LIST}&xt={READ}&n={MANY_ITEMS}", None),
    )
    figures = []
    for name, query, aim in asked:
        timed = app.measure(name, partial(app.get, f"stream/items/ids?{query}"), requests)
        figures.append(_request_figure(name, timed, aim))
    # Here our ids are the positions in the stream, counted from the other end.
    after = entries - middle + 1
    path = f"stream/items/ids?s={READING_LIST}&n={ITEMS}&c={after}"
    deep = app.measure("ids: 1,000 from the middle", lambda: app.get(path), requests)
    peer = _measure_offset(url, user_id, middle, requests)
    return [
        *figures,
        _request_figure("ids: 1,000 from the middle", deep, IDS_MILLISECONDS, peer, "OFFSET, the query alone"),
    ]


def _content_figures(app: App, requests: int) -> Sequence[Figure]:
    ids = [one["id"] for one in httpx.Response(200, content=app.get(f"stream/items/ids?n={ITEMS}")).json()["itemRefs"]]
    whole = app.measure(
        "contents: 1,000 of everything", lambda: app.get(f"stream/contents/{READING_LIST}?n={ITEMS}"), requests
    )
    named = app.measure("contents: 1,000 by their ids", lambda: app.post("stream/items/contents", ids), requests)
    small = app.measure("the same in pages of 20", lambda: _load_pages(app), max(2, requests // 5))
    peer = f"in pages of {SMALL_PAGE}"
    return [
        _request_figure("contents: 1,000 of everything", whole, CONTENTS_MILLISECONDS, small.p95, peer),
        _request_figure("contents: 1,000 by their ids", named, CONTENTS_MILLISECONDS, small.p95, peer),
    ]


def _load_pages(app: App) -> bytes:
    continuation, content = "", b""
    for _ in range(ITEMS // SMALL_PAGE):
        content = app.get(f"stream/contents/{READING_LIST}?n={SMALL_PAGE}{continuation}")
        continuation = f"&c={httpx.Response(200, content=content).json().get('continuation', 1)}"
    return content


def _measure_offset(url: str, user_id: int, offset: int, requests: int) -> float:
    seconds = []
    with psycopg.connect(url) as connection:
        for _ in range(requests):
            began = time.perf_counter()
            connection.execute(BY_OFFSET, (user_id, offset, ITEMS)).fetchall()
            seconds.append(time.perf_counter() - began)
    return RequestTimes(seconds, 0, 0).p95


def _sign_in(client: httpx.Client, instance: Instance, user_id: int) -> str:
    async def password() -> str:
        async with instance_resources(instance) as resources:
            return (await app_service(resources).add_password(user_id, "bench")).secret

    with psycopg.connect(instance.endpoints.database_url) as connection:
        found = connection.execute("SELECT email FROM core.users WHERE id = %s", (user_id,)).fetchone()
    assert found is not None
    wish = {"Email": found[0], "Passwd": asyncio.run(password()), "output": "json"}
    return str(client.post("/accounts/ClientLogin", data=wish).raise_for_status().json()["Auth"])


def _request_figure(
    name: str, timed: RequestTimes, aim: float | None, peer: float | None = None, peer_name: str = ""
) -> Figure:
    return Figure(
        name=f"{name}: p95", value=timed.p95, unit="ms", aim=aim, note=timed.note, peer=peer, peer_name=peer_name
    )
