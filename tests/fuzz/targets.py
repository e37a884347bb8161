"""The fuzz targets: every parser of bytes that strangers send, and what each may refuse.

A target loads its parser with its first input. The fuzzer rewrites all that is loaded, which takes longer than the runs
of some targets, so that none may load the parsers of others.
"""

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from lxml.html import HtmlElement, fragments_fromstring  # type: ignore[import-untyped]
from pydantic import ValidationError

from pressbox.core.errors import PressboxError
from tests.shared_data import shared

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PLACE = "https://news.example.org/feed"


@dataclass(frozen=True)
class Target:
    """`run` takes one input. It may raise what `refuses` names; everything else is a finding."""

    name: str
    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    refuses: tuple[type[Exception], ...] = (PressboxError,)
    words: tuple[bytes, ...] = ()
    # Recordings of real answers, read where they lie; without them the seeds are what we wrote ourselves.
    recordings: str = ""
    longest: int = 16_384
    # How many inputs a test tries: some seconds of a quiet machine.
    runs: int = 20_000


def fuzz_feed(data: bytes) -> None:
    from pressbox.curator.feeds.parser import parse_feed
    from pressbox.curator.text.plain_text import make_storable

    feed = parse_feed(data, "application/xml", PLACE, now=NOW)
    for entry in feed.entries:
        # What is stored must be storable: no NUL, no lone surrogate.
        for text in (entry.title, entry.guid, entry.url, entry.author, entry.content):
            make_storable(text).encode()


def fuzz_page(data: bytes) -> None:
    from pressbox.curator.articles.extraction import extract_article
    from pressbox.curator.feeds.discovery import find_feed_links
    from pressbox.curator.text.charsets import decode

    html = decode(data, "text/html").text
    extract_article(html, PLACE, (), NOW)
    find_feed_links(html, PLACE)


def fuzz_markup(data: bytes) -> None:
    from pressbox.curator.articles.extraction import extract_feed_text
    from pressbox.curator.articles.sanitizer import sanitise
    from pressbox.curator.text.plain_text import to_plain_text

    html = data.decode("utf-8", "replace")
    clean = sanitise(html, PLACE)
    for element in fragments_fromstring(clean) if clean.strip() else ():
        if not isinstance(element, str):
            check_harmless(element)
    to_plain_text(clean)
    extract_feed_text(html, PLACE)


def check_harmless(root: HtmlElement) -> None:
    for element in root.iter():
        if element.tag in ("script", "style", "iframe", "object", "embed", "form", "base", "link", "meta"):
            raise AssertionError(f"<{element.tag}> survived")
        for name, value in element.attrib.items():
            scheme = "".join(value.split()).lower().partition(":")[0]
            if name.startswith("on") or scheme in ("javascript", "vbscript", "data"):
                raise AssertionError(f"{name}={value!r} survived")


def fuzz_opml(data: bytes) -> None:
    from pressbox.curator.feeds.opml import read_opml, write_opml

    outline = read_opml(data)
    # What was read can be written and read again.
    again = read_opml(write_opml(outline.feeds, outline.title, NOW))
    # Feeds of one folder come to stand together.
    if {feed.url for feed in again.feeds} != {feed.url for feed in outline.feeds}:
        raise AssertionError("a list that was written is not read as it was")


def fuzz_texts(data: bytes) -> None:
    """Short texts of strangers: dates, addresses, queries, durations, ranges."""

    from pressbox.curator.feeds.dates import parse_date
    from pressbox.curator.library.urls import canonical_url
    from pressbox.curator.search.domain.query import parse_query
    from pressbox.footy.web.ranges import UnsatisfiableRange, parse_range
    from pressbox.footy.x.results import parse_duration

    text = data.decode("utf-8", "replace")
    parse_date(text)
    canonical_url(text)
    parse_query(text)
    parse_duration(text)
    with suppress(UnsatisfiableRange):
        parse_range(text, 1_000)


def fuzz_model_answer(data: bytes) -> None:
    from pressbox.core.models.completions import json_in
    from pressbox.curator.ask.domain import cited
    from pressbox.curator.distil.model import Material
    from pressbox.curator.library.domain import ToDistil

    text = data.decode("utf-8", "replace")
    article = ToDistil(1, "Title", "First line.\nSecond line.", "en", "hash")
    Material(article, "mark").read_summary(text)
    cited(text)
    json_in(text)


def fuzz_completion(data: bytes) -> None:
    """What an endpoint sends: a completion, a refusal, or lines of a stream."""

    from pressbox.core.models.completions import StreamedAnswer, parse_completion, parse_trouble

    parse_trouble(data)
    with suppress(ValueError):
        parse_completion(data)
    stream = StreamedAnswer()
    for line in data.decode("utf-8", "replace").splitlines():
        stream.add(line)
    stream.said()


def fuzz_translation(data: bytes) -> None:
    """An article, a form feed, and what a translator made of it."""

    from pressbox.curator.articles.sanitizer import sanitise
    from pressbox.curator.translate.blocks import find_blocks
    from pressbox.curator.translate.domain import read_answer

    html, _, answer = data.decode("utf-8", "replace").partition("\f")
    for block in find_blocks("Title", "", sanitise(html, PLACE)):
        read_answer(block, answer)


def fuzz_cookies(data: bytes) -> None:
    from pressbox.footy.x.session import Cookie

    for item in json.loads(data):
        Cookie.model_validate(item).is_for("x.com")


def fuzz_clock(data: bytes) -> None:
    from pressbox.footy.domain.clock import ClockReading, validate_timestamp

    texts = [*data.decode("utf-8", "replace").split("|"), "", "", ""]
    readings = [ClockReading(texts[0], texts[1], texts[2]), ClockReading(texts[1], second=2.0)]
    validate_timestamp(readings, 75, None)


def fuzz_fixture(data: bytes) -> None:
    from pressbox.footy.domain.fixture_parser import parse_fixture

    raw = json.loads(data)
    if isinstance(raw, dict):
        parse_fixture(raw)


def fuzz_side_car(data: bytes) -> None:
    from pressbox.footy.adapters.sources.folder import parse_side_car

    parse_side_car(data, "clip.mp4")


def fuzz_calendar(data: bytes) -> None:
    from pressbox.soonish.domain.calendar_files import read_file
    from pressbox.soonish.domain.times import is_zone
    from pressbox.soonish.web.event_form import EventForm

    for entry in read_file(data, "Europe/Berlin", NOW).offered:
        if not is_zone(entry.timezone):
            raise AssertionError(f"{entry.timezone!r} is no zone")
        EventForm.from_calendar(entry).to_input()


def fuzz_video(data: bytes) -> None:
    from pressbox.footy.adapters.media.probe import probe_video

    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        file.write(data)
        file.flush()
        probe_video(Path(file.name))


@cache
def small_video() -> bytes:
    """A clip of a few frames, made here."""
    import av
    import numpy as np

    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        with av.open(file.name, "w") as container:
            stream = container.add_stream("mpeg4", rate=5)
            stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
            for number in range(3):
                picture = np.full((32, 32, 3), number * 60, dtype=np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            container.mux(stream.encode())
        return Path(file.name).read_bytes()


RSS = (
    b'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>T</title><link>https://a.example/</link>'
    b"<item><title>One &amp; two</title><guid>1</guid><link>/1</link><pubDate>Mon, 01 Jun 2026 10:00:00 +0200</pubDate>"
    b"<description>&lt;p&gt;Text&lt;/p&gt;</description><enclosure url='a.mp3' length='5' type='audio/mpeg'/></item>"
    b"</channel></rss>"
)
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><id>x</id><entry><id>1</id>'
    b'<title type="html">&lt;b&gt;</title>'
    b'<link href="/1"/><updated>2026-06-01T10:00:00Z</updated>'
    b'<content type="xhtml"><div>x</div></content></entry></feed>'
)
JSON_FEED = (
    b'{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":1,"url":"/1","content_html":"<p>x"}]}'
)
PAGE = (
    b"<!doctype html><html lang=en><head><title>T</title><link rel=alternate type='application/rss+xml' href=/feed>"
    b'<script type="application/ld+json">{"@type":"Article","headline":"T","datePublished":"2026-06-01"}</script>'
    b"</head><body><article><h1>T</h1><p>A sentence that is long enough.</p><img srcset='a.png 2x'></article>"
)
OPML = (
    b'<?xml version="1.0"?><opml version="2.0"><head><title>T</title></head><body><outline text="News">'
    b'<outline type="rss" text="A" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/></outline></body></opml>'
)
FIXTURE = (
    b'{"fixture":{"id":1,"date":"2026-06-01T15:00:00+00:00","status":{"short":"2H","elapsed":75,"extra":null}},'
    b'"league":{"id":39,"name":"L","season":2026},"teams":{"home":{"id":1,"name":"A"},"away":{"id":2,"name":"B"}},'
    b'"goals":{"home":1,"away":0},"score":{"penalty":{"home":null,"away":null}},"events":[{"time":{"elapsed":12,"extra":null},'
    b'"team":{"id":1,"name":"A"},"player":{"id":7,"name":"P"},"assist":{"id":null,"name":null},"type":"Goal",'
    b'"detail":"Normal Goal","comments":null}]}'
)
COMPLETION = (
    b'{"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}],'
    b' "usage": {"prompt_tokens": 7, "completion_tokens": 2}}'
)
STREAM = b'data: {"choices": [{"delta": {"content": "In short"}}]}\n\ndata: [DONE]\n\n'
CALENDAR = (
    b"BEGIN:VCALENDAR\r\nX-WR-TIMEZONE:Europe/Berlin\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Choir\\, and\r\n  more\r\n"
    b'DTSTART;TZID="W. Europe Standard Time":20260506T190000\r\nDURATION:PT1H30M\r\n'
    b"RRULE:FREQ=MONTHLY;BYDAY=-1WE;UNTIL=20290101T000000Z\r\nEXDATE:20260624T170000Z\r\nEND:VEVENT\r\n"
    b"BEGIN:VEVENT\r\nUID:1\r\nRECURRENCE-ID:20260527T170000Z\r\nDTSTART;VALUE=DATE:20260528\r\nEND:VEVENT\r\n"
    b"END:VCALENDAR\r\n"
)
CALENDAR_WORDS = (b"FREQ=YEARLY", b"BYMONTHDAY=", b"BYSETPOS=", b"INTERVAL=", b"BYEASTER=", b"DTEND", b"TZID=", b"P1W")
ANSWER = b'```json\n{"articles":[{"article":1,"summary":"Short [1].","start":0,"end":1,"language":"en"}]}\n```'
XML_WORDS = (
    b"<![CDATA[",
    b"]]>",
    b"&#x0;",
    b"&nbsp;",
    b"<!ENTITY",
    b"xml:base",
    b"encoding=",
    b"utf-16",
    b"content:encoded",
)
HTML_WORDS = (
    b"<svg",
    b"<math",
    b"<template",
    b"<style",
    b"<b id=x>",
    b"<noscript",
    b"srcset=",
    b"href=javascript:",
    b"&colon;",
)

TARGETS = (
    Target("feed", fuzz_feed, (RSS, ATOM, JSON_FEED), words=XML_WORDS, recordings="providers/feeds", runs=600),
    Target("page", fuzz_page, (PAGE,), words=HTML_WORDS, recordings="providers/pages", runs=500),
    Target("markup", fuzz_markup, (PAGE, b"<p><b id=1><i>x</b></i><table><td><p>"), words=HTML_WORDS, runs=2_500),
    Target("opml", fuzz_opml, (OPML,), words=XML_WORDS),
    Target(
        "texts",
        fuzz_texts,
        (b"Mon, 01 Jun 2026 10:00:00 +0200", b"https://a.example/?utm_source=x#y", b'"a b" -c author:d', b"1:02:03",
         b"bytes=0-99", b"2026-06-01T10:00:00.5+05:30"),
        longest=512,
        runs=30_000,
    ),
    Target("completion", fuzz_completion, (COMPLETION, STREAM, b'{"error": "no"}'), refuses=(ValueError,), runs=60_000),
    Target(
        "model answer", fuzz_model_answer, (ANSWER, b"null", b"{}"), refuses=(PressboxError, ValueError), runs=10_000
    ),
    Target(
        "translation",
        fuzz_translation,
        (b"<p>One <a href='/x'>two</a> <code>three</code></p>\f<p>Eins <a1>zwei</a1> <x2/></p>",),
        words=(b"<x1/>", b"<g1>", b"</g1>", b"\f"),
        runs=5_000,
    ),
    Target(
        "cookies",
        fuzz_cookies,
        (b'[{"name":"auth_token","value":"v","domain":".x.com","path":"/","expires":1,"secure":true}]',),
        refuses=(ValueError, ValidationError, TypeError),
        runs=300_000,
    ),
    Target("clock", fuzz_clock, (b"75:12|+4|2:13", "９０+３’||".encode(), b"HT"), longest=128, runs=15_000),
    Target("fixture", fuzz_fixture, (FIXTURE,), refuses=(PressboxError, ValueError), runs=150_000),
    Target("side car", fuzz_side_car, (b'{"text":"goal","views":3}',), runs=60_000),
    Target(
        "calendar",
        fuzz_calendar,
        (CALENDAR,),
        words=CALENDAR_WORDS,
        recordings="providers/calendars",
        # A rule of repetition may take seconds to be found empty, so only so many of them.
        longest=2_048,
        runs=3_000,
    ),
    Target("video", fuzz_video, (), longest=8_192, runs=2_000),
)  # fmt: skip


def load_seeds(target: Target, most: int = 40) -> list[bytes]:
    """Our own seeds, and recordings of the provider where they are at hand."""
    seeds = list(target.seeds)
    if target.name == "video":
        seeds.append(small_video())
    folder = shared(target.recordings) if target.recordings else None
    if folder is not None:
        files = sorted(file for file in folder.rglob("*") if file.is_file() and file.stat().st_size <= target.longest)
        seeds += [file.read_bytes() for file in files[:most]]
    return seeds
