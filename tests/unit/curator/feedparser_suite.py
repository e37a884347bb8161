"""feedparser's own suite, as far as it concerns what we keep of a feed.

Each of its files is a feed whose first comment says what feedparser finds in it. What it finds and we keep is
compared: texts by their words and addresses, since both sanitise HTML in their own way, times by the moment, charsets
by the text that comes out.
"""

import ast
import codecs
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from pressbox.core.errors import PressboxError
from pressbox.curator.feeds.domain import FeedEntry, ParsedFeed
from pressbox.curator.feeds.parser import parse_feed
from pressbox.curator.text.charsets import decode

ARCHIVE = "feedparser_tests.tar.xz"
SITE = "http://127.0.0.1:8097/"
NOW = datetime(2026, 5, 4, tzinfo=UTC)
NOTHING = ParsedFeed("")
_COMMENT = re.compile(r"Expect:\s*(.*?)\s*(?:-->|\Z)", re.DOTALL)
_HEADER = re.compile(r"^\s*(?:Header:\s*)?(Content-[A-Za-z]+)\s*:\s*([^\n]+?)\s*$", re.MULTILINE)
_DECLARATION = re.compile(r"^\ufeff?\s*<\?xml[^>]*\?>")
_TAG = re.compile(r"<[^>]*>?")
_ADDRESS = re.compile(r"\b(?:href|src)\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
_NUMBER = re.compile(r"\[\d+\]")
# Not in the encoding standard: no browser reads them.
_NOT_ON_THE_WEB = (
    "utf-32",
    "utf_32",
    "utf-7",
    "cp037",
    "cp500",
    "cp1140",
    "ebcdic",
    "u32",
    "csucs4",
    "iso-10646-ucs-4",
)
_NOT_OURS = (
    (r"/cdf/", "a format of 1997 that nobody publishes any more"),
    (
        r"/sanitize/.*(embed|iframe|object)",
        "we put a link to a player in the place of the player, and feedparser nothing",
    ),
    (r"/namespace/.*(svg|mathml|xlink)", "our sanitiser keeps no drawings and formulas"),
    (r"/illformed/chardet/", "nothing declares the charset, and browsers do not guess from the words either"),
    (r"/base/http_entry_id_base", "an id is kept as it is written, so that it stays the same"),
    (r"/lang/http_content_language", "the server's Content-Language is that of its pages, seldom of the feed"),
    (r"/rss/entity_in_doctype", "entities that a document declares itself are not expanded: only attackers need them"),
)
_ALIASES = {
    "feed.title_detail.value": "feed.title",
    "feed.tagline": "feed.subtitle",
    "feed.description": "feed.subtitle",
    "feed.subtitle_detail.value": "feed.subtitle",
    "feed.tagline_detail.value": "feed.subtitle",
    "entries.title_detail.value": "entries.title",
    "entries.guid": "entries.id",
    "entries.description": "entries.summary",
    "entries.summary_detail.value": "entries.summary",
    "entries.content.value": "entries.content",
}


@dataclass(frozen=True)
class Expectation:
    """`key` is a path without numbers, `number` that of the entry, and `inner` that of a file inside."""

    key: str
    value: Any
    number: int = 0
    inner: int = 0


@dataclass(frozen=True)
class Case:
    name: str
    content: bytes
    headers: Mapping[str, str]
    expectations: tuple[Expectation, ...]

    @property
    def url(self) -> str:
        return urljoin(f"{SITE}{self.name}", self.headers.get("content-location", ""))

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "application/xml")


def load_cases(folder: Path) -> Iterator[Case]:
    with tarfile.open(folder / ARCHIVE) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield _read_case(member.name, file.read())


def _read_case(name: str, content: bytes) -> Case:
    text, found = "", None
    for charset in ("utf-8", "utf-16", "utf-32", "cp037", "utf-7", "latin-1"):
        try:
            text = content.decode(charset)
        except UnicodeError:
            continue
        found = _COMMENT.search(text)
        if found is not None:
            break
    headers = {key.lower(): value for key, value in _HEADER.findall(text[: found.start()] if found else "")}
    return Case(name, content, headers, tuple(_read_expectations(found.group(1))) if found else ())


def _read_expectations(text: str) -> Iterator[Expectation]:
    tree = ast.parse(" ".join(text.split("\n")).strip(), mode="eval").body
    both = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
    for part in tree.values if both and isinstance(tree, ast.BoolOp) else [tree]:
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq):
            path = ast.unparse(part.left).replace("['", ".").replace("']", "")
            numbers = [int(found[1:-1]) for found in _NUMBER.findall(path)] + [0, 0]
            key = _NUMBER.sub("", path)
            try:
                value = ast.literal_eval(part.comparators[0])
            except ValueError:
                continue
            yield Expectation(_ALIASES.get(key, key), value, numbers[0], numbers[1])


def reason_to_leave_out(case: Case) -> str:
    """Why a case does not concern us; empty when it does."""
    for pattern, reason in _NOT_OURS:
        if re.search(pattern, case.name):
            return reason
    if any(word in case.name.lower() for word in _NOT_ON_THE_WEB):
        return "a charset that no browser reads"
    if not case.expectations:
        return "it only asks whether feedparser finds the document well-formed"
    if not any(expected.key in KEPT for expected in case.expectations):
        return f"we keep no {case.expectations[-1].key}"
    return ""


def find_difference(case: Case) -> str:
    """What differs first from what feedparser finds; empty when nothing does."""
    if {expected.key for expected in case.expectations} == {"encoding"}:
        # Some of these have no content.
        return "" if all(_same_charset(case, NOTHING, expected) for expected in case.expectations) else "charset"
    try:
        feed = parse_feed(case.content, case.content_type, case.url, now=NOW)
    except PressboxError as error:
        return error.message
    for expected in case.expectations:
        compare = KEPT.get(expected.key)
        if compare is not None and not compare(case, feed, expected):
            return f"{expected.key} is not {expected.value!r}"
    return ""


def _same_words(found: str, expected: Any) -> bool:
    return _words(found) == _words(str(expected))


def _words(text: str) -> list[str]:
    plain = unescape(unescape(_TAG.sub(" ", unescape(text))))
    return re.findall(r"\w+|[^\w\s]", _TAG.sub(" ", plain))


def _same_body(found: str, expected: Any) -> bool:
    addresses = [address for address in _ADDRESS.findall(str(expected)) if address.startswith("http")]
    return _same_words(found, expected) and set(addresses) <= set(map(unescape, _ADDRESS.findall(found)))


def _entry(feed: ParsedFeed, expected: Expectation) -> FeedEntry:
    return feed.entries[expected.number] if expected.number < len(feed.entries) else FeedEntry("", "", "")


def _same_moment(found: datetime | None, expected: Any) -> bool:
    return found is not None and tuple(found.timetuple()[:6]) == tuple(expected[:6])


def _same_charset(case: Case, _: ParsedFeed, expected: Expectation) -> bool:
    try:
        charset = codecs.lookup(expected.value).name
    except LookupError:
        return False
    text = case.content.decode(charset, errors="replace")
    return decode(case.content, case.content_type).text.split() == _DECLARATION.sub("", text).split()


def _same_summary(_: Case, feed: ParsedFeed, expected: Expectation) -> bool:
    entry = _entry(feed, expected)
    return _same_body(entry.summary or entry.content, expected.value) or _same_body(entry.content, expected.value)


def _same_file(_: Case, feed: ParsedFeed, expected: Expectation) -> bool:
    files = _entry(feed, expected).enclosures
    if expected.inner >= len(files):
        return False
    file, name = files[expected.inner], expected.key.rpartition(".")[2]
    found = {"href": file.url, "url": file.url, "type": file.type, "length": str(file.length or "")}[name]
    return bool(found == expected.value)


KEPT: Mapping[str, Any] = {
    "feed.title": lambda case, feed, expected: _same_words(feed.title, expected.value),
    "feed.subtitle": lambda case, feed, expected: _same_words(feed.description, expected.value),
    "feed.link": lambda case, feed, expected: feed.site_url == expected.value,
    "feed.language": lambda case, feed, expected: feed.language == str(expected.value).lower(),
    "feed.image.href": lambda case, feed, expected: feed.icon_url == expected.value,
    "feed.icon": lambda case, feed, expected: feed.icon_url == expected.value,
    "entries.title": lambda case, feed, expected: _same_words(_entry(feed, expected).title, expected.value),
    "entries.link": lambda case, feed, expected: _entry(feed, expected).url == expected.value,
    "entries.id": lambda case, feed, expected: _entry(feed, expected).guid == expected.value,
    "entries.author": lambda case, feed, expected: (
        set(_words(_entry(feed, expected).author)) <= set(_words(expected.value))
    ),
    "entries.authors.name": lambda case, feed, expected: str(expected.value) in _entry(feed, expected).author,
    "entries.published_parsed": lambda case, feed, expected: _same_moment(
        _entry(feed, expected).published_at, expected.value
    ),
    "entries.updated_parsed": lambda case, feed, expected: _same_moment(
        _entry(feed, expected).updated_at, expected.value
    ),
    "entries.summary": _same_summary,
    "entries.content": lambda case, feed, expected: _same_body(_entry(feed, expected).content, expected.value),
    "entries.enclosures.href": _same_file,
    "entries.enclosures.url": _same_file,
    "entries.enclosures.type": _same_file,
    "entries.enclosures.length": _same_file,
    "encoding": _same_charset,
}
