"""The day of a reader: sources are added, articles are published, one source fails and another recovers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import quoteattr

import httpx

from pressbox.demo.enrichment_day import play_enrichments
from pressbox.demo.news.library import article
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.news_evil import Evil
from pressbox.demo.simulators.news_site import PUBLICATIONS, VIDEO_IDS, NewsSite
from pressbox.demo.stage import Finding, Stage
from pressbox.demo.standstill import report_standstill
from pressbox.demo.world import HELD_ARTICLES

LOOK_SECONDS = 1.0
# Between two articles that are published during the demo.
PUBLISH_SECONDS = 6.0
# Long, because a small machine plays everything at once.
SETTLE = timedelta(seconds=240)
BY_ADDRESS = "harbour"
RECOVERING = "yokocho"
FAILURES = 2
FAILING = Evil.LOGIN
READ_IN_FULL = ("harbour", "workshop", "umland", "yokocho", "digest")
CATEGORIES = {"workshop": "Making", "umland": "Elsewhere", "yokocho": "Elsewhere", "digest": "News", "videos": "News"}
# A phrase, a typing error, the beginning of a compound, a word in a sentence without spaces.
SEARCHES = ('"narrow channel"', "lighthuose", "Wiedervernässungsproj", "豆腐")

Json = dict[str, Any]


class Reader:
    """The trusted user of the open mode, through the API."""

    def __init__(self, web_url: str) -> None:
        self._client = httpx.AsyncClient(base_url=f"{web_url}/api/curator", trust_env=False, timeout=30.0)

    async def close(self) -> None:
        await self._client.aclose()

    async def get(self, path: str, **query: str | int) -> Any:
        return (await self._client.get(path, params=query)).raise_for_status().json()

    async def post(self, path: str, **body: object) -> Any:
        return (await self._client.post(path, json=body)).raise_for_status().json()

    async def send(self, method: str, path: str, **body: object) -> None:
        (await self._client.request(method, path, json=body or None)).raise_for_status()

    async def import_outlines(self, outlines: str) -> None:
        (await self._client.post("/opml", content=outlines.encode())).raise_for_status()

    async def entries(self, **query: str | int) -> list[Json]:
        found: list[Json] = (await self.get("/entries", limit=200, **query))["items"]
        return found


@dataclass(frozen=True)
class Shelf:
    """What the instance shows at one time: feeds by address, and the entries of each."""

    feeds: Mapping[str, Json]
    entries: Mapping[str, Sequence[Json]]

    def count_readable(self, url: str) -> int:
        """Entries with their full article."""
        return sum(1 for one in self.entries.get(url, ()) if one["fetch_state"] in ("fetched", "from feed"))

    def count_distilled(self, url: str) -> int:
        return sum(1 for one in self.entries.get(url, ()) if one["distil_state"] == "distilled" and one["summary"])


async def play_curator(stage: Stage) -> tuple[Finding, ...]:
    """Subscribe, read, mark, search and ask; a source that wants a login fails, another recovers from failures.

    Played once only: another round would remove the articles that somebody may be reading.
    """
    if stage.round > 1:
        return ()
    reader = Reader(stage.web_url)
    try:
        return await _Day(stage, reader).run()
    finally:
        await reader.close()


class _Day:
    def __init__(self, stage: Stage, reader: Reader) -> None:
        self._stage = stage
        self._reader = reader
        self._site: NewsSite = stage.world.news

    async def run(self) -> tuple[Finding, ...]:
        await self._reset()
        self._site.tell(f"{RECOVERING}/{PUBLICATIONS[RECOVERING].path}", Kind.FAILING, times=FAILURES)
        await self._reader.send("POST", "/feeds", url=self._site.site_url(BY_ADDRESS))
        await self._reader.import_outlines(self._write_opml())
        await self._wait_until_done()
        for slug in HELD_ARTICLES:
            self._site.publish(article(slug))
            await asyncio.sleep(self._stage.time(PUBLISH_SECONDS).total_seconds())
        shelf = await self._wait_until_done()
        await self._mark()
        return (*await self._collect_findings(shelf), *await play_enrichments(self._stage, self._reader))

    async def _reset(self) -> None:
        """Remove the feeds of earlier rounds: their newspapers no longer exist."""
        for slug in HELD_ARTICLES:
            self._site.withdraw(slug)
        for view in ("starred", "up"):
            for entry in await self._reader.entries(view=view):
                await self._reader.send(
                    "PATCH", f"/entries/{entry['id']}", starred=False, preference=0, note="", labels=[]
                )
        for feed in await self._reader.get("/feeds"):
            if httpx.URL(feed["url"]).host == "127.0.0.1":
                await self._reader.send("DELETE", f"/feeds/{feed['id']}")
        self._site.forget()

    def _write_opml(self) -> str:
        lines = [
            f"<outline text={quoteattr(category)}><outline type='rss' xmlUrl={quoteattr(self._site.feed_url(name))}/>"
            "</outline>"
            for name, category in CATEGORIES.items()
        ]
        trouble = f"<outline type='rss' text='Members only' xmlUrl={quoteattr(self._site.evil_url(FAILING))}/>"
        return f"<opml version='2.0'><head/><body>{''.join(lines)}{trouble}</body></opml>"

    async def _wait_until_done(self) -> Shelf:
        deadline = datetime.now(UTC) + SETTLE
        while datetime.now(UTC) < deadline:
            await asyncio.sleep(LOOK_SECONDS / self._stage.speed)
            try:
                shelf = await self._look()
            except httpx.HTTPError:
                # The web application or its database may be restarting: some scenarios do that on purpose.
                continue
            if self._done(shelf):
                return shelf
        what = "The reader's day stands still: what it waits for does not come."
        raise await report_standstill(self._stage.resources.temporal, what)

    async def _look(self) -> Shelf:
        feeds = {feed["url"]: feed for feed in await self._reader.get("/feeds")}
        entries = {url: await self._reader.entries(view="feed", id=feed["id"]) for url, feed in feeds.items()}
        return Shelf(feeds, entries)

    def _done(self, shelf: Shelf) -> bool:
        refused = shelf.feeds.get(self._site.evil_url(FAILING))
        return (
            refused is not None
            and refused["health"]["failing"]
            and all(self._complete(shelf, name) for name in READ_IN_FULL)
        )

    def _complete(self, shelf: Shelf, name: str) -> bool:
        url, wanted = self._site.feed_url(name), len(self._site.published(name))
        return shelf.count_readable(url) == wanted and shelf.count_distilled(url) == wanted

    async def _mark(self) -> None:
        """Mark entries as somebody would who likes the harbour."""
        for number, entry in enumerate(await self._reader.entries(q="harbour")):
            await self._reader.send(
                "PATCH", f"/entries/{entry['id']}", read=True, preference=1, starred=number == 0, labels=["sea"]
            )

    async def _collect_findings(self, shelf: Shelf) -> tuple[Finding, ...]:
        urls = {name: self._site.feed_url(name) for name in PUBLICATIONS}
        wanted = sum(len(self._site.published(name)) for name in READ_IN_FULL)
        stories = await self._reader.entries(view="all")
        late = {article(slug).title for slug in HELD_ARTICLES}
        recovered = await self._reader.get(f"/feeds/{shelf.feeds[urls[RECOVERING]]['id']}")
        found = [await self._reader.get("/entries", q=words) for words in SEARCHES]
        recommended = await self._reader.get("/entries", sort="recommended")
        videos = shelf.entries[urls["videos"]]
        return (
            Finding(name="feeds subscribed", expected=len(PUBLICATIONS) + 1, found=len(shelf.feeds)),
            Finding(
                name="articles readable in full",
                expected=wanted,
                found=sum(shelf.count_readable(urls[name]) for name in READ_IN_FULL),
            ),
            Finding(
                name="articles distilled",
                expected=wanted,
                found=sum(shelf.count_distilled(urls[name]) for name in READ_IN_FULL),
            ),
            Finding(
                name="articles published meanwhile",
                expected=len(late),
                found=len({one["title"] for one in stories} & late),
            ),
            Finding(
                name="stories in several feeds",
                expected=len(self._site.published("digest")),
                found=sum(1 for one in stories if one["others"]),
            ),
            Finding(
                name="videos listed and not fetched",
                expected=len(VIDEO_IDS),
                found=sum(1 for one in videos if one["fetch_state"] == "skipped"),
            ),
            Finding(
                name="feeds that fail, with a reason",
                expected=1,
                found=sum(1 for one in shelf.feeds.values() if one["health"]["failing"] and one["health"]["reason"]),
            ),
            Finding(
                name="feeds that recovered",
                expected=1,
                found=int(bool(recovered["errors"]) and not recovered["feed"]["health"]["failing"]),
            ),
            Finding(name="searches that find", expected=len(SEARCHES), found=sum(1 for one in found if one["total"])),
            Finding(name="lists by recommendation", expected=1, found=int(recommended["sort"] == "recommended")),
        )
