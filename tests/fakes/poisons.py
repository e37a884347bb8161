"""Feeds that harm whoever reads them, each in its own way, on a server that answers byte by byte."""

import asyncio
import gzip
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from pressbox.curator.library.domain import CrawlOutcome
from tests.integration.http.loopback import LoopbackServer

NEW = CrawlOutcome.NEW
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Poison:
    """What is planted at an address, what a crawl comes to, and words of the reason that people see."""

    plant: Callable[[LoopbackServer, str], None]
    outcome: CrawlOutcome
    reason: str = ""
    path: str = ""


def rss(inner: str = "", *, title: str = "Title", guid: str = "1", content: str = "Text", head: str = "") -> bytes:
    item = f"<guid>{guid}</guid><title>{title}</title><description><![CDATA[{content}]]></description>{inner}"
    whole = f"<rss><channel><title>News</title>{head}<item>{item}</item></channel></rss>"
    return whole.encode("utf-8", "surrogatepass")


def feed(body: bytes, **headers: str) -> Callable[[LoopbackServer, str], None]:
    return lambda server, path: server.answers(path, "200 OK", body, **headers)


def refusal(status: str, **headers: str) -> Callable[[LoopbackServer, str], None]:
    return lambda server, path: server.answers(path, status, b"", **headers)


def redirect(target: str, body: bytes | None = None) -> Callable[[LoopbackServer, str], None]:
    def plant(server: LoopbackServer, path: str) -> None:
        place = target.replace("SELF", path)
        server.redirects(path, place, "301 Moved Permanently")
        if body is not None:
            server.answers(place, body=body)

    return plant


def packed(body: bytes) -> Callable[[LoopbackServer, str], None]:
    return feed(body, Content_Encoding="gzip")


def raw(*lines: str, body: bytes = b"") -> Callable[[LoopbackServer, str], None]:
    return lambda server, path: server.sends(path, *lines, body=body)


def endless(pause: float) -> Callable[[LoopbackServer, str], None]:
    def plant(server: LoopbackServer, path: str) -> None:
        async def send(writer: asyncio.StreamWriter) -> None:
            await server.write(writer, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<rss><channel>")
            while True:
                await server.write(writer, b"<item>" * (1 if pause else 10_000))
                await asyncio.sleep(pause)

        server.routes[path] = send

    return plant


_OPENED = "".join(f"<b id=x{number}>" for number in range(200))
_ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
_BOMB = f'<!DOCTYPE rss [<!ENTITY e0 "boom">{_ENTITIES}]><rss><channel><title>&e11;</title></channel></rss>'.encode()
_HALF = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "\ud800",
        "items": [
            {"id": "\udfff", "title": "\ud83d", "content_html": "<p>\ude00\x00</p>", "url": "https://e.org/\ud800"}
        ],
    }
).encode()
_NUMBERS = (
    "<pubDate>Fri, 31 Dec 99999 23:59:59 GMT</pubDate><enclosure url='https://e.org/a.mp3' length='1e999' type='x'/>"
    f"<enclosure url='https://e.org/b.mp3' length='{'9' * 500}' type='x'/>"
)

POISONS: dict[str, Poison] = {
    "long address": Poison(feed(rss()), NEW, path=f"/{secrets.token_hex(1_200)}"),
    "redirect to a long address": Poison(redirect(f"/{secrets.token_hex(2_500)}", rss()), NEW, "too long"),
    "redirect to itself": Poison(redirect("SELF"), CrawlOutcome.UNREACHABLE, "redirects"),
    "redirect to nonsense": Poison(redirect("http://[::1"), CrawlOutcome.REFUSED_ADDRESS, "no address"),
    "redirect inside": Poison(redirect("http://169.254.169.254/"), CrawlOutcome.REFUSED_ADDRESS, "not on the public"),
    "NUL": Poison(feed(rss(title="a\x00b", guid="\x00", content="c\x00d")), NEW),
    "half characters": Poison(feed(rss(title="\ud800", guid="\udfff", content="\ud83d")), NEW),
    "half characters in numbers": Poison(feed(rss(title="&#xD800;", guid="&#0;")), NEW),
    "half characters in JSON": Poison(feed(_HALF), NEW),
    "giant title": Poison(feed(rss(title="t" * 5 * MEGABYTE)), NEW),
    "giant guid": Poison(feed(rss(guid=secrets.token_hex(MEGABYTE))), NEW),
    "giant link": Poison(feed(rss(f"<link>https://e.org/{secrets.token_hex(20_000)}</link>")), NEW),
    "giant host": Poison(feed(rss(f"<link>https://{'a.' * 3_000}org/</link>")), NEW),
    "long link": Poison(feed(rss(f"<link>https://e.org/{secrets.token_hex(2_000)}</link>")), NEW),
    "giant language": Poison(feed(rss(head=f"<language>{'x' * MEGABYTE}</language>")), NEW),
    "enormous numbers": Poison(feed(rss(_NUMBERS, head=f"<ttl>{'9' * 5_000}</ttl>")), NEW),
    "last moment": Poison(feed(rss("<pubDate>9999-12-31T23:59:59-23:59</pubDate>")), NEW),
    "many entries": Poison(feed(b"<rss><channel>%s</channel></rss>" % (b"<item><guid>x</guid></item>" * 60_000)), NEW),
    "pause without end": Poison(
        refusal("503 Service Unavailable", Retry_After="99999999999999"), CrawlOutcome.SERVER_ERROR, "fault of its own"
    ),
    "infinite pause": Poison(refusal("429 Slow Down", Retry_After="inf"), CrawlOutcome.RATE_LIMITED, "come back later"),
    "no pause": Poison(refusal("429 Slow Down", Retry_After="nan"), CrawlOutcome.RATE_LIMITED, "come back later"),
    "negative pause": Poison(refusal("429 Slow Down", Retry_After="-5"), CrawlOutcome.RATE_LIMITED, "come back later"),
    "pause until the last day": Poison(
        refusal("429 Slow Down", Retry_After="Fri, 31 Dec 9999 23:59:59 -2359"),
        CrawlOutcome.RATE_LIMITED,
        "come back later",
    ),
    "fresh for ever": Poison(
        feed(rss(), Cache_Control="max-age=99999999999999999999", Expires="Fri, 31 Dec 9999 23:59:59 GMT"), NEW
    ),
    "formatting without end": Poison(feed(rss(content=f"<p>{_OPENED}{'<div>x</div>' * 20_000}")), NEW),
    "deep HTML": Poison(feed(rss(content="<div>" * 200_000)), NEW),
    "deep XML": Poison(feed(b"<rss><channel>" + b"<a>" * 50_000), CrawlOutcome.NOT_A_FEED, "neither RSS nor"),
    "entities": Poison(feed(_BOMB), NEW),
    "wrong charset": Poison(feed(rss(), Content_Type="text/xml; charset=utf-32"), NEW),
    "unknown charset": Poison(feed(rss(), Content_Type="text/xml; charset=x-nonsense-9"), NEW),
    "endless body": Poison(endless(0), CrawlOutcome.TOO_LARGE, "larger than"),
    "drip": Poison(endless(0.5), CrawlOutcome.UNREACHABLE, "did not answer completely"),
    "damaged gzip": Poison(packed(b"\x1f\x8b\x08" + b"\xff" * 100), CrawlOutcome.SERVER_ERROR, "damaged"),
    "cut gzip": Poison(packed(gzip.compress(rss())[:-20]), CrawlOutcome.UNREACHABLE, "ended early"),
    "huge gzip": Poison(packed(gzip.compress(bytes(50 * MEGABYTE))), CrawlOutcome.TOO_LARGE, "larger than"),
    "giant validators": Poison(feed(rss(), ETag=f'"{"e" * 20_000}"', Last_Modified="x" * 20_000), NEW),
    "giant headers": Poison(feed(rss(), X_Padding="x" * 80_000), CrawlOutcome.TOO_LARGE, "headers"),
    "giant length": Poison(
        raw("HTTP/1.1 200 OK", f"Content-Length: {'9' * 5_000}"), CrawlOutcome.UNREACHABLE, "does not speak HTTP"
    ),
    "not HTTP": Poison(raw("220 mail.example.org ESMTP"), CrawlOutcome.UNREACHABLE, "does not speak HTTP"),
    "nothing": Poison(feed(b""), CrawlOutcome.NOT_A_FEED, "empty"),
    "unstorable": Poison(feed(rss(title="unstorable")), CrawlOutcome.NOT_A_FEED, "cannot be stored"),
}
