"""A thousand publishers in one process: each answers after a delay and counts its requests.

`python -m pressbox.bench.feed_host FEEDS ENTRIES SECONDS` prints its port.
"""

import asyncio
import json
import sys
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
PARAGRAPH = "<p>The council met on Tuesday and put off the decision about the bridge until the spring.</p>"


def write_feed(feed: int, version: int, entries: int) -> bytes:
    """RSS with this many entries, newest first; each version has a new one first and drops the last."""
    items = "".join(
        f"<item><guid>{feed}-{number}</guid><title>Report {number} of publisher {feed}</title>"
        f"<link>http://feed{feed}.example/report/{number}</link>"
        f"<pubDate>{format_datetime(BEGIN + timedelta(hours=number))}</pubDate>"
        f"<description><![CDATA[{PARAGRAPH * 8}]]></description></item>"
        for number in range(version + entries - 1, version - 1, -1)
    )
    channel = f"<title>Publisher {feed}</title><link>http://feed{feed}.example/</link>"
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{channel}{items}</channel></rss>'.encode()


class FeedHost:
    """Feeds at /feed/N; /-/change/N adds an entry to every Nth of them; /-/counts counts the requests."""

    def __init__(self, feeds: int, entries: int, delay: float) -> None:
        self._feeds = feeds
        self._entries = entries
        self._delay = delay
        self._versions: Counter[int] = Counter()
        self._counts: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Clients may close the connection early.
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                writer.write(await self._answer(head))
                await writer.drain()
        writer.close()

    async def _answer(self, head: str) -> bytes:
        path = head.split(" ", 2)[1]
        _, kind, *rest = path.split("/")
        if kind == "feed":
            await asyncio.sleep(self._delay)
            return self._feed(int(rest[0]), head)
        if rest[0] == "change":
            self._versions.update(range(0, self._feeds, int(rest[1])))
        return _answer("200 OK", json.dumps(self._counts).encode())

    def _feed(self, feed: int, head: str) -> bytes:
        tag = f'"{self._versions[feed]}"'
        asked = [line.partition(":")[2].strip() for line in head.split("\r\n") if line.lower().startswith("if-none-")]
        self._counts["conditional" if asked else "unconditional"] += 1
        if asked == [tag]:
            return _answer("304 Not Modified", b"", tag)
        return _answer("200 OK", write_feed(feed, self._versions[feed], self._entries), tag)


def _answer(status: str, body: bytes, tag: str = "") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: application/rss+xml"]
    return "\r\n".join([*lines, *([f"ETag: {tag}"] if tag else []), "", ""]).encode() + body


async def run(feeds: int, entries: int, delay: float) -> None:
    listener = await asyncio.start_server(FeedHost(feeds, entries, delay).serve, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{listener.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await listener.serve_forever()


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
