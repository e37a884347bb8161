"""Parses feeds, well-formed or broken: XML, JSON Feed, and by feedparser what nothing else can read.

A well-formed document is parsed strictly, which is fast. A broken one is repaired and parsed again, and what was wrong
with it is kept as a problem for people to see; feedparser gets what cannot be repaired. See ADR 17.
"""

import html
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pressbox.core.errors import ConfigurationError, PermanentError, PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.processes.calls import Terms
from pressbox.core.processes.pool import ChildNotStartedError
from pressbox.curator.feeds.cleaning import clean_feed
from pressbox.curator.feeds.domain import NO_TEXT, ParsedFeed, RawEntry, RawFeed, RawFile, RawText
from pressbox.curator.feeds.xml_feed import MOST_ENTRIES, UNDECLARED, read_xml_feed
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.urls import absolute_url
from pressbox.curator.text.charsets import decode
from pressbox.curator.text.plain_text import make_storable

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element  # type: ignore[import-untyped]


def read_json_feed(text: str, url: str) -> RawFeed | None:
    """Return None when this is no JSON Feed."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    feed = _object(document)
    items = feed.get("items")
    if not isinstance(items, list) or not ("jsonfeed.org" in _json_text(feed, "version") or "title" in feed):
        return None
    author = _authors(feed)
    return RawFeed(
        title=RawText(_json_text(feed, "title"), html=False),
        site_url=absolute_url(_json_text(feed, "home_page_url"), url),
        description=RawText(_json_text(feed, "description"), html=False),
        language=_json_text(feed, "language"),
        icon_url=absolute_url(_json_text(feed, "icon") or _json_text(feed, "favicon"), url),
        entries=tuple(_item(_object(item), url, author) for item in items[:MOST_ENTRIES]),
    )


def _item(item: Mapping[str, object], url: str, feed_author: str) -> RawEntry:
    html, plain = _json_text(item, "content_html"), _json_text(item, "content_text")
    content = RawText(html) if html else RawText(plain, html=False)
    summary = RawText(_json_text(item, "summary"), html=False)
    image = _json_text(item, "image") or _json_text(item, "banner_image")
    return RawEntry(
        guid=_json_text(item, "id"),
        url=absolute_url(_json_text(item, "url") or _json_text(item, "external_url"), url),
        title=RawText(_json_text(item, "title"), html=False),
        author=_authors(item) or feed_author,
        published=_json_text(item, "date_published"),
        updated=_json_text(item, "date_modified"),
        content=content if content.value else summary,
        summary=summary if content.value else NO_TEXT,
        language=_json_text(item, "language"),
        thumbnail_url=absolute_url(image, url),
        files=tuple(_json_file(_object(file), url) for file in _list(item.get("attachments"))),
    )


def _json_file(file: Mapping[str, object], url: str) -> RawFile:
    return RawFile(
        absolute_url(_json_text(file, "url"), url), _json_text(file, "mime_type"), _json_text(file, "size_in_bytes")
    )


def _authors(holder: Mapping[str, object]) -> str:
    people = [_object(person) for person in (*_list(holder.get("authors")), holder.get("author"))]
    return ", ".join(dict.fromkeys(name for person in people if (name := _json_text(person, "name"))))


def _json_text(holder: Mapping[str, object], name: str) -> str:
    value = holder.get(name)
    # In some feeds ids are numbers. Booleans are never a text.
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


log = get_logger(__name__)

# It reads the worst documents at a fifth of a megabyte per second, so it gets no more than this.
MOST_CHARACTERS = 500_000


def read_malformed_feed(text: str, url: str) -> RawFeed | None:
    """Return None when it is not even the beginning of a feed."""
    # Imported here: it is slow to load and hardly ever needed.
    import feedparser  # type: ignore[import-untyped]

    # Given as a file, because feedparser would open what looks like an address or a path.
    source = io.BytesIO(text[:MOST_CHARACTERS].encode())
    headers = {"content-location": url, "content-type": "application/xml; charset=utf-8"}
    try:
        found = feedparser.parse(source, response_headers=headers, resolve_relative_uris=False, sanitize_html=False)
    # It means never to raise, and does so for some documents, with whatever its own code stumbles over.
    except Exception:
        log.warning("feedparser_failed", msg="A damaged feed broke feedparser", exc_info=True)
        return None
    feed = found.feed
    if not found.entries and not feed.get("title"):
        return None
    return RawFeed(
        title=_found_text(feed, "title"),
        site_url=absolute_url(_string(feed, "link"), url),
        description=_found_text(feed, "subtitle"),
        language=_string(feed, "language"),
        icon_url=absolute_url(_string(feed, "icon") or _string(feed.get("image") or {}, "href"), url),
        entries=tuple(_entry(entry, url) for entry in found.entries[:MOST_ENTRIES]),
        problems=("It is too long to be repaired; its beginning was read.",) if len(text) > MOST_CHARACTERS else (),
    )


def _entry(entry: Mapping[str, Any], url: str) -> RawEntry:
    long = _content(entry.get("content") or ())
    short = _found_text(entry, "summary")
    pictures: Sequence[Mapping[str, Any]] = entry.get("media_thumbnail") or ()
    return RawEntry(
        guid=_string(entry, "id"),
        url=absolute_url(_string(entry, "link"), url),
        title=_found_text(entry, "title"),
        author=_string(entry, "author"),
        published=_string(entry, "published"),
        # For a missing `updated` feedparser returns the date of publication, with a warning.
        updated=_string(entry, "updated") if "updated" in entry else "",
        content=long if long.value else short,
        summary=short if long.value and long != short else NO_TEXT,
        language=_string(entry, "language"),
        thumbnail_url=absolute_url(_string(pictures[0], "url"), url) if pictures else "",
        files=tuple(_found_file(file, url) for file in entry.get("enclosures") or ()),
    )


def _content(contents: Sequence[Mapping[str, Any]]) -> RawText:
    return max((_typed(content) for content in contents), key=lambda text: len(text.value), default=NO_TEXT)


def _found_text(holder: Mapping[str, Any], name: str) -> RawText:
    return _typed(holder.get(f"{name}_detail") or {"value": _string(holder, name)})


def _typed(detail: Mapping[str, Any]) -> RawText:
    return RawText(_string(detail, "value"), html=detail.get("type") != "text/plain", base=_string(detail, "base"))


def _found_file(file: Mapping[str, Any], url: str) -> RawFile:
    return RawFile(absolute_url(_string(file, "href"), url), _string(file, "type"), _string(file, "length"))


def _string(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    return value.strip() if isinstance(value, str) else ""


V = TypeVar("V")

# Feeds wait for each other, and not the articles and previews that use the same pool.
OWNER = "feeds"
# No pattern looks further than the next bracket, so that a hostile document cannot make it start over and over.
_ROOT = re.compile(r"<(?:\w{1,20}:)?(?:rss|feed|rdf|channel)\b", re.IGNORECASE)
_PAGE = re.compile(r"<!doctype\s+html|<html\b|<head\b|<body\b", re.IGNORECASE)
_LOGIN = re.compile(r"<input\b[^<>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_NAMED_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_NUMBERED_ENTITY = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_LOOSE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_USED_PREFIX = re.compile(r"</?([A-Za-z_][\w.-]{0,30}):[A-Za-z_]")
_DECLARED_PREFIX = re.compile(r"\bxmlns:([\w.-]{1,31})\s*=")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# At most a style sheet, a licence or the warnings of a server stand before the root.
_PREAMBLE = 100_000


class NotAFeedError(PermanentError):
    code = "not_a_feed"
    status = 422


class LoginPageError(NotAFeedError):
    code = "login_page"


class FeedParser:
    """Parses feeds in the child processes of the parser pool: what one of them breaks or takes is not ours."""

    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def parse(
        self, content: bytes, content_type: str, url: str, limit: int | None = None, *, owner: str = OWNER
    ) -> ParsedFeed:
        """Parse a feed, or raise NotAFeedError. That no parser runs is our own fault and raised as it is."""
        try:
            return await self._parsers.run_by(
                Terms(owner=owner), parse_feed, content, content_type, url, now=datetime.now(UTC), limit=limit
            )
        except (NotAFeedError, ChildNotStartedError, ConfigurationError):
            raise
        except PressboxError as error:
            log.warning("feed_unreadable", msg=f"A feed broke the parser: {error.message}")
            raise NotAFeedError(f"The feed could not be read. {error.message}") from error


def parse_feed(
    content: bytes, content_type: str, url: str, *, now: datetime | None = None, limit: int | None = None
) -> ParsedFeed:
    """Parse any feed; NotAFeedError says what was found instead. Relative addresses are resolved against `url`.

    Takes some milliseconds of CPU time: not for the event loop.
    """
    decoded = decode(content, content_type)
    raw = _read_raw(decoded.text, url)
    if raw is None:
        raise _not_a_feed(decoded.text)
    if decoded.problem:
        raw = replace(raw, problems=(decoded.problem, *raw.problems))
    return _make_storable(clean_feed(raw, url, now or datetime.now(UTC), limit))


def _make_storable(value: V) -> V:
    """Clean every text inside of what neither a message nor the database can carry: NUL and halves of characters."""
    if isinstance(value, str):
        return cast(V, make_storable(value))
    if isinstance(value, tuple):
        return cast(V, tuple(_make_storable(one) for one in value))
    if is_dataclass(value) and not isinstance(value, type):
        before = {field.name: getattr(value, field.name) for field in fields(value)}
        after = {name: _make_storable(one) for name, one in before.items()}
        return cast(V, replace(value, **after)) if after != before else value
    return value


def _read_raw(text: str, url: str) -> RawFeed | None:
    if text.startswith(("{", "[")):
        return read_json_feed(text, url)
    root = _ROOT.search(text, 0, _PREAMBLE)
    # A web page may name feeds in its scripts.
    if root is None or _PAGE.search(text, 0, root.start()):
        return None
    # What stands before the root is dropped, and with it the document's own entities, which only attackers need.
    document = text[root.start() :]
    tree, problem = _parse_xml(document, url)
    raw = read_malformed_feed(document, url) if tree is None else read_xml_feed(tree, url)
    if raw is None or not problem:
        return raw
    return replace(raw, problems=(problem, *raw.problems))


def _parse_xml(document: str, url: str) -> "tuple[_Element | None, str]":
    # Imported here, because most crawls find nothing new to parse.
    from lxml import etree  # type: ignore[import-untyped]

    try:
        return etree.fromstring(document.encode(errors="replace"), _parser(), base_url=url), ""
    except etree.XMLSyntaxError as error:
        problem = f"The XML is broken at line {error.position[0]}; it was repaired and read."
    try:
        return etree.fromstring(repair_xml(document).encode(), _parser(), base_url=url), problem
    except etree.XMLSyntaxError:
        return None, problem


def _parser() -> "XMLParser":
    from lxml import etree

    return etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )


def repair_xml(document: str) -> str:
    """Remove control characters, loose ampersands, HTML's entities and undeclared prefixes."""
    clean = _NOT_IN_XML.sub("", document)
    pieces: list[str] = []
    place = 0
    while place < len(clean):
        start = clean.find(_CDATA, place)
        end = clean.find(_CDATA_END, start) if start >= 0 else -1
        if end < 0:
            pieces.append(_replace_entities(clean[place:]))
            break
        # Inside a CDATA section an ampersand is just that.
        pieces += (_replace_entities(clean[place:start]), clean[start : end + len(_CDATA_END)])
        place = end + len(_CDATA_END)
    return _declare_prefixes("".join(pieces))


def _replace_entities(text: str) -> str:
    numbered = _NUMBERED_ENTITY.sub(_drop_unusable, text)
    return _LOOSE_AMPERSAND.sub("&amp;", _NAMED_ENTITY.sub(_to_character, numbered))


def _drop_unusable(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    return "" if code > sys.maxunicode or _NOT_IN_XML.match(chr(code)) else found.group()


def _to_character(found: re.Match[str]) -> str:
    return found.group() if found.group(1) in _XML_ENTITIES else html.unescape(found.group())


def _declare_prefixes(text: str) -> str:
    missing = set(_USED_PREFIX.findall(text)) - set(_DECLARED_PREFIX.findall(text)) - {"xml"}
    name = _ROOT.match(text)
    if not missing or name is None:
        return text
    declared = "".join(f' xmlns:{prefix}="{UNDECLARED}{prefix}"' for prefix in sorted(missing))
    return text[: name.end()] + declared + text[name.end() :]


def _not_a_feed(text: str) -> NotAFeedError:
    if not text.strip():
        return NotAFeedError("The answer is empty.")
    if _LOGIN.search(text):
        return LoginPageError(
            "The address answers with a page to sign in. Use the feed's public address, if it has one."
        )
    if _PAGE.search(text[:5_000]):
        return NotAFeedError(
            "The address answers with a web page and not with a feed. Add the site again to look for its feed."
        )
    return NotAFeedError("The answer is neither RSS nor Atom nor JSON Feed.")
