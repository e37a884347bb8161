"""`pressbox bench opml`: 300 feeds by OPML on a new instance, as somebody meets it who comes from another reader.

The feeds are recordings in a folder (`--data`), each served at as many addresses as it takes, or feeds of our own.
Pages are not fetched: they belong to others.
"""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from pressbox.bench.feed_host import write_feed
from pressbox.bench.instance import measured_instance, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.simulator import run_simulator
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

FEEDS = 300
ENTRIES = 30
LOOK_SECONDS = 0.5
LONGEST_SECONDS = 3_600.0


@dataclass(frozen=True)
class Import:
    """Seconds from the import on, and what there was at its end."""

    answered: float
    first_article: float
    all_read: float
    shown: int
    failing: int
    unread: int


class Recordings(HttpService):
    """Feed N of a folder at /N, from the beginning again after the last; without a folder, feeds of our own."""

    def __init__(self, folder: Path | None) -> None:
        super().__init__()
        files = sorted(file for file in folder.iterdir() if file.is_file()) if folder else []
        self._feeds = [file.read_bytes() for file in files]

    async def answer(self, request: Request) -> Answer:
        number = int(request.path.strip("/"))
        body = self._feeds[number % len(self._feeds)] if self._feeds else write_feed(number, 0, ENTRIES)
        return Answer(200, body, {"Content-Type": "application/xml"})


def run_opml(say: Say, data: Path | None = None, feeds: int = FEEDS) -> Report:
    machine = describe_machine()
    with run_simulator(__name__, str(data or "")) as url, temporary_home() as home:
        environment = {"PRESSBOX_HTTP_ALLOW": urlsplit(url).netloc, "PRESSBOX_CURATOR_FULL_TEXT": "0"}
        with measured_instance(home, **environment) as instance:
            say(f"{feeds} feeds by OPML")
            found = asyncio.run(_measure(instance.web_url, write_opml(url, feeds), feeds))
    note = f"recordings of {data}" if data else "feeds of our own"
    return Report(name="opml", measured_at=datetime.now(UTC), machine=machine, figures=_figures(found, feeds, note))


def write_opml(url: str, feeds: int) -> bytes:
    lines = "".join(f'<outline type="rss" text="Source {n}" xmlUrl="{url}/{n}"/>' for n in range(feeds))
    return f'<opml version="2.0"><body>{lines}</body></opml>'.encode()


async def _measure(url: str, opml: bytes, wanted: int) -> Import:
    async with httpx.AsyncClient(base_url=f"{url}/api/curator", timeout=60, trust_env=False) as client:
        began = time.monotonic()
        answer = await client.post("/opml", content=opml, headers={"Content-Type": "text/x-opml", "Origin": url})
        answer.raise_for_status()
        answered = time.monotonic() - began
        first = 0.0
        async with asyncio.timeout(LONGEST_SECONDS):
            while True:
                feeds = await _feeds(client)
                passed = time.monotonic() - began
                first = first or (passed if any(feed["unread"] for feed in feeds) else 0.0)
                if sum(feed["health"]["outcome"] is not None for feed in feeds) == wanted:
                    break
                await asyncio.sleep(LOOK_SECONDS)
    failing = sum(feed["health"]["failing"] for feed in feeds)
    return Import(answered, first, passed, len(feeds), failing, sum(feed["unread"] for feed in feeds))


async def _feeds(client: httpx.AsyncClient) -> Sequence[Mapping[str, Any]]:
    answer = await client.get("/feeds")
    answer.raise_for_status()
    found: Sequence[Mapping[str, Any]] = answer.json()
    return found


def _figures(found: Import, feeds: int, note: str) -> tuple[Figure, ...]:
    return (
        Figure(name="import answered", value=found.answered, unit="s"),
        Figure(name="first article to read", value=found.first_article, unit="s", aim=60.0, note="the first minute"),
        Figure(name=f"all {feeds} feeds read", value=found.all_read, unit="s", note=note),
        Figure(name="feeds shown", value=found.shown, unit="", better=Better.HIGHER, aim=feeds),
        Figure(name="feeds that say why they cannot be read", value=found.failing, unit=""),
        Figure(name="unread", value=found.unread, unit="", note="at most ten of each"),
    )


async def serve(folder: Path | None) -> None:
    async with Recordings(folder) as service:
        sys.stdout.write(f"{service.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]) if sys.argv[1] else None))
